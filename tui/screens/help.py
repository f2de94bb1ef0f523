"""The keys, read off the bindings themselves, and the signs of each part."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.tones import Tones
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.key_hints import KeyHints, KeyPart, key_for, keys_for, listed, own_bindings
from judge_tui.tui.widgets.rows import Rows, Span
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen

__all__ = ["HelpScreen"]


class _Lines(Rows):
    shows_cursor = False

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        assert isinstance(key, tuple)
        _, keys, text, *sign = key
        if not keys:
            return [(f" {text}", tones.strong)]
        return [(f"   {keys:<22}", tones.by_name["accent" if sign else "primary"]), (text, tones.text)]

    def action_move(self, rows: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + rows * self.times, animate=False, force=True)


class HelpScreen(ModalScreen[None]):
    """Every binding, by part of the app, the one in focus first."""

    DEFAULT_CSS = "HelpScreen { background: $surface; } HelpScreen Bar { background: $panel; }"

    BINDINGS: ClassVar = named("help", [Binding("escape,q,question_mark,f1", "close", "back")])

    def __init__(self, parts: Sequence[KeyPart]) -> None:
        super().__init__()
        self._parts = parts
        self._rows = _Lines()

    def compose(self) -> ComposeResult:
        yield Bar()
        yield self._rows
        yield KeyHints()

    def on_mount(self) -> None:
        self.query_one(Bar).tell(
            [(" Keys", "strong", 0), ("  what each part of the screen answers to", "muted", 1)]
        )
        scroll = keys_for(self._rows, "move(1)", "move(-1)")
        self.query_one(KeyHints).tell(((scroll, "scroll"), (key_for(self, "close"), "back")))
        keys: list[Hashable] = []
        for number, part in enumerate([*self._parts, KeyPart("The whole program", self.app)]):
            keys += [(number, "", ""), (number, "", part.title)] if number else [(number, "", part.title)]
            keys += [(number, shown, text) for shown, text, _ in listed(own_bindings(part.node))]
            keys += [(number, sign, text, "sign") for sign, text in part.signs]
        self._rows.show(keys)
        self._rows.focus()

    def action_close(self) -> None:
        self.dismiss(None)
