"""The editor for a note: its text; kind and severity are chosen by keys that no text begins with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from msgspec.structs import replace
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
#: Letters of a word that stand for it where room is short.
_SHORT = 3
#: A part of a line: its text, its tone, and the word that a click on it chooses.
_Part = tuple[str, str, str | None]
#: Keys that choose.
_KEYS = {
    word: f"f{number}"
    for number, word in enumerate(
        ("strength", "weakness", "bug", "question", "minor", "major", "critical"), 2
    )
}


class Choice(Widget, can_focus=True):
    """One of a few words, chosen by its key from wherever the focus is, or here by the arrows."""

    DEFAULT_CSS = "Choice { height: 1; width: 1fr; }"

    BINDINGS: ClassVar = [
        Binding("left", "step(-1)", "choice before", show=False),
        Binding("right", "step(1)", "choice behind", show=False),
        Binding("enter", "text", "on to the text", show=False),
    ]

    BINDINGS = named("note", BINDINGS)

    #: What is chosen, and among which words; idle where nothing can be.
    idle = False
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

    def action_text(self) -> None:
        self.screen.set_focus(self.screen.query_one(TextArea))

    def on_key(self, event: events.Key) -> None:
        # what chooses nothing begins the text: a judge who writes at once loses no letter
        bound = {binding.key for node in (self, self.screen) for binding in own_bindings(node)}
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

    def _parts(self) -> list[_Part]:
        """All words with their keys; where room is short the chosen one first, or it and the keys alone."""
        keys = {word: key_for(self.screen, f"choose('{word}')") for word in self.words}
        whole: list[_Part] = [(f"{self.label:<{_LABEL}}", "label", None)]
        short: list[_Part] = []
        for word, key in keys.items():
            whole += self._choice(key, word, word)
            short += self._choice(key, word, word if word == self.chosen else word[:_SHORT])
        bare: list[_Part] = [(f"▸{self.chosen} ", "chosen", None)]
        bare += [(f" {key}", "key", word) for word, key in keys.items()]
        return next((parts for parts in (whole, short) if _width(parts) <= self.size.width), bare)

    def _choice(self, key: str, word: str, shown: str) -> list[_Part]:
        """A word with its key; that it is chosen is not said by colour alone."""
        here = word == self.chosen
        return [
            (f"{'▸' if here else ' '}{key} ", "chosen key" if here else "key", word),
            (f"{shown} ", "chosen" if here else "word", word),
        ]

    def on_click(self, event: events.Click) -> None:
        end = 0
        for text, _, word in self._parts():
            begin, end = end, end + len(text)
            if begin <= event.x < end and word is not None:
                self.choose(word)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:
        tones, base = tones_of(self.app), self.rich_style
        accent, here = tones.by_name["accent"], tones.cursor if self.has_focus else tones.cursor_blurred
        styles = {
            "label": base + (tones.text if self.has_focus else tones.muted),
            "key": base + accent,
            "word": base + tones.muted,
            "chosen key": base + here + accent,
            "chosen": base + here + tones.strong,
        }
        segments = [Segment(text, styles[tone]) for text, tone, _ in self._parts()]
        return Strip(segments).adjust_cell_length(self.size.width, base)


def _width(parts: Sequence[_Part]) -> int:
    return sum(len(text) for text, _, _ in parts)


class Kind(Choice):
    """What a note is."""

    label, words = "kind", KINDS


class Severity(Choice):
    """How much a note weighs; a strength weighs nothing, and what was chosen before it became one is kept."""

    label, words = "severity", SEVERITIES

    def __init__(self, chosen: str, kind: str) -> None:
        super().__init__(chosen)
        self.tell_kind(kind)

    def tell_kind(self, kind: str) -> None:
        """Take in what the note is now."""
        self.idle = kind == "strength"
        self.can_focus = not self.idle
        self.refresh()

    def _parts(self) -> list[_Part]:
        none: list[_Part] = [(f"{self.label:<{_LABEL}}", "label", None), (" none: a strength", "word", None)]
        return none if self.idle else super()._parts()


class NoteArea(ProseArea):
    """The text of a note: what it types is text, any other key may choose kind and severity."""

    async def on_key(self, event: events.Key) -> None:
        chosen = [one.action for one in own_bindings(self.screen) if one.key == event.key]
        # before the keys of the text field itself, of which some select lines
        if not event.is_printable and any(action.startswith("choose(") for action in chosen):
            event.stop()
            event.prevent_default()
            await self.run_action(f"screen.{chosen[0]}")


class NoteEditor(Editor):
    """A note; every change of it is told at once, so that closing cannot lose it.

    Args:
        title: Where the note stands.
        note: Its present state.
        changed: Told each new state; one with an empty text is to be dropped.
    """

    BINDINGS: ClassVar = named(
        "note", [Binding(key, f"choose('{word}')", word, show=False) for word, key in _KEYS.items()]
    )

    def __init__(self, title: str, note: Note, changed: Callable[[Note], None]) -> None:
        super().__init__()
        self._title, self._note, self._changed = title, note, changed

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = box_title(self._title)
            yield Kind(self._note.kind)
            yield Severity(self._note.severity, self._note.kind)
            yield NoteArea(self._note.text)
            yield self.hint(f"{self.moves} move · {self.closes}")

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.move_cursor(area.document.end)
        area.focus()

    def action_choose(self, word: str) -> None:
        """Choose a kind or a severity, and go on with the text."""
        for choice in self.query(Choice):
            if word in choice.words and not choice.idle:
                choice.choose(word)
        self.query_one(TextArea).focus()

    def on_choice_chosen(self) -> None:
        self.query_one(Severity).tell_kind(self.query_one(Kind).chosen)
        self._tell()

    def on_text_area_changed(self) -> None:
        self._tell()

    def _tell(self) -> None:
        # a choice gives one of its words, which are those of a note
        note = replace(
            self._note,
            kind=self.query_one("#kind", Choice).chosen,
            severity=self.query_one("#severity", Choice).chosen,
            text=self.query_one(TextArea).text,
        )
        if note != self._note:
            self._note = note
            self._changed(note)
