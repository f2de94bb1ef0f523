"""The bottom line: the keys that matter where the focus is."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from judge_tui.tui.keys.key_names import key_name
from judge_tui.tui.keys.keymap import key_table, remapped
from judge_tui.tui.look.tones import tones_of
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

__all__ = [
    "Hint",
    "KeyHints",
    "KeyPart",
    "key_called",
    "key_for",
    "key_parts",
    "keys_for",
    "listed",
    "own_bindings",
]


def own_bindings(node: DOMNode) -> list[Binding]:
    """The bindings that this app gives to a part of it, with the reader's keys; Textual's own left out.

    A part's ``own_words``, action → words, say what keys do where that is not the same everywhere.
    """
    found: dict[str, Binding] = {}
    chosen: Mapping[str, str] = getattr(node.app, "keymap", {})
    for kind in type(node).__mro__:
        if kind.__module__.startswith("judge_tui."):
            for binding in remapped(Binding.make_bindings(vars(kind).get("BINDINGS", ())), chosen):
                found.setdefault(binding.key, binding)
    words: Mapping[str, str] = getattr(node, "own_words", {})
    if not words:
        return list(found.values())
    return [replace(one, description=words.get(one.action, one.description)) for one in found.values()]


def key_for(node: DOMNode, action: str) -> str:
    """The key that does something in a part of the screen, as it is shown; empty where there is none."""
    return next((key_name(b.key) for b in own_bindings(node) if b.action == action), "")


def key_called(node: DOMNode, name: str) -> str:
    """The key of a name, as ``code.next-match``, wherever it is listened to."""
    chosen: Mapping[str, str] = getattr(node.app, "keymap", {})
    return key_name(chosen[name].split(",")[0] if name in chosen else key_table()[name][0])


def keys_for(node: DOMNode, *actions: str) -> str:
    """The keys of several actions, as ``n/N``."""
    return "/".join(filter(None, (key_for(node, action) for action in actions)))


@dataclass(frozen=True, slots=True)
class KeyPart:
    """A part of a screen that answers to keys.

    Attributes:
        title: What it is called.
        node: Whose bindings they are.
        enter: Brings it into view and gives it the focus; ``None`` where the keys work everywhere.
        signs: What it shows instead of words, each with its meaning.
    """

    title: str
    node: DOMNode
    enter: Callable[[], object] | None = None
    signs: Sequence[tuple[str, str]] = ()


def key_parts(screen: Screen[object]) -> Sequence[KeyPart]:
    """The parts of a screen that answer to keys, the one in focus first."""
    told: Callable[[], Sequence[KeyPart]] | None = getattr(screen, "key_parts", None)
    if told is not None:
        return told()
    nodes = [node for node in (screen.focused, screen) if node is not None]
    return [KeyPart("", node) for node in nodes if own_bindings(node)]


def listed(bindings: Iterable[Binding]) -> list[tuple[str, str, bool]]:
    """Keys, what they do, and whether that is hinted at; one entry per action."""
    actions: dict[str, tuple[list[str], str, bool]] = {}
    for binding in bindings:
        if binding.description:
            keys, _, _ = actions.setdefault(binding.action, ([], binding.description, binding.show))
            shown = binding.key_display or key_name(binding.key)
            if shown not in keys:
                keys.append(shown)
    return [(" ".join(keys), text, shown) for keys, text, shown in actions.values()]


#: A key as it is shown, several as ``n/N`` or ``1-3``, or letters to be typed; and what it does.
Hint = tuple[str | tuple[str, ...], str]
_SEVERAL = re.compile(r"(?<=.)[/-](?=.)")


class KeyHints(Widget):
    """One line of keys, those of the focused pane first; what does not fit is left out.

    A click on one presses its key.
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
