"""A challenge of programs and a submission to it, written into folders and judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from judge_tui.checks.bench import Bench
from judge_tui.checks.challenges.author import Authors
from judge_tui.checks.challenges.challenge import Challenge, Settings
from judge_tui.checks.challenges.programs.checks import checks_of
from judge_tui.checks.contract import Contract, Sample
from judge_tui.checks.one_check import run_check
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Outcome

#: Relative name → text or bytes.
Files = Mapping[str, str | bytes]
Judged = Callable[..., list[Outcome]]


def written(folder: Path, files: Files) -> Path:
    """A folder with files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    """Outcomes of all groups of a challenge."""

    def made(
        cases: Files, program: Files, settings: Settings | None = None, *, only: str = ""
    ) -> list[Outcome]:
        challenge = Challenge("sum", str(written(tmp_path / "sum", cases)), settings or Settings())
        submission = Submission("somebody", "sum", written(tmp_path / "somebody", program))
        authors = Authors(challenge)
        contract = Contract((), lambda rng: Sample({}, {}))
        checks = [check for check in checks_of(challenge, authors) if only in ("", check.id)]
        bench = Bench(submission, contract, seed=1)
        try:
            return [run_check(Task("sum", "sum", contract, tuple(checks)), check, bench) for check in checks]
        finally:
            bench.close()
            authors.close()

    return made
