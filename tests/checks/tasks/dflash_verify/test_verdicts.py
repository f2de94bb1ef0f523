"""Every mutant is caught by the checks that it names; every twin passes them all."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.dflash_verify import TASK
from judge_tui.checks.verdict import Outcome, Verdict

HERE = Path(__file__).parent
MUTANTS = sorted((HERE / "mutants").glob("*.py"))
TWINS = sorted(path for path in (HERE / "twins").iterdir() if path.suffix == ".py" or path.is_dir())
CHECKS = ("tree_mask", "parent_logits", "subtree_invalidation", "golden")


def header(path: Path, key: str) -> dict[str, str]:
    """``check (remark)`` pairs of a header line; of a folder, in any of its files."""
    files = [path] if path.is_file() else sorted(path.glob("*.py"))
    found: dict[str, str] = {}
    for file in files:
        match = re.search(rf"^# {key}: (.*)$", file.read_text(), re.M)
        found.update(re.findall(r"(\w+)(?: \(([^)]*)\))?", match[1]) if match else [])
    return found


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory: pytest.TempPathFactory):
    root = tmp_path_factory.mktemp("dflash_verify")

    @cache
    def of(path: Path) -> Mapping[str, Outcome]:
        folder = root / path.stem / "dflash_verify"
        if path.is_dir():
            shutil.copytree(path, folder)
        else:
            folder.mkdir(parents=True)
            shutil.copy(path, folder)
        submission = Submission.at(folder, model=path.stem, task="dflash_verify")
        wanted = tuple(header(path, "caught by")) or (*CHECKS, "purity")
        return judge(TASK, submission, seed=7, checks=wanted)

    return of


def told(outcome: Outcome) -> str:
    return f"{outcome.check}: {outcome.verdict}: {outcome.summary}\n" + "\n".join(
        f"  {e.quantity}: {e.measured} ({e.limit}) {e.note} {e.output[-500:]}" for e in outcome.evidence
    )


@pytest.mark.parametrize("path", MUTANTS, ids=lambda path: path.stem)
def test_a_mutant_is_caught_by_the_checks_it_names(path: Path, outcomes) -> None:
    named = header(path, "caught by")
    assert named
    for check, remark in named.items():
        expected = Verdict.WARN if remark == "warn" else Verdict.FAIL
        assert outcomes(path)[check].verdict is expected, told(outcomes(path)[check])


@pytest.mark.parametrize("path", TWINS, ids=lambda path: path.stem)
def test_a_right_verification_in_another_style_passes(path: Path, outcomes) -> None:
    for outcome in outcomes(path).values():
        assert outcome.verdict is Verdict.PASS, told(outcome)


@pytest.mark.parametrize("check", CHECKS)
def test_each_check_has_mutants_and_twins(check: str) -> None:
    assert sum(check in header(file, "caught by") for file in MUTANTS) >= 4
    assert len(TWINS) >= 6
