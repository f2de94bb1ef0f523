"""What the engine is asked to do."""

from __future__ import annotations

from typing import Literal

import msgspec

from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.submission import Submission

__all__ = ["Backend", "Request", "RequestedSubmission"]

Backend = Literal["auto", "cpu", "gpu", "emulator"]


class RequestedSubmission(msgspec.Struct, frozen=True):
    """A submission by name and folder; the folder need not exist.

    Attributes:
        model: Folder name of the model.
        path: Its folder.
        overlays: The judge's folders of ``submission.toml`` and ``adapter.py``; the first wins.
    """

    model: str
    path: str
    overlays: tuple[str, ...] = ()

    @classmethod
    def of(cls, submission: Submission) -> RequestedSubmission:
        """How a submission is asked for."""
        return cls(submission.model, str(submission.path), tuple(map(str, submission.overlays)))


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """One task, the submissions to judge, and how.

    Attributes:
        task: Task id.
        submissions: In the order in which they are shown.
        checks: Check ids; empty for all.
        backend: Where arrays live.
        seed: Replays the inputs; ``None`` takes that of the newest stored outcome of any of the submissions
            for all of them, and draws a new one where there is none.
        fresh: Run again what is stored, under a new seed where none is given.
        trust: Run although the sandbox is below ``partial``.
        jobs: Submissions judged at once; 0 for one per processor.
        challenge: What a task of the user's own is judged by.
        repair: Seconds for which one edit that mends it is looked for, of each submission in Python that
            fails a check on the CPU; 0 for none. On this machine, after all checks.
    """

    task: str
    submissions: tuple[RequestedSubmission, ...]
    checks: tuple[str, ...] = ()
    backend: Backend = "auto"
    seed: int | None = None
    fresh: bool = False
    trust: bool = False
    jobs: int = 0
    challenge: Challenge | None = None
    repair: float = 0.0
