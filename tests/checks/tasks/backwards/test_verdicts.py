"""Every check catches its mutants and passes every twin."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.backwards import TASK
from judge_tui.checks.tasks.backwards.contract import CONTRACT
from judge_tui.checks.verdict import Outcome, Verdict

HERE = Path(__file__).parent
MUTANTS = sorted((HERE / "mutants").glob("*.py"))
TWINS = sorted((HERE / "twins").glob("*.py"))
#: Checks of this task; the generic ones have tests of their own.
OWN = (
    "forward_accuracy",
    "gradients",
    "gradient_identities",
    "cache_minimality",
    "cancellation",
    "degenerate",
    "gradient_cost",
)
#: Not run on code that loops over elements in Python: its size alone makes it slow.
SLOW = {"nested_lists": ("gradient_cost",), "row_loops": ("gradient_cost",)}


def stated(file: Path, what: str) -> tuple[str, ...]:
    """Checks that a header line ``# caught by: …`` names."""
    found = re.search(rf"^# {what}: (.+)$", file.read_text(), re.M)
    return tuple(name.strip().split()[0] for name in found[1].split(",")) if found else ()


def judged(file: Path, checks: tuple[str, ...], folder: Path, seed: int = 20251) -> dict[str, Outcome]:
    """Outcomes of one file as the submission of some model."""
    submitted = folder / "somebody" / "backwards"
    submitted.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, submitted / file.name)
    return judge(TASK, Submission.at(submitted), seed=seed, checks=checks)


@pytest.mark.parametrize("file", MUTANTS, ids=lambda file: file.stem)
def test_a_mutant_gets_the_verdict_that_it_earns(file: Path, tmp_path: Path) -> None:
    fails, warns = stated(file, "caught by"), stated(file, "warned by")
    assert fails or warns, "a mutant names the checks that catch it"
    outcomes = judged(file, fails + warns, tmp_path)
    expected = {**dict.fromkeys(fails, Verdict.FAIL), **dict.fromkeys(warns, Verdict.WARN)}
    assert {check: outcome.verdict for check, outcome in outcomes.items()} == expected, outcomes
    for outcome in outcomes.values():
        assert outcome.location is not None, f"{outcome.check} points at no line"
        assert outcome.location[0] == file.name


@pytest.mark.parametrize("file", TWINS, ids=lambda file: file.stem)
def test_right_code_in_unusual_style_passes(file: Path, tmp_path: Path) -> None:
    skipped = stated(file, "skips")
    outcomes = judged(file, tuple(check for check in OWN if check not in SLOW.get(file.stem, ())), tmp_path)
    wrong = {
        check: outcome.summary
        for check, outcome in outcomes.items()
        if outcome.verdict is not (Verdict.SKIP if check in skipped else Verdict.PASS)
    }
    assert not wrong


def test_every_check_has_mutants_in_several_spellings_and_twins() -> None:
    caught = Counter(
        name for file in MUTANTS for name in (*stated(file, "caught by"), *stated(file, "warned by"))
    )
    skipped = Counter(name for file in TWINS for name in (*stated(file, "skips"), *SLOW.get(file.stem, ())))
    assert all(caught[check] >= 4 for check in OWN), caught
    assert all(len(TWINS) - skipped[check] >= 3 for check in OWN)
    assert set(OWN) <= set(TASK.by_id)


def test_no_check_of_this_task_knows_a_model() -> None:
    source = Path(CONTRACT.sample.__code__.co_filename).parent
    text = "".join(file.read_text().lower() for file in source.glob("*.py"))
    assert not re.search(r"glm|qwen|minimax|kimi", text)


@pytest.mark.parametrize(
    ("model", "count", "verdict", "dead"),
    [
        ("glm5", 3, Verdict.PASS, set()),
        ("qwen36", 4, Verdict.WARN, set()),
        (
            "minimax-m2.7",
            12,
            Verdict.FAIL,
            {"x", "x_centered", "mean", "var", "beta", "eps", "B", "T", "D"},
        ),
    ],
)
def test_the_entries_of_a_cache_are_counted_and_named(
    model: str, count: int, verdict: Verdict, dead: set[str]
) -> None:
    path = Path(__file__).parents[4] / "submissions" / model / "backwards"
    outcome = judge(TASK, Submission.at(path), seed=3, checks=["cache_minimality"])["cache_minimality"]
    entries = outcome.evidence[0]
    assert (entries.measured, outcome.verdict) == (count, verdict)
    assert {row[0] for row in entries.table[1:] if row[5] == "no"} == dead


@pytest.mark.parametrize("model", ["glm5", "qwen36", "minimax-m2.7"])
def test_the_submissions_of_the_repository_have_right_gradients(model: str) -> None:
    path = Path(__file__).parents[4] / "submissions" / model / "backwards"
    checks = tuple(check for check in OWN if check not in ("cache_minimality", "gradient_cost"))
    outcomes = judge(TASK, Submission.at(path), seed=3, checks=checks)
    assert {outcome.verdict for outcome in outcomes.values()} == {Verdict.PASS}
