"""The error family: only these are shown to a user, as one sentence and a hint.

::

    JudgeError                 a sentence, a hint, and where it applies a file and line
    ├── UsageError             the command line or a name is off               (exit 2)
    ├── WorkspaceError         a folder or file of the workspace is off        (exit 2)
    │   ├── NewerSchema        it is of a later judge-tui, and read alone      (exit 2)
    │   └── ChallengeFault     the author's code of a challenge is off         (exit 2)
    └── EngineError            the engine itself broke                         (exit 3)

What a *submission* does wrong is never one of these: it is a verdict
(see :mod:`judge_tui.checks.faults`).
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["ChallengeFault", "EngineError", "JudgeError", "NewerSchema", "UsageError", "WorkspaceError"]


class JudgeError(Exception):
    """A fault that is told to the user in one sentence.

    Args:
        message: One sentence that says what is wrong.
        hint: What to do about it.
        file: The file that it concerns.
        line: The 1-based line in that file.
    """

    exit_code = 2

    def __init__(
        self, message: str, *, hint: str = "", file: Path | str | None = None, line: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.file = str(file) if file is not None else None
        self.line = line

    def __str__(self) -> str:
        where = ""
        if self.file:
            where = f"{self.file}:{self.line}: " if self.line else f"{self.file}: "
        return f"{where}{self.message}" + (f" {self.hint}" if self.hint else "")


class UsageError(JudgeError):
    """The command line, or a name given on it, is off."""


class WorkspaceError(JudgeError):
    """A folder or a file of the workspace is missing, unreadable or malformed."""


class NewerSchema(WorkspaceError):
    """A file is of a newer version than this judge-tui knows: it must not be written."""


class ChallengeFault(WorkspaceError):
    """The author's code of a challenge, or what it says, is off.

    Never told as the submission's fault, nor as the engine's: verdict ``error`` with ``fault = "challenge"``.

    Args:
        message: One sentence; of what the author's code raised, its type and text.
        file: File of the challenge, relative to its folder.
        line: 1-based line in it.
        output: Its traceback, for the evidence.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        file: Path | str | None = None,
        line: int | None = None,
        output: str = "",
    ) -> None:
        super().__init__(message, hint=hint, file=file, line=line)
        self.output = output


class EngineError(JudgeError):
    """The engine broke: a fault of judge-tui, not of a submission."""

    exit_code = 3
