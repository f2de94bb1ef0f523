"""What a device's arrays cannot do: told by name, and told apart from what a submission does wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import TracebackType
from typing import Any

__all__ = ["RefusedError", "asked", "refused"]

#: What CuPy says where it is handed what only NumPy takes; never a submission's own words.
_SAID = re.compile(
    r"Implicit conversion to a NumPy array|Unsupported (?:d?type|index)|unhashable type: '(?:\w+\.)*ndarray'"
    r"|slice indices must be integers|slice\.\w+ must be int or None"
    r"|non-scalar numpy\.ndarray cannot be used|Only cupy arrays can be|does not accept numpy\.ndarray"
    r"|only supports [\w, ]+ as data type|ndarray doesn't define __\w+__ method"
    r"|must be integers or slices, not (?:\w+\.)*ndarray|'(?:\w+\.)*ndarray' object cannot be interpreted"
    r"|no implementation found for|object arrays? (?:is|are) not supported"
)


class RefusedError(AttributeError, TypeError):
    """The device has no such function, or not for such values.

    It is an attribute error and a type error, so that code which provides for the absence goes on.

    Args:
        what: What was asked for, such as ``np.insert``.
    """

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} cannot be had on the GPU")
        self.what = what


def refused(error: BaseException, package: str) -> str:
    """What a submission asked of the device that it cannot do; empty for any other exception.

    Args:
        error: What left the submission.
        package: Name of the module that the device's arrays come from.
    """
    if isinstance(error, RefusedError):
        return error.what
    named = asked(error)
    if isinstance(error, NotImplementedError) and (named or _inside(error.__traceback__, package)):
        return named or _first_line(error)
    if isinstance(error, (TypeError, AttributeError)) and _inside(error.__traceback__, package):
        # told of what it was given, such as a list in an array's place
        return f"{named} ({_first_line(error)})" if named else _first_line(error)
    if isinstance(error, (TypeError, ValueError)):
        unknown = named and isinstance(error, TypeError) and "unexpected keyword argument" in str(error)
        if unknown or _SAID.search(str(error)):
            return f"{named} ({_first_line(error)})" if named else _first_line(error)
    return ""


def asked(error: BaseException) -> str:
    """The function of the namespace that raised; empty when none of it did."""
    return str(getattr(error, "asked_of_device", ""))


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0][:160]


def _inside(trace: TracebackType | None, package: str) -> bool:
    """Whether the innermost frame is one of the package's."""
    frames = list(_frames(trace))
    return bool(frames) and str(frames[-1].f_globals.get("__name__", "")).startswith(package)


def _frames(trace: TracebackType | None) -> Iterator[Any]:
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next
