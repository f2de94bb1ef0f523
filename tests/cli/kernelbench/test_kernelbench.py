"""Ten problems of our own in KernelBench's format: imported unedited, and judged."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.challenges.task import made
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.verdict import Outcome, Verdict
from judge_tui.cli.importing.kernelbench import problem

PROBLEMS = sorted(
    (Path(__file__).parent / "problems").glob("*.py"), key=lambda file: int(file.stem.split("_")[0])
)


def judged(place: Path, source: Path, answer: str) -> Mapping[str, Outcome]:
    """An answer by the challenge that a problem makes."""
    imported = problem(source)
    challenge, theirs = place / "challenges" / "problem", place / "submissions" / "m" / "problem"
    for folder, files in ((challenge, imported.files), (theirs, {"answer.py": answer.encode()})):
        folder.mkdir(parents=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)
    assert (challenge / source.name).read_bytes() == source.read_bytes()
    assert not [sentence for sentence in imported.told if "not" in sentence]
    return judge(
        made(Challenge("problem", str(challenge))),
        Submission("m", "problem", theirs),
        seed=1,
        checks=["accuracy"],
    )


def test_there_are_ten() -> None:
    assert len(PROBLEMS) == 10


@pytest.mark.parametrize("source", PROBLEMS, ids=lambda file: file.stem)
def test_a_problem_is_judged_right_by_its_own_model(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_TUI_CACHE", str(tmp_path / "cache"))
    answer = re.sub(r"\bclass Model\b", "class ModelNew", source.read_text())
    found = judged(tmp_path, source, answer)
    assert found["accuracy"].verdict is Verdict.PASS, found["accuracy"].summary
