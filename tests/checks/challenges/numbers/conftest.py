"""Challenges of a few lines, and answers to them, judged as a run judges them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from judge_tui.checks.challenges.challenge import Challenge, Settings
from judge_tui.checks.challenges.task import made
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.verdict import Outcome

Judge = Callable[..., Mapping[str, Outcome]]
Together = Callable[[str, Mapping[str, str]], Mapping[str, Outcome]]

ALWAYS = ("size", "loads", "purity", "throughput", "own_tests")


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judge:
    """Judges an answer by a challenge: both as the text of one file."""
    monkeypatch.setenv("JUDGE_TUI_CACHE", str(tmp_path / "cache"))

    def run(
        challenge: str,
        answer: str,
        *checks: str,
        seed: int = 1,
        task: str = "double",
        settings: Settings | None = None,
    ) -> Mapping[str, Outcome]:
        folder, theirs = tmp_path / "challenges" / task, tmp_path / "submissions" / "m" / task
        for place, name, text in ((folder, "challenge.py", challenge), (theirs, "answer.py", answer)):
            place.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        made_of = made(Challenge(task, str(folder), settings or Settings()))
        wanted = checks or tuple(check.id for check in made_of.checks if check.id not in ALWAYS)
        return judge(made_of, Submission("m", task, theirs), seed=seed, checks=wanted)

    return run


@pytest.fixture
def together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Together:
    """Asks about several answers by one challenge, which is read once: name → outcome of ``accuracy``."""
    monkeypatch.setenv("JUDGE_TUI_CACHE", str(tmp_path / "cache"))

    def run(challenge: str, answers: Mapping[str, str]) -> Mapping[str, Outcome]:
        folder = tmp_path / "challenges" / "double"
        folder.mkdir(parents=True)
        (folder / "challenge.py").write_text(challenge)
        task, found = made(Challenge("double", str(folder))), dict[str, Outcome]()
        for name, text in answers.items():
            theirs = tmp_path / "submissions" / name / "double"
            theirs.mkdir(parents=True)
            (theirs / "answer.py").write_text(text)
            submission = Submission(name, "double", theirs)
            found[name] = judge(task, submission, seed=1, checks=["accuracy"])["accuracy"]
        return found

    return run
