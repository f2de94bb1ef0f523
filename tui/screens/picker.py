"""Pick one of many by typing a part of it: files, symbols."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

from msgspec import Struct
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.widgets import Input

from judge_tui.tui.keys.bound_keys import key_for, keys_for
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.fitting import fit, fit_middle
from judge_tui.tui.look.glyphs import neutral
from judge_tui.tui.look.harmless import box_title
from judge_tui.tui.look.tones import Tones
from judge_tui.tui.screens.dialog import Dialog
from judge_tui.tui.widgets.line_input import LineInput
from judge_tui.tui.widgets.rows import Rows, Span

__all__ = ["Choice", "Picker"]


class Choice(Struct, frozen=True):
    """An entry: what stands in the list, a word on it, and the value that is picked.

    Attributes:
        text: What stands in the list.
        aside: The word on it.
        value: What is picked.
        alone: What stands in its place where the entries around it are left out; if it is empty, the text.
        path: Whether the text is a path, which is cut in its middle.
    """

    text: str
    aside: str
    value: Hashable
    alone: str = ""
    path: bool = False


class _Choices(Rows):
    #: Whether entries are left out.
    narrowed = False

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        from rich.cells import cell_len

        assert isinstance(key, Choice)
        # what is said of an entry, as its file and line, is seen beside a long one too
        room = max(width - cell_len(key.aside) - 4, width // 2)
        alone = key.alone if self.narrowed else ""
        text = neutral(getattr(self.app, "hide", str)(alone or key.text))
        if alone and cell_len(text) > room:
            # its own name stands at the end
            text = f"…{text[-max(room - 1, 1) :]}"
        if cell_len(text) > room:
            text = fit_middle(text, room) if key.path else fit(text, room)
        aside = fit_middle(key.aside, max(width - cell_len(text) - 3, 0))
        return [(f" {text}", tones.text), (f"  {aside}", tones.faint)]

    def draw_below(self, line: int, width: int, tones: Tones) -> Sequence[Span]:
        return [] if self.keys or line else [(" nothing matches", tones.muted)]


class Picker(Dialog[Hashable]):
    """Gives the picked value, or ``None``.

    Args:
        title: What is picked.
        choices: The entries.
        chosen: The value of the one that the cursor is put on.
        does: What picking one does, as its hint says.
    """

    DEFAULT_CSS = """
    Picker { align: center middle; }
    Picker > Vertical { max-width: 80; max-height: 70%; }
    Picker Rows { background: $panel; }
    """

    BINDINGS: ClassVar = [
        Binding("enter", "pick", "go there", priority=True),
        Binding("escape", "close", "close", priority=True),
        Binding("down,ctrl+n,ctrl+j", "step(1)", "next", priority=True),
        Binding("up,ctrl+k", "step(-1)", "previous", priority=True),
    ]

    BINDINGS = named("picker", BINDINGS)

    def __init__(
        self, title: str, choices: Sequence[Choice], chosen: Hashable = None, does: str = "goes there"
    ) -> None:
        super().__init__()
        self._title, self._choices, self._chosen, self._does = title, choices, chosen, does
        self._rows = _Choices()
        # the keyboard stays in the input; the list follows it
        self._rows.can_focus = False

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = box_title(self._title)
            moves, picks = keys_for(self, "step(-1)", "step(1)"), key_for(self, "pick")
            yield LineInput(placeholder=f"type to narrow, {moves} move, {picks} {self._does}")
            yield self._rows

    def on_mount(self) -> None:
        # as high as all of them, and no lower while they are narrowed
        self.query_one(Vertical).styles.height = len(self._choices) + 3
        self._rows.show(self._choices)
        at = next((n for n, choice in enumerate(self._choices) if choice.value == self._chosen), 0)
        self.call_after_refresh(self._rows.go, at)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        typed = event.value
        kept = [choice for choice in self._choices if _matches(typed, choice.text)]
        kept.sort(key=lambda choice: typed.lower() not in choice.text.lower())
        # as LayerNorm.forward is typed
        kept = kept or [choice for choice in self._choices if _matches(typed, choice.alone)]
        self._rows.narrowed = bool(typed)
        self._rows.cursor = 0
        self._rows.show(kept)

    def action_pick(self) -> None:
        key = self._rows.key
        if isinstance(key, Choice):
            self.dismiss(key.value)

    def on_rows_opened(self, event: Rows.Opened) -> None:
        event.stop()
        self.dismiss(event.key.value if isinstance(event.key, Choice) else None)

    def on_click(self, event: events.Click) -> None:
        if event.widget is self:
            self.dismiss(None)

    def action_step(self, step: int) -> None:
        self._rows.go(self._rows.cursor + step)

    def action_close(self) -> None:
        self.dismiss(None)


def _matches(typed: str, text: str) -> bool:
    """Whether the typed letters stand in the text in that order."""
    rest = iter(text.lower())
    return all(letter in rest for letter in typed.lower() if letter != " ")
