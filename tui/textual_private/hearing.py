"""Who listens to what comes from the terminal, beside the parser that makes keys of it."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["hear", "listeners"]

#: Called with all that arrives, in the thread that reads it.
listeners: list[Callable[[str], object]] = []


def hear(data: str) -> None:
    """Tell whoever listens what has arrived."""
    for listener in list(listeners):
        listener(data)
