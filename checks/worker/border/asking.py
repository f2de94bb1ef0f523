"""A claim of the author's that calls the submission: each call is asked of the engine, and waited for."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from typing import Any

from .codec import Encoder, decode
from .records import made

__all__ = ["asked"]

#: Sends what is asked, and gives the answer: ``value``, or ``raise`` with type, text and classes.
Ask = Callable[[bytes], Mapping[str, Any]]


def asked(ask: Ask) -> Callable[..., Any]:
    """The function that a claim is handed as ``call``.

    Args:
        ask: Carries one call.
    """

    def call(**inputs: Any) -> Any:
        """Call the submission; whatever it raises is raised here, as a class of that name."""
        answer = ask(Encoder().encode(inputs))
        if "raise" in answer:
            kind, text, kinds = answer["raise"]
            raise _class(kind, kinds)(text)
        return decode(answer["value"], record=made)

    return call


def _class(kind: str, kinds: list[str]) -> type[BaseException]:
    """An exception class of a name, below the nearest of Python's own that it was below."""
    for name in kinds:
        own = getattr(builtins, name, None)
        if isinstance(own, type) and issubclass(own, Exception):
            return own if name == kind else type(kind, (own,), {})
    return type(kind, (Exception,), {})
