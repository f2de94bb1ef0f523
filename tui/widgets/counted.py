"""Counts as in vim: a number typed before a key says how often, or which line: ``12G``, ``5j``.

A digit that the reader has given to something else, as ``1`` to a pane, keeps that meaning: such a number
begins with a key of its own, ``;12G``. Within a number all digits count.
"""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding
from textual.widget import Widget

from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.textual_private.at_once import AtOnce
from judge_tui.tui.widgets.key_hints import KeyHints

__all__ = ["Counted", "past_end", "times"]

#: More digits than any file has lines.
_MOST_DIGITS = 7


class Counted(AtOnce):
    """A widget whose keys may be told how often.

    Attributes:
        count: The number before the key whose action is running; 0 for none.
    """

    BINDINGS: ClassVar = [
        Binding(
            "semicolon",
            "begin_count",
            "a count before a key, as ;12G where 1 means something else",
            show=False,
            id="begin",
        )
    ]

    BINDINGS = named("counts", BINDINGS)

    count = 0
    _number = ""
    _counting = False

    @property
    def counting(self) -> bool:
        """Whether a number is being typed."""
        return self._counting

    @property
    def times(self) -> int:
        """How often the action that is running is to be done."""
        return max(self.count, 1)

    def at_once(self, key: str) -> str:
        return "" if self._counting else super().at_once(key)

    def action_begin_count(self) -> None:
        self._count_on("", True)

    def _count_on(self, number: str, counting: bool) -> None:
        self._number, self._counting = number[:_MOST_DIGITS], counting
        begins = key_for(self, "begin_count") if counting else ""
        for hints in self.screen.query(KeyHints):
            hints.count(number[:_MOST_DIGITS] or begins)

    async def on_key(self, event: events.Key) -> None:
        digit = event.character is not None and event.character in "0123456789"
        if not digit and not self._counting:
            return
        bound = self.screen.active_bindings.get(event.key)
        if digit and (self._counting or bound is None):
            event.stop()
            event.prevent_default()
            self._count_on(self._number + (event.character or ""), True)
        elif self._counting:
            event.stop()
            event.prevent_default()
            number = self._number
            self._count_on("", False)
            if bound is not None and bound.enabled and event.key != "escape":
                self.count = int(number or 0)
                try:
                    await self.app.run_action(bound.binding.action, bound.node)
                finally:
                    self.count = 0

    def on_blur(self) -> None:
        if self._counting:
            self._count_on("", False)


def times(widget: Widget | None) -> int:
    """How often the action that a key of a widget has begun is to be done."""
    return widget.times if isinstance(widget, Counted) else 1


def past_end(what: str, step: int) -> str:
    """What is told where the steps from one of something to the next went round the end."""
    last, first = ("last", "first") if step > 0 else ("first", "last")
    return f"past the {last} {what}, on from the {first}"
