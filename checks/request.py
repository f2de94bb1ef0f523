"""What the engine is asked to do."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Backend", "Request", "RequestedSubmission"]

Backend = Literal["auto", "cpu", "gpu", "emulator"]


class RequestedSubmission(msgspec.Struct, frozen=True):
    """A submission by name and folder; the folder need not exist."""

    model: str
    path: str


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """One task, the submissions to judge, and how.

    Attributes:
        task: Task id.
        submissions: In the order in which they are shown.
        checks: Check ids; empty for all.
        backend: Where arrays live.
        seed: Replays the inputs; ``None`` takes the stored outcomes or draws a new one.
        fresh: Run again what is stored.
        trust: Run although the sandbox is below ``partial``.
        bindings: Root of a tree ``<model>/<task>/`` of ``submission.toml`` and ``adapter.py`` overlays.
        jobs: Submissions judged at once; 0 for one per processor.
    """

    task: str
    submissions: tuple[RequestedSubmission, ...]
    checks: tuple[str, ...] = ()
    backend: Backend = "auto"
    seed: int | None = None
    fresh: bool = False
    trust: bool = False
    bindings: str | None = None
    jobs: int = 0
