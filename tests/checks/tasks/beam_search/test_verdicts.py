"""Every mutant is caught by the checks that it names; every twin passes them all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.beam_search import TASK
from judge_tui.checks.verdict import Outcome, Verdict

HERE = Path(__file__).parent
MUTANTS = sorted((HERE / "mutants").glob("*.py"))
TWINS = sorted((HERE / "twins").glob("*.py"))
CHECKS = (
    "eos_retention", "length_penalty", "greedy_equivalence", "batch_independence", "exhaustive_optimum",
    "edge_cases",
)  # fmt: skip


def header(file: Path, key: str) -> dict[str, str]:
    """``check (remark)`` pairs of a header line."""
    match = re.search(rf"^# {key}: (.*)$", file.read_text(), re.M)
    items = re.findall(r"(\w+)(?: \(([^)]*)\))?", match[1]) if match else []
    return dict(items)


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory: pytest.TempPathFactory):
    root = tmp_path_factory.mktemp("beam_search")

    @cache
    def of(file: Path) -> Mapping[str, Outcome]:
        folder = root / file.stem / "beam_search"
        folder.mkdir(parents=True)
        (folder / f"{file.stem}.py").write_bytes(file.read_bytes())
        submission = Submission.at(folder, model=file.stem, task="beam_search")
        wanted = tuple(header(file, "caught by")) or (*CHECKS, "purity")
        return judge(TASK, submission, seed=7, checks=wanted)

    return of


def told(outcome: Outcome) -> str:
    return f"{outcome.check}: {outcome.verdict}: {outcome.summary}\n" + "\n".join(
        f"  {e.quantity}: {e.measured} ({e.limit}) {e.note} {e.output[-500:]}" for e in outcome.evidence
    )


@pytest.mark.parametrize("file", MUTANTS, ids=lambda f: f.stem)
def test_a_mutant_is_caught_by_the_checks_it_names(file: Path, outcomes) -> None:
    for check, remark in header(file, "caught by").items():
        outcome = outcomes(file)[check]
        expected = Verdict.WARN if remark == "warn" else Verdict.FAIL
        assert outcome.verdict is expected, told(outcome)


@pytest.mark.parametrize("file", TWINS, ids=lambda f: f.stem)
def test_a_right_search_in_another_style_passes(file: Path, outcomes) -> None:
    for check, outcome in outcomes(file).items():
        expected = {Verdict.PASS}
        for key, verdict in (("ambiguous", Verdict.AMBIGUOUS), ("warns", Verdict.WARN)):
            if check in header(file, key):
                expected = {verdict}
        assert outcome.verdict in expected, told(outcome)


@pytest.mark.parametrize("check", CHECKS)
def test_each_check_has_mutants_and_twins(check: str) -> None:
    caught = [file for file in MUTANTS if check in header(file, "caught by")]
    right = [file for file in TWINS if check not in {**header(file, "ambiguous"), **header(file, "warns")}]
    assert len(caught) >= 4
    assert len(right) >= 3
