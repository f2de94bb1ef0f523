"""A challenge of behaviour and a submission to it, written into folders and judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from judge_tui.checks.bench import Bench
from judge_tui.checks.challenges.author import Authors
from judge_tui.checks.challenges.behaviour import Behaviour, checks_of, collected
from judge_tui.checks.challenges.challenge import Challenge, Limits, Settings
from judge_tui.checks.contract import Contract, Sample
from judge_tui.checks.one_check import run_check
from judge_tui.checks.sandbox import Mode
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Outcome

#: Relative name → text; a text alone is ``tests/test_it.py``, or ``answer.py``.
Files = Mapping[str, str] | str
Judged = Callable[..., dict[str, Outcome]]


def written(folder: Path, files: Files, alone: str) -> Path:
    """A folder with files."""
    for name, text in (files if isinstance(files, Mapping) else {alone: files}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return folder


@pytest.fixture
def outlined(tmp_path: Path) -> Callable[[Files], Behaviour]:
    """What is known of a challenge's tests before any submission is."""

    def made(tests: Files) -> Behaviour:
        challenge = Challenge("it", str(written(tmp_path / "it", tests, "tests/test_it.py")))
        return collected(Authors(challenge), challenge)

    return made


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    """Outcomes of a challenge's tests by check; ``process`` as in challenge.toml."""

    def made(
        tests: Files,
        answer: Files,
        *,
        seconds: float = 10.0,
        process: str = "test",
        entry: str = "",
        mode: Mode = "auto",
        seed: int = 1,
    ) -> dict[str, Outcome]:
        folder = written(tmp_path / "it", tests, "tests/test_it.py")
        settings = Settings(limits=Limits(seconds), process=process, entry=entry)  # type: ignore[arg-type]
        challenge = Challenge("it", str(folder), settings)
        submission = Submission("m", "it", written(tmp_path / "m", answer, "answer.py"))
        authors = Authors(challenge)
        checks = checks_of(challenge, authors, collected(authors, challenge, mode=mode))
        contract = Contract((), lambda rng: Sample({}, {}))
        bench = Bench(submission, contract, seed=seed, mode=mode)
        task = Task("it", "it", contract, checks)
        try:
            return {check.id: run_check(task, check, bench) for check in checks}
        finally:
            bench.close()

    return made


def told(outcomes: Mapping[str, Outcome]) -> str:
    """Verdicts and summaries, to be read where a test fails."""
    return "\n".join(f"{name}: {each.verdict} {each.summary}" for name, each in outcomes.items())
