"""The editor for a note: kind, severity, text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import TextArea

from judge_tui.judging.note import KINDS, SEVERITIES, Note
from judge_tui.tui.keys.bound_keys import key_for, own_bindings
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.harmless import box_title
from judge_tui.tui.look.tones import tones_of
from judge_tui.tui.screens.dialog import Editor
from judge_tui.tui.textual_private.prose_area import ProseArea

__all__ = ["NoteEditor"]

_LABEL = 10


class Choice(Widget, can_focus=True):
    """One of a few words, chosen by its letter, its number or the arrows."""

    DEFAULT_CSS = "Choice { height: 1; width: 1fr; }"

    BINDINGS: ClassVar = [
        Binding("left", "step(-1)", "choice before", show=False),
        Binding("right", "step(1)", "choice behind", show=False),
        Binding("enter", "text", "on to the text", show=False),
    ]

    BINDINGS = named("note", BINDINGS)

    #: What is chosen, and among which words.
    label: ClassVar = ""
    words: ClassVar[Sequence[str]] = ()

    class Chosen(Message):
        """A word was chosen."""

        def __init__(self, choice: Choice) -> None:
            super().__init__()
            self.choice = choice

    def __init__(self, chosen: str) -> None:
        super().__init__(id=self.label)
        self.chosen = chosen

    def choose(self, word: str) -> None:
        """Take another word, and tell it."""
        self.chosen = word
        self.refresh()
        self.post_message(self.Chosen(self))

    def action_step(self, step: int) -> None:
        self.choose(self.words[(self.words.index(self.chosen) + step) % len(self.words)])

    def action_choose(self, word: str) -> None:
        self.choose(word)
        self.action_text()

    def action_text(self) -> None:
        self.screen.set_focus(self.screen.query_one(TextArea))

    def on_key(self, event: events.Key) -> None:
        # what chooses nothing begins the text: a judge who writes at once loses no letter
        bound = {binding.key for binding in own_bindings(self)}
        beside = self.screen.query_one("#severity", Choice)
        if self is not beside and (word := beside.called(event.key)) is not None:
            event.stop()
            event.prevent_default()
            beside.choose(word)
            return
        if event.is_printable and event.character and event.key not in bound:
            event.stop()
            event.prevent_default()
            self.action_text()
            self.screen.query_one(TextArea).insert(event.character.lstrip())

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.action_text()
        # whole: its first letter chooses nothing, and its first line may be indented
        self.screen.query_one(TextArea).insert(event.text)

    def called(self, key: str) -> str | None:
        """The word that a key chooses."""
        actions = {binding.action for binding in own_bindings(self) if binding.key == key}
        return next((word for word in self.words if f"choose('{word}')" in actions), None)

    def _labels(self) -> list[tuple[str, str]]:
        """Key and word of each choice, from the first on that leaves room for the chosen one."""
        labels = [(key_for(self, f"choose('{word}')"), word) for word in self.words]
        before = self.words.index(self.chosen)
        while before and _LABEL + sum(map(_width, labels[: before + 1])) > self.size.width:
            labels, before = labels[1:], before - 1
        return labels

    def on_click(self, event: events.Click) -> None:
        end = _LABEL
        for key, word in self._labels():
            begin, end = end, end + _width((key, word))
            if begin <= event.x < end:
                self.choose(word)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:
        tones = tones_of(self.app)
        base = self.rich_style
        segments = [
            Segment(f"{self.label:<{_LABEL}}", base + (tones.text if self.has_focus else tones.muted))
        ]
        for key, word in self._labels():
            here = word == self.chosen
            ground = tones.cursor if here and self.has_focus else tones.cursor_blurred if here else base
            segments += [
                # not by colour alone
                Segment(f"{'▸' if here else ' '}{key} ", base + ground + tones.by_name["accent"]),
                Segment(f"{word} ", base + ground + (tones.strong if here else tones.muted)),
                Segment(" ", base),
            ]
        return Strip(segments).adjust_cell_length(self.size.width, base)


def _width(label: tuple[str, str]) -> int:
    """Columns of a choice with its marker and the blanks between."""
    return sum(map(len, label)) + 4


class Kind(Choice):
    """What a note is."""

    BINDINGS: ClassVar = named(
        "note", [Binding(word[0], f"choose('{word}')", word, show=False) for word in KINDS]
    )
    label, words = "kind", KINDS


class Severity(Choice):
    """How much a note weighs."""

    BINDINGS: ClassVar = named(
        "note",
        [Binding(str(n), f"choose('{word}')", word, show=False) for n, word in enumerate(SEVERITIES, 1)],
    )
    label, words = "severity", SEVERITIES


class NoteEditor(Editor):
    """A note; every change of it is told at once, so that closing cannot lose it.

    Args:
        title: Where the note stands.
        note: Its present state.
        changed: Told each new state; one with an empty text is to be dropped.
        choose_kind: Begin with the kind, as for a new note.
    """

    def __init__(self, title: str, note: Note, changed: Callable[[Note], None], *, choose_kind: bool) -> None:
        super().__init__()
        self._title, self._note, self._changed, self._choose = title, note, changed, choose_kind

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = box_title(self._title)
            # in the order in which they are typed: a digit, a letter, the text
            yield Severity(self._note.severity)
            yield Kind(self._note.kind)
            yield ProseArea(self._note.text)
            yield self.hint(
                f"1–3 severity, a letter for the kind, then the text · {self.moves} move · {self.closes}"
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
        # a choice gives one of its words, which are those of a note
        note = replace(
            self._note,
            kind=self.query_one("#kind", Choice).chosen,  # type: ignore[arg-type]
            severity=self.query_one("#severity", Choice).chosen,  # type: ignore[arg-type]
            text=self.query_one(TextArea).text,
        )
        if note != self._note:
            self._note = note
            self._changed(note)
