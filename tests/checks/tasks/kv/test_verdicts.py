"""Every mutant is caught by the checks that it names, every twin passes all that it does not skip."""

from __future__ import annotations

import functools
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from judge_tui.checks.generic import GENERIC
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.kv import TASK
from judge_tui.checks.verdict import Outcome, Verdict

HERE = Path(__file__).parent
MUTANTS = sorted((HERE / "mutants").glob("*.py"))
TWINS = sorted((HERE / "twins").glob("*.py"))
CHECKS = [check.id for check in TASK.checks if check not in GENERIC]
#: Roles that the challenge leaves open: a submission without one is skipped by its check.
OPTIONAL = {"paged", "quantized", "memory_model", "chunked_prefill", "gqa"}
SEED = 20_260


def header(path: Path, key: str) -> list[str]:
    """The words after ``# key:`` in a file's first lines; what stands in parentheses is left out."""
    found = re.findall(rf"^# {key}:(.*)$", path.read_text(), re.M)
    return [
        word.strip() for line in found for word in re.sub(r"\([^)]*\)", "", line).split(",") if word.strip()
    ]


@functools.cache
def outcomes(path: Path, scratch: Path, checks: tuple[str, ...]) -> dict[str, Outcome]:
    folder = scratch / path.stem / "kv"
    folder.mkdir(parents=True)
    shutil.copy(path, folder)
    return judge(TASK, Submission.at(folder), seed=SEED, checks=checks)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kv")


def pairs() -> Iterator[tuple[str, Path]]:
    return ((check, path) for path in MUTANTS for check in header(path, "caught by"))


@pytest.mark.xdist_group("kv mutants")
@pytest.mark.parametrize(("check", "path"), pairs(), ids=lambda value: getattr(value, "stem", value))
def test_mutant_is_caught(check: str, path: Path, scratch: Path) -> None:
    outcome = outcomes(path, scratch, tuple(header(path, "caught by")))[check]
    allowed = {Verdict.FAIL, Verdict.WARN} if check in header(path, "warns") else {Verdict.FAIL}
    assert outcome.verdict in allowed, outcome.summary
    assert outcome.summary
    assert any(item.ok is False for item in outcome.evidence)


def judged(path: Path) -> list[str]:
    """The checks that a twin is held against: those after ``# only:``, else all that it does not skip.

    An optional check counts where ``# only:`` or ``# passes:`` names it.
    """
    skips, only = header(path, "skips"), header(path, "only")
    optional = OPTIONAL - set(header(path, "passes"))
    return only or [check for check in CHECKS if check not in skips and check not in optional]


@pytest.mark.xdist_group("kv twins")
@pytest.mark.parametrize("path", TWINS, ids=lambda path: path.stem)
def test_twin_passes(path: Path, scratch: Path) -> None:
    passes = judged(path)
    run = header(path, "only") or CHECKS
    for check, outcome in outcomes(path, scratch, tuple(run)).items():
        wanted = {Verdict.PASS} if check in passes else {Verdict.SKIP}
        if check in OPTIONAL and check not in passes and check not in header(path, "skips"):
            wanted = {Verdict.PASS, Verdict.SKIP}
        assert outcome.verdict in wanted, f"{check}: {outcome.summary}"


def test_every_check_has_four_mutants_and_three_twins() -> None:
    caught = Counter(check for check, _path in pairs())
    passed = Counter(check for path in TWINS for check in judged(path))
    for check in CHECKS:
        assert caught[check] >= 4, check
        assert passed[check] >= 3, check


def test_headers_name_checks_that_exist() -> None:
    named = {
        word
        for path in (*MUTANTS, *TWINS)
        for key in ("caught by", "skips", "warns", "only", "passes")
        for word in header(path, key)
    }
    assert named <= set(CHECKS)
