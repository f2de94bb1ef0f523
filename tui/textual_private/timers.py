"""Timers of no time: Textual's loop never ends where one has less than none.

A toast that is put on another screen just as its time runs out asks for a timer of what is left of it, which
may be negative: the program hangs with a busy processor, and takes no key.
"""

from __future__ import annotations

from typing import Any

from textual.timer import Timer

__all__ = ["let_timers_end"]

#: Seconds. Of no time at all the loop divides by it.
_LEAST_S = 0.001


def let_timers_end() -> None:
    """Give every timer some time (once per process)."""
    make = Timer.__init__
    if getattr(make, "lets_end", False):
        return

    def made(self: Timer, event_target: Any, interval: float, *others: Any, **named: Any) -> None:
        make(self, event_target, max(interval, _LEAST_S), *others, **named)

    made.lets_end = True  # type: ignore[attr-defined]
    Timer.__init__ = made  # type: ignore[method-assign]
