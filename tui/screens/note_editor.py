"""The editor for a note: kind, severity, text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from judge_tui.judging.note import KINDS, SEVERITIES, Note
from judge_tui.tui.harmless import box_title
from judge_tui.tui.screens.dialog import Dialog
from judge_tui.tui.tones import tones_of
from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static, TextArea

__all__ = ["NoteEditor"]

_LABEL = 10


class Choice(Widget, can_focus=True):
    """One of a few words, chosen by its letter, its number or the arrows."""

    DEFAULT_CSS = "Choice { height: 1; width: 1fr; }"

    class Chosen(Message):
        """A word was chosen."""

        def __init__(self, choice: Choice) -> None:
            super().__init__()
            self.choice = choice

    def __init__(self, label: str, words: Sequence[str], keys: str, chosen: str, *, id: str) -> None:
        super().__init__(id=id)
        self._label, self._words, self._keys, self.chosen = label, tuple(words), keys, chosen

    def on_key(self, event: events.Key) -> None:
        at = self._words.index(self.chosen)
        if event.key in ("left", "right"):
            at = (at + (1 if event.key == "right" else -1)) % len(self._words)
        elif event.character and event.character in self._keys:
            at = self._keys.index(event.character)
        elif event.key == "enter":
            pass
        else:
            return
        event.stop()
        event.prevent_default()
        self.chosen = self._words[at]
        self.refresh()
        self.post_message(self.Chosen(self))
        if event.key not in ("left", "right"):
            self.screen.set_focus(self.screen.query_one(TextArea))

    def on_click(self, event: events.Click) -> None:
        end = _LABEL
        for word in self._words:
            begin, end = end, end + len(word) + 5
            if begin <= event.x < end:
                self.chosen = word
                self.refresh()
                self.post_message(self.Chosen(self))

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:
        tones = tones_of(self.app)
        base = self.rich_style
        segments = [
            Segment(f"{self._label:<{_LABEL}}", base + (tones.text if self.has_focus else tones.muted))
        ]
        for key, word in zip(self._keys, self._words, strict=True):
            here = word == self.chosen
            ground = tones.cursor if here and self.has_focus else tones.cursor_blurred if here else base
            segments += [
                Segment(f" {key} ", base + ground + tones.by_name["accent"]),
                Segment(f"{word} ", base + ground + (tones.strong if here else tones.muted)),
                Segment(" ", base),
            ]
        return Strip(segments).adjust_cell_length(self.size.width, base)


class NoteEditor(Dialog[None]):
    """A note; every change of it is told at once, so that closing cannot lose it.

    Args:
        title: Where the note stands.
        note: Its present state.
        changed: Told each new state; one with an empty text is to be dropped.
        choose_kind: Begin with the kind, as for a new note.
    """

    BINDINGS: ClassVar = [Binding("escape,ctrl+s", "close", "done (kept)", priority=True)]

    def __init__(self, title: str, note: Note, changed: Callable[[Note], None], *, choose_kind: bool) -> None:
        super().__init__()
        self._title, self._note, self._changed, self._choose = title, note, changed, choose_kind

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = box_title(self._title)
            yield Choice("kind", KINDS, "swbq", self._note.kind, id="kind")
            yield Choice("severity", SEVERITIES, "123", self._note.severity, id="severity")
            yield TextArea(self._note.text, soft_wrap=True, tab_behavior="focus")
            yield Static(
                "a letter chooses the kind · tab, shift+tab move · Esc closes and keeps · saved as you type",
                classes="hint",
                markup=False,
            )

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.move_cursor(area.document.end)
        if self._choose:
            self.query_one("#kind").focus()
        else:
            area.focus()

    def on_choice_chosen(self) -> None:
        self._tell()

    def on_text_area_changed(self) -> None:
        self._tell()

    def _tell(self) -> None:
        note = replace(
            self._note,
            kind=self.query_one("#kind", Choice).chosen,  # type: ignore[arg-type]
            severity=self.query_one("#severity", Choice).chosen,  # type: ignore[arg-type]
            text=self.query_one(TextArea).text,
        )
        if note != self._note:
            self._note = note
            self._changed(note)

    def action_close(self) -> None:
        self.dismiss(None)
