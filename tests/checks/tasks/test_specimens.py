"""Every mutant is caught by the checks that it names; every twin passes them all.

``make verdicts`` and the tier ``all`` hold every check against every specimen. Else a part of the specimens
is held, and those with which each check is seen at work: a mutant against all checks that have to catch it,
and what right code shows in the other checks against a part of them, always the same. The tier ``quick`` sees
each check at work once on a mutant and once on a twin.
"""

from __future__ import annotations

import json
import os
import zlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from judge_tui.checks.generic import GENERIC
from judge_tui.checks.one_check import TRACEBACK
from judge_tui.checks.specimens import Specimen, judged, unexpected
from judge_tui.checks.task import load_task, task_names
from judge_tui.checks.verdict import Outcome, Verdict

from ... import tiers
from .. import goldens

SEED = 20_251
#: Of the checks in which a specimen shows nothing wrong, every how many-th it is held against.
PART = 8
#: Pure Python that takes half a minute for one check, of which others say the same.
AT_LENGTH = {
    ("flash_attention_bwd/mutants/one_key_late", "gradients"),
    ("flash_attention_bwd/twins/nested_lists", "gradients"),
    ("ternary_training/twins/nested_lists", "projection"),
}
#: Of these every failure can be located, and must be.
LOCATED = {"backwards", "flash_attention", "flash_attention_bwd", "ternary_training"}
#: Checks that tell a figure and fail only what gives no answer at all.
REPORTS = {"kv_passes", "resources"}
#: Where there is none they are skipped, on right and on wrong submissions.
NEEDS_GPU = {"global_passes"}


def held(specimen_id: str, specimen: Specimen, *, whole: bool) -> list[str]:
    """The checks that a specimen is held against: all that it says something of, or a part."""
    if whole:
        return list(specimen.expected)
    short = [check for check in specimen.expected if (specimen_id, check) not in AT_LENGTH]
    right = {Verdict.PASS, Verdict.SKIP}
    return [
        check
        for check in short
        if not specimen.expected[check] <= right or zlib.crc32(f"{specimen_id} {check}".encode()) % PART == 0
    ] or short[:1]


def by_tier(specimen_id: str, specimen: Specimen, config: pytest.Config) -> list[str]:
    """The checks that a specimen is held against in this run."""
    everything = whole(config)
    if tiers.of(config) == "quick" and not everything:
        return _conftest(config).chosen()[specimen_id]
    return held(specimen_id, specimen, whole=everything)


def whole(config: pytest.Config) -> bool:
    """Whether every check is held against every specimen."""
    return bool(os.environ.get(tiers.WHOLE)) or tiers.of(config) == "all"


@pytest.fixture(scope="session")
def every(request: pytest.FixtureRequest) -> dict[str, Specimen]:
    return _conftest(request.config).all_specimens()


def _conftest(config: pytest.Config) -> Any:
    """The module beside this one, which pytest has under a name of its own."""
    return next(p for p in config.pluginmanager.get_plugins() if hasattr(p, "all_specimens"))


def told(outcome: Outcome) -> str:
    return f"{outcome.check}: {outcome.verdict}: {outcome.summary}\n" + "\n".join(
        f"  {e.quantity}: {e.measured} ({e.limit}) {e.note} {e.output[-500:]}"
        for e in outcome.evidence
        if e.ok is False
    )


def test_specimen(
    specimen_id: str,
    every: dict[str, Specimen],
    record_property: Callable[[str, object], None],
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    specimen, task = every[specimen_id], specimen_id.split("/", maxsplit=1)[0]
    checks = by_tier(specimen_id, specimen, request.config)
    with goldens.searches(monkeypatch) as search:
        outcomes = judged(specimen, load_task(task), seed=SEED, checks=checks)
    verdicts = {check: outcome.verdict for check, outcome in outcomes.items()}
    seconds = {check: round(outcome.seconds, 2) for check, outcome in outcomes.items()}
    record_property("specimen", json.dumps({"id": specimen_id, "verdicts": verdicts, "seconds": seconds}))
    wrong = unexpected(specimen, verdicts)
    assert not wrong, "\n".join(told(outcomes[check]) for check in wrong)
    for outcome in outcomes.values():
        assert outcome.summary
        assert not any(item.quantity == TRACEBACK for item in outcome.evidence), told(outcome)
        if outcome.verdict is Verdict.FAIL:
            assert any(item.ok is False for item in outcome.evidence), told(outcome)
            assert task not in LOCATED or outcome.location is not None, f"{outcome.check} points at no line"
    goldens.held(search, task, specimen_id.partition("/")[2], record_property, whole=whole(request.config))


@pytest.mark.parametrize("seed", [1])
def test_another_seed_gives_no_other_verdict(specimen_id: str, every: dict[str, Specimen], seed: int) -> None:
    """A part of what the tier ``all`` and ``benchmarks/seeds.py`` run over all of them."""
    specimen, task = every[specimen_id], specimen_id.split("/", maxsplit=1)[0]
    outcomes = judged(specimen, load_task(task), seed=seed)
    wrong = unexpected(specimen, {check: outcome.verdict for check, outcome in outcomes.items()})
    assert not wrong, "\n".join(told(outcomes[check]) for check in wrong)


@pytest.mark.campaign
@pytest.mark.parametrize("other_seed", [2, 3])
def test_no_specimen_gets_another_verdict_under_another_seed(
    specimen_id: str, every: dict[str, Specimen], other_seed: int
) -> None:
    test_another_seed_gives_no_other_verdict(specimen_id, every, other_seed)


@pytest.mark.parametrize("task", task_names())
def test_every_check_has_mutants_in_several_spellings_and_twins(
    task: str, every: dict[str, Specimen]
) -> None:
    own = [name for name in every if name.startswith(f"{task}/")]
    assert sum("/mutants/" in name for name in own) >= 8
    assert sum("/twins/" in name for name in own) >= 5
    caught, passed = Counter[str](), Counter[str]()
    for name in own:
        for check, verdicts in every[name].expected.items():
            caught[check] += every[name].wrong and bool(verdicts & {Verdict.FAIL, Verdict.WARN})
            passed[check] += not every[name].wrong and Verdict.PASS in verdicts
    for check in load_task(task).checks:
        if check.id not in NEEDS_GPU | {each.id for each in GENERIC}:
            assert caught[check.id] >= (1 if check.id in REPORTS else 4), check.id
            assert passed[check.id] >= 3, check.id


def test_there_are_specimens_enough_to_speak_of_per_cent(every: dict[str, Specimen]) -> None:
    assert sum(specimen.wrong for specimen in every.values()) >= 60
    assert sum(not specimen.wrong for specimen in every.values()) >= 35
