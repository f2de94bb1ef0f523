"""An exception that left a submission, in plain data: what, where, and what the device lacks for it."""

from __future__ import annotations

import builtins
import contextlib
import os
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .capture import sendable
from .operands import operands
from .refusals import refused

__all__ = ["named", "told"]

#: Classes that an exception's type is one of, as far as they are told.
_MOST_KINDS = 32
#: Characters that are told of the expression that raised, and its operands.
_MOST_OPERANDS = 240
_BUILT_IN = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
}


def named(kind: type) -> str:
    """The name of an exception's class; one that only bears the name of Python's own says so."""
    name = sendable(kind.__name__)
    return name if issubclass(kind, _BUILT_IN.get(name, kind)) else f"its own {name}"


def told(error: BaseException, folder: Path, adapter: Path | None, module: str) -> dict[str, Any]:
    """What goes over the wire of an exception.

    Args:
        error: What left the submission.
        folder: The submission's.
        adapter: What it is called through, which lies elsewhere.
        module: What the submission gets for NumPy.
    """
    frames = traceback.extract_tb(error.__traceback__)
    places = {str(adapter): adapter.name} if adapter is not None else {}

    def shown(file: str) -> str | None:
        """As the submission's reader knows it; ``None`` for what is not the submission's."""
        return places.get(file) or (
            os.path.relpath(file, folder) if Path(file).is_relative_to(folder) else None
        )

    own = [frame for frame in frames if shown(frame.filename)]
    file, line = (shown(own[-1].filename), own[-1].lineno) if own else (None, None)
    if isinstance(error, SyntaxError) and error.filename and shown(error.filename):
        file, line = shown(error.filename), error.lineno
    where = own[-1] if own and line == own[-1].lineno else None
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__, chain=False))
    try:
        message = str(error)
    except Exception:
        message = "(its text cannot be read)"
    return {
        "type": named(type(error)),
        "kinds": [named(kind) for kind in type(error).__mro__[1:-1]][:_MOST_KINDS],
        "message": sendable(message[:500]),
        "file": file,
        "line": line,
        "at": _operands(error, frames, where)[:_MOST_OPERANDS],
        # What no line of the submission asked for is no refusal, but the engine's own fault.
        "lacking": sendable(refused(error, module)) if own else "",
        "traceback": sendable(text.replace(str(folder) + os.sep, "")[-8000:]),
    }


def _operands(
    error: BaseException, frames: Sequence[traceback.FrameSummary], where: traceback.FrameSummary | None
) -> str:
    """What stood at one of an exception's frames; empty where nothing can be told."""
    trace = error.__traceback__
    for frame in frames:
        if trace is None:
            break
        if frame is where:
            # whatever the submission's objects do when they are looked at
            with contextlib.suppress(Exception):
                return sendable(operands(frame, trace.tb_frame))
            break
        trace = trace.tb_next
    return ""
