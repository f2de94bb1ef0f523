"""What a submission can do wrong while a check calls it.

A fault ends the check that met it with verdict ``fail`` (TASKS: a submission that
crashes, hangs, exhausts memory or ends its process in a call that a check needs has
failed that check), except :class:`Unbound` and :class:`Skipped`, which say so.

::

    Fault
    ├── Raised        an exception left the submission: type, message, file, line, traceback
    ├── TimedOut      the call went past its budget and was killed
    ├── Died          the process ended (exit, signal, out of memory)
    ├── BadResult     the answer has the wrong type, shape or dtype, or was not written
    ├── Unbound       no callable plays the role; lists the candidates that were seen
    └── Skipped       the check does not apply; the reason is the message
        └── NotPortable   the submission asks for what the GPU's arrays cannot do
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["BadResult", "Died", "Fault", "NotPortable", "Raised", "Skipped", "TimedOut", "Unbound"]


class Fault(Exception):
    """What went wrong, in one clause that can stand in a verdict's summary.

    Args:
        message: The clause.
        file: File of the submission, relative to its folder, where it happened.
        line: 1-based line in that file.
        output: Traceback or captured output, for the evidence.
        at: The expression there, and what its operands were.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        output: str = "",
        at: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.output = output
        self.at = at

    def brief(self, most: int) -> str:
        """The clause in at most so many characters, an ellipsis where it was cut."""
        return self.message if len(self.message) <= most else f"{self.message[: most - 1].rstrip()}…"

    @property
    def place(self) -> str:
        """``file:line``, and what stood there; empty where it is not known."""
        if not (self.file and self.line):
            return ""
        return f"{self.file}:{self.line}{': ' * bool(self.at)}{self.at}"

    @property
    def placed(self) -> str:
        """The clause with the place, where one is known and not told already."""
        known = self.place and f"{self.file}:{self.line}" not in self.message
        return f"{self.message} ({self.place})" if known else self.message


class Raised(Fault):
    """An exception left the submission.

    Args:
        kind: Name of the exception's type.
        message: Its text.
        kinds: Names of the classes that the type is one of, its own first.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        output: str = "",
        kinds: Sequence[str] = (),
        at: str = "",
    ) -> None:
        said = f"raised {kind}: {message}" if message else f"raised {kind}"
        super().__init__(said, file=file, line=line, output=output, at=at)
        self.kind = kind
        self.kinds = (kind, *kinds)
        self.detail = message


class TimedOut(Fault):
    """The call went past its budget and its process was killed."""


class Died(Fault):
    """The worker's process ended during the call."""


class BadResult(Fault):
    """The answer is not what the contract asks for."""


class Unbound(Fault):
    """No callable of the submission could be bound to a role.

    Args:
        role: The role that is open.
        candidates: What was seen and why it was not taken.
    """

    def __init__(self, role: str, candidates: Sequence[str] = ()) -> None:
        seen = "; ".join(candidates) if candidates else "nothing that looks like it"
        super().__init__(f"no callable found for role '{role}': {seen}")
        self.role = role
        self.candidates = tuple(candidates)


class Skipped(Fault):
    """The check does not apply to this submission; the message says why."""


class NotPortable(Skipped):
    """The submission, written for NumPy, asks for what CuPy has not or does otherwise.

    Args:
        what: What it asks for, such as ``np.insert``.
        file: File of the submission where it does, relative to its folder.
        line: 1-based line in that file.
        output: Traceback, for the evidence.
    """

    WORDS = "not portable to the GPU"

    def __init__(
        self, what: str, *, file: str | None = None, line: int | None = None, output: str = ""
    ) -> None:
        at = f" at {file}:{line}" if file and line else ""
        super().__init__(f"{self.WORDS}: {what}{at}", file=file, line=line, output=output)
        self.what = what

    @classmethod
    def by(cls, fault: Fault) -> NotPortable:
        """The same said of an exception that the CPU does not meet."""
        if isinstance(fault, cls):
            return fault
        return cls(fault.message, file=fault.file, line=fault.line, output=fault.output)
