"""Whether a submission said no on purpose, or broke."""

from __future__ import annotations

import ast
from contextlib import suppress

from judge_tui.checks.faults import Raised
from judge_tui.checks.sources import parsed, statements
from judge_tui.checks.submission import Submission

__all__ = ["refusal"]


def refusal(submission: Submission, fault: Raised) -> str:
    """What a submission says when it refuses an input by a ``raise`` or ``assert`` of its own.

    Args:
        submission: What was called.
        fault: The exception that left it.

    Returns:
        The clause; empty for a crash.
    """
    if not (fault.file and fault.line and fault.file in submission.files):
        return ""
    stated = False
    with suppress(SyntaxError):
        stated = any(
            isinstance(one, ast.Raise | ast.Assert) and one.lineno <= fault.line <= (one.end_lineno or 0)
            for one in statements(parsed(submission.read_bytes(fault.file)))
        )
    return fault.message.replace("raised", "refused:", 1) if stated else ""
