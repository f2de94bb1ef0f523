"""The bottom line: the keys that matter where the focus is, and messages in their place."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.strip import Strip
from textual.widget import Widget

from judge_tui.tui.keys.key_names import key_name
from judge_tui.tui.look.tones import tones_of
from judge_tui.tui.textual_private.message_room import RoomyApp

__all__ = ["Hint", "KeyHints"]

#: A key as it is shown, several as ``n/N`` or ``1-3``, or letters to be typed; and what it does.
Hint = tuple[str | tuple[str, ...], str]
_SEVERAL = re.compile(r"(?<=.)[/-](?=.)")


class KeyHints(Widget):
    """One line of keys, those of the focused pane first; what does not fit is left out.

    A click on one presses its key. Messages lie over it while they last, and it is as high as they are: they
    cover no row that is read.
    """

    ALLOW_SELECT = False

    DEFAULT_CSS = "KeyHints { height: 1; background: $panel; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._hints: tuple[Hint, ...] = ()
        self._last: Hint | None = None
        self._count = ""
        #: What stands in which columns.
        self._places: list[tuple[range, Hint]] = []

    def on_resize(self) -> None:
        if isinstance(self.app, RoomyApp):
            # messages break into other lines
            self.app.make_room()

    def count(self, typed: str) -> None:
        """Show a number that was typed and waits for its key."""
        if typed != self._count:
            self._count = typed
            self.refresh()

    def tell(self, hints: tuple[Hint, ...], last: Hint | None = None) -> None:
        """Show other keys: pairs of key and what it does; ``last`` at the right, whatever the width."""
        if (hints, last) != (self._hints, self._last):
            self._hints, self._last = hints, last
            self.refresh()

    def render_line(self, y: int) -> Strip:
        tones = tones_of(self.app)
        base = tones.text + self.rich_style
        segments = [Segment(" ", base)]
        width = self.size.width
        if y < self.size.height - 1:
            return Strip.blank(width, base)
        end = self._pair(self._last, base) if self._last else []
        self._places = [(range(width - _cells(end), width), self._last)] if self._last else []
        if self._count:
            end = [Segment(f"{self._count}  ", base + tones.by_name["accent"]), *end]
        room = width - 1 - _cells(end)
        for hint in self._hints:
            pair = self._pair(hint, base)
            need = _cells(pair)
            if need > room:
                break
            first = _cells(segments)
            self._places.append((range(first, first + need), hint))
            segments += pair
            room -= need
        return Strip([*segments, Segment(" " * max(room, 0), base), *end]).adjust_cell_length(width, base)

    def _pair(self, hint: Hint, base: Style) -> list[Segment]:
        tones = tones_of(self.app)
        key, text = "".join(hint[0]), hint[1]
        return [Segment(key, base + tones.by_name["primary"]), Segment(f" {text}  ", base + tones.muted)]

    def on_click(self, event: events.Click) -> None:
        for columns, (keys, _) in self._places:
            if event.x in columns:
                self._press(keys, event.x - columns[0])

    def _press(self, keys: str | tuple[str, ...], column: int) -> None:
        """Press the key that is shown, of several the one at a column, as if it were typed."""
        if isinstance(keys, tuple):
            if column < len(keys):
                self.app.post_message(events.Key(keys[column], keys[column]))
            return
        bound = self.screen.active_bindings
        names = {key_name(key): key for key in reversed(bound)}
        shown = keys if keys in names else _at(keys, column)
        if shown not in names:
            return
        key = names[shown]
        # a range of digits, as those of a score, is no key
        if shown == keys or bound[key].binding.action != "digit" or "/" in keys:
            self.app.post_message(events.Key(key, shown if len(shown) == 1 else None))


def _cells(segments: Iterable[Segment]) -> int:
    return sum(segment.cell_length for segment in segments)


def _at(keys: str, column: int) -> str:
    """Of several keys the one at a column; the first one where none is."""
    ends = [match.start() for match in _SEVERAL.finditer(keys)]
    shown = _SEVERAL.split(keys)
    return shown[bisect_left(ends, column)] if column < len(keys) else shown[0]
