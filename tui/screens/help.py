"""The keys, read off the bindings themselves, and the signs of each part."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen

from judge_tui.tui.keys.bound_keys import KeyPart, key_for, keys_for, listed, own_bindings
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.keys.personal import PersonalApp
from judge_tui.tui.look.fitting import wrapped
from judge_tui.tui.look.tones import Tones
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.key_hints import KeyHints
from judge_tui.tui.widgets.rows import Rows, Span

__all__ = ["HelpScreen"]


#: Columns before the words of a key.
_INDENT, _KEYS = 3, 22
#: Columns that words keep on the smallest screen.
_WORDS = 12


class _Line(Struct, frozen=True):
    """A title (``tone`` is empty), a key with what it does, or more of its words."""

    part: int
    text: str
    keys: str = ""
    tone: str = ""
    row: int = 0

    def wrapped(self, width: int) -> Iterator[_Line]:
        """The lines that its words take in so many columns; no word is cut."""
        room = width - (_INDENT + max(len(self.keys) + 1, _KEYS) if self.tone else 1)
        for row, text in enumerate(wrapped(self.text, max(room, _WORDS))):
            yield replace(self, text=text, keys="" if row else self.keys, row=row)


class _Lines(Rows):
    shows_cursor = False

    def __init__(self, lines: Sequence[_Line]) -> None:
        super().__init__()
        self._lines = lines

    def on_resize(self) -> None:
        # less the scrollbar, whether it is there yet or not
        width = self.outer_size.width - 1
        self.show([row for line in self._lines for row in line.wrapped(width)])

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        assert isinstance(key, _Line)
        if not key.tone:
            return [(f" {key.text}", tones.strong)]
        shown = f"{key.keys:<{_KEYS - 1}} "
        return [(" " * _INDENT + shown, tones.by_name[key.tone]), (key.text, tones.text)]

    def action_move(self, rows: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + rows * self.times, animate=False, force=True)


class HelpScreen(ModalScreen[None]):
    """Every binding, by part of the app, the one in focus first."""

    DEFAULT_CSS = "HelpScreen { background: $surface; } HelpScreen Bar { background: $panel; }"

    BINDINGS: ClassVar = named("help", [Binding("escape,q,question_mark,f1", "close", "back")])

    def __init__(self, parts: Sequence[KeyPart]) -> None:
        super().__init__()
        self._parts = parts

    def compose(self) -> ComposeResult:
        self._rows = _Lines(self._told())
        yield Bar()
        yield self._rows
        yield KeyHints()

    def on_mount(self) -> None:
        self.query_one(Bar).tell(
            [(" Keys", "strong", 0), ("  what each part of the screen answers to", "muted", 1)]
        )
        scroll = keys_for(self._rows, "move(1)", "move(-1)")
        self.query_one(KeyHints).tell(((scroll, "scroll"), (key_for(self, "close"), "back")))
        self._rows.focus()

    def _told(self) -> list[_Line]:
        """What there is to be said, a line each."""
        lines: list[_Line] = []
        if isinstance(self.app, PersonalApp) and self.app.faults:
            lines.append(_Line(-1, "Settings that are not followed"))
            lines += [_Line(-1, fault, "!", "warning") for fault in self.app.faults]
        for number, part in enumerate([*self._parts, KeyPart("The whole program", self.app)]):
            lines += [_Line(number, "")] if lines else []
            lines.append(_Line(number, part.title))
            lines += [
                _Line(number, text, keys, "primary") for keys, text, _ in listed(own_bindings(part.node))
            ]
            lines += [_Line(number, text, sign, "accent") for sign, text in part.signs]
        told = "your login, unless --judge or $JUDGE_TUI_JUDGE names another"
        lines.append(_Line(number, told, "judge", "accent"))
        return lines

    def action_close(self) -> None:
        self.dismiss(None)
