"""Who may judge on a cluster, who may ask, and that what runs there is what runs here."""

from __future__ import annotations

import pickle
import pickletools
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.cluster import remote
from judge_tui.checks.cluster.connection import Address
from judge_tui.checks.cluster.executor import Cluster
from judge_tui.checks.cluster.facts import Facts, facts, read_facts, refusal
from judge_tui.checks.errors import EngineError, UsageError
from judge_tui.checks.events import Finished, Ready, Started
from judge_tui.checks.jobs.job import stamp
from judge_tui.checks.request import Request, RequestedSubmission
from judge_tui.checks.runner import run
from judge_tui.checks.store import Store
from judge_tui.checks.verdict import Outcome, Verdict

from .conftest import Start

pytestmark = [
    pytest.mark.xdist_group("cluster"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

GUIDE = Path(__file__).parents[3] / "docs/examples/challenges/rms_norm"
MINE = read_facts(facts())


def other(**told: object) -> Facts:
    return msgspec.structs.replace(MINE, **told)


def engine(**told: str) -> Facts:
    known = msgspec.structs.replace(MINE.stamp.engine, **told)
    return other(stamp=msgspec.structs.replace(MINE.stamp, engine=known))


@pytest.mark.parametrize(
    ("theirs", "why"),
    [
        (MINE, ""),
        (engine(numpy="1.0"), "it judges with NumPy 1.0 in place of"),
        (engine(python="3.2"), "it judges with Python 3.2 in place of"),
        (engine(sources="sha256:0"), "it judges with another version of judge-tui's checks"),
        (
            other(stamp=msgspec.structs.replace(MINE.stamp, tool="9.9")),
            "it judges with judge-tui 9.9 in place",
        ),
        (other(level="partial", notes=("no x",)), r"its sandbox is partial (no x), and --trust was not said"),
        (other(level="none", notes=()), "its sandbox is none, and --trust was not said"),
    ],
)
def test_who_judges_otherwise_is_told_in_a_clause(theirs: Facts, why: str) -> None:
    mine = msgspec.structs.replace(theirs, level="full") if not why else theirs
    assert refusal(mine, stamp(), trust=False).startswith(why)
    assert bool(refusal(mine, stamp(), trust=False)) == bool(why)
    assert bool(refusal(mine, stamp(), trust=True)) == (bool(why) and "sandbox" not in why)


def test_a_function_goes_by_its_import_path_and_all_else_as_bytes() -> None:
    names = [
        told for code, told, _ in pickletools.genops(pickle.dumps(remote.judged)) if code.name != "PROTO"
    ]
    assert [name for name in names if isinstance(name, str)] == [remote.__name__, "judged"]
    assert set(remote.judged.__annotations__.values()) == {"bytes", "None"}


def test_workers_that_may_not_judge_are_refused_in_a_sentence_each(machines: Start) -> None:
    told: list[str] = []
    two = machines(2, "--version", "9.9", "--level", "partial").address
    with pytest.raises(EngineError, match="no worker that may judge: 2 refused"):
        Cluster(Address(two), warn=told.append)
    assert sorted(each.partition("judges nothing: ")[2].partition(" in place")[0] for each in told) == [
        "it judges with judge-tui 9.9",
        "its sandbox is partial (not all holds), and --trust was not said.",
    ]
    # one that is trusted does judge
    with Cluster(Address(two), trust=True) as cluster:
        assert [one.level for one in cluster.members.admitted.values()] == ["partial"]


@pytest.fixture
def request_of(tmp_path: Path) -> Callable[..., Request]:
    """A request about answers with these texts."""

    def make(*texts: str, checks: tuple[str, ...] = ("loads",)) -> Request:
        asked = []
        for number, text in enumerate(texts):
            folder = tmp_path / "submissions" / f"m{number}" / "backwards"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "norm.py").write_text(text)
            asked.append(RequestedSubmission(f"m{number}", str(folder)))
        return Request("backwards", tuple(asked), checks, seed=5)

    return make


def bare(outcome: Outcome) -> Outcome:
    return msgspec.structs.replace(outcome, seconds=0.0, host="")


def test_on_one_cluster_one_thing_after_another(
    machines: Start, request_of: Callable[..., Request], tmp_path: Path
) -> None:
    """One cluster, since to start one takes longer than all else here."""
    with Cluster(Address(machines(1, JUDGE_TUI_HOST="far").address)) as cluster:
        # every outcome says where it comes from, and the setting too
        asked = request_of("x = 1\n")
        events = list(run(asked, executor=cluster, store=Store(tmp_path / "a")))
        (ready,) = (event for event in events if isinstance(event, Ready))
        assert ready.device.endswith("on far")
        (outcome,) = (event.outcome for event in events if isinstance(event, Finished))
        assert (outcome.verdict, outcome.host) == (Verdict.PASS, "far")

        # a run that nobody waits for any more leaves the worker free
        endless = request_of("import time\ntime.sleep(600)\n")
        for event in (events := run(endless, executor=cluster, store=Store(tmp_path / "b"))):  # type: ignore[assignment]
            if isinstance(event, Started):
                events.close()  # type: ignore[attr-defined]
        again = list(run(request_of("x = 2\n"), executor=cluster, store=Store(tmp_path / "c")))
        assert [e.outcome.verdict for e in again if isinstance(e, Finished)] == [Verdict.PASS]

        # a challenge of the user's own goes along
        folder = tmp_path / "answers" / "einsum"
        shutil.copytree(GUIDE / "right" / "einsum", folder)
        own = Request(
            "rms_norm", (RequestedSubmission("einsum", str(folder)),), ("accuracy",), seed=5,
            challenge=Challenge("rms_norm", str(GUIDE)),
        )  # fmt: skip
        there = [
            e.outcome
            for e in run(own, executor=cluster, store=Store(tmp_path / "d"))
            if isinstance(e, Finished)
        ]
        here = [e.outcome for e in run(own, store=Store(tmp_path / "e")) if isinstance(e, Finished)]
        assert list(map(bare, there)) == list(map(bare, here))
        assert there[0].verdict is Verdict.PASS

        # what cannot be sent says why, as it does here
        unread = request_of("x = 3\n")
        folder = Path(unread.submissions[0].path)
        for number in range(2001):
            (folder / f"{number}.txt").touch()
        told = [
            e.outcome
            for e in run(unread, executor=cluster, store=Store(tmp_path / "f"))
            if isinstance(e, Finished)
        ]
        assert "more than 2000 files" in told[0].summary


def test_with_tls_nobody_is_let_in_without_a_certificate(machines: Start, tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")

    def certified(name: str) -> tuple[Path, Path]:
        cert, key = tmp_path / f"{name}.pem", tmp_path / f"{name}-key.pem"
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        command += ["-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", str(key), "-out", str(cert)]
        subprocess.run(command, check=True, capture_output=True)
        return cert, key

    cert, key = certified("ours")
    strange, strange_key = certified("strange")
    secured = machines(1, "--ca", str(cert), "--cert", str(cert), "--key", str(key))
    assert secured.address.startswith("tls://")
    with Cluster(Address(secured.address, cert, cert, key)) as cluster:
        assert len(cluster.members.admitted) == 1
    refused: list[str] = []

    def ask(address: Address) -> None:
        try:
            Cluster(address)
        except UsageError as error:
            refused.append(str(error))

    # each waits until it gives up, so they wait together
    attempts = [
        Address(secured.address),
        Address(secured.address, cert, strange, strange_key),
        Address(secured.address, strange, cert, key),
        Address(secured.address.replace("tls://", "tcp://")),
    ]
    asking = [threading.Thread(target=ask, args=(each,)) for each in attempts]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert len(refused) == len(attempts), refused
    assert all("cannot be reached" in told and "\n" not in told for told in refused)
    with pytest.raises(UsageError, match="three files"):
        Cluster(Address(secured.address, cert))
