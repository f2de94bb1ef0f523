"""Many calls with one request: what happens over thousands of calls is not drowned in their transport."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["repeat"]

#: A call: what is called, its arguments, and the number under which its result is kept.
Call = tuple[Callable[..., Any], list[Any], dict[str, Any], int]


def repeat(decode: Callable[[], Iterable[Call]], kept: dict[int, Any], times: int) -> tuple[int, Any]:
    """Make calls one after another, over and over.

    Args:
        decode: Resolves the calls one by one, each only when the ones before it have been made, since an
            argument may be what an earlier call gave.
        kept: Where results go.
        times: How often.

    Returns:
        How many times all of them were made, and the exception that ended it, if any.
    """
    for done in range(times):
        try:
            for function, args, kwargs, keep in decode():
                kept[keep] = function(*args, **kwargs)
        # Whatever a submission raises, SystemExit and KeyboardInterrupt included.
        except BaseException as error:
            return done, error
    return times, None
