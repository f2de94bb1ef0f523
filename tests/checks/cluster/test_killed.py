"""Whatever dies on the way, what is found is what one machine finds alone, and nothing is found twice."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from judge_tui.checks.cluster.connection import Address
from judge_tui.checks.cluster.executor import Cluster
from judge_tui.checks.errors import EngineError
from judge_tui.checks.events import Event, Finished, Started
from judge_tui.checks.request import Request, RequestedSubmission
from judge_tui.checks.runner import run
from judge_tui.checks.store import Store
from judge_tui.checks.verdict import Outcome

from .conftest import Start

pytestmark = [
    pytest.mark.xdist_group("cluster"),
    # a client that loses its scheduler drops what it was at
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

FORWARD = "def layer_norm_forward(x, gamma, beta):\n    return x\n"
#: What its first check is told only some time after the others.
BROKEN = "raise ValueError('broken')\n"


@pytest.fixture
def asked(tmp_path: Path) -> Request:
    """Six answers, of which one is wrong, and three checks of each."""
    submissions = []
    for number in range(6):
        folder = tmp_path / "submissions" / f"m{number}" / "backwards"
        folder.mkdir(parents=True)
        (folder / "norm.py").write_text(f"# {number}\n" + (BROKEN if number == 3 else FORWARD))
        submissions.append(RequestedSubmission(f"m{number}", str(folder)))
    return Request("backwards", tuple(submissions), ("size", "loads"), seed=5, jobs=2)


def found(events: list[Event]) -> dict[tuple[str, str], Outcome]:
    """Model, check → outcome, but for what hangs on when and where it was found."""
    told = [event.outcome for event in events if isinstance(event, Finished)]
    assert max(Counter((each.model, each.check) for each in told).values()) == 1
    return {(each.model, each.check): msgspec.structs.replace(each, seconds=0.0, host="") for each in told}


def test_two_of_four_workers_are_killed_and_the_outcomes_are_those_of_one_machine(
    machines: Start, asked: Request, tmp_path: Path
) -> None:
    four, events, alive, told = machines(4), [], 4, list[str]()
    store = Store(tmp_path / "elsewhere")
    with Cluster(Address(four.address), warn=told.append) as cluster:
        for event in run(asked, executor=cluster, store=store):
            events.append(event)
            if alive > 2 and isinstance(event, Finished):
                alive -= 1
                four.kill(four.workers[alive])
        # the scheduler hears of a dead worker by itself
        until = time.monotonic() + 30
        while len(cluster.members.admitted) > 3 and time.monotonic() < until:
            cluster.members.look()
        assert len(cluster.members.admitted) <= 3
    assert alive == 2
    assert sum("is gone: what it was at goes to others." in one for one in told) == len(told) >= 1
    alone = list(run(asked, store=Store(tmp_path / "here")))
    assert found(events) == found(alone)
    assert len(found(events)) == 12
    # what was found is kept: the same command runs nothing
    again = list(run(asked, store=store))
    assert not [event for event in again if isinstance(event, Started)]
    assert found(again) == found(alone)


def test_a_lost_scheduler_costs_what_was_not_finished(
    machines: Start, asked: Request, tmp_path: Path
) -> None:
    two, first = machines(2), list[Event]()
    store = Store(tmp_path / "kept")

    def judge(cluster: Cluster) -> None:
        for event in run(asked, executor=cluster, store=store):
            first.append(event)
            if isinstance(event, Finished):
                two.kill(two.scheduler)

    with Cluster(Address(two.address)) as cluster, pytest.raises(EngineError, match="is gone"):
        judge(cluster)
    done = found(first).keys()
    assert 1 <= len(done) < 12
    second = list(run(asked, store=store))
    assert {
        (e.outcome.model, e.outcome.check) for e in second if isinstance(e, Finished) and e.cached
    } >= done
    assert len(found(second)) == 12
