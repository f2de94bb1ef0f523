"""The rubric: scores typed on the keyboard, the levels in view, the total live."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from judge_tui.judging.rubric import Dimension
from judge_tui.tui.keys.bound_keys import key_for, own_bindings
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.glyphs import neutral
from judge_tui.tui.look.in_a_row import in_a_row
from judge_tui.tui.look.tones import tones_of
from judge_tui.tui.session import OVERALL, Session, letter_of
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.hollow import Hollow
from judge_tui.tui.widgets.rows import Span
from judge_tui.tui.widgets.rubric_lines import detail_lines, table_lines

__all__ = ["RubricLines", "RubricPane"]

#: What leaves a score as it stands, and does nothing else, while another one is typed over it.
_CALLS_OFF = {"back", "clear", "undo"}


class RubricLines(ScrollView, can_focus=True):
    """The table and the line in focus; keys score."""

    DEFAULT_CSS = """
    RubricLines {
        width: 1fr; height: 1fr; overflow-x: hidden; overflow-y: auto; background: $surface;
        scrollbar-gutter: stable;
        scrollbar-size: 0 1; scrollbar-color: $panel; scrollbar-background: $surface;
        scrollbar-color-hover: $secondary; scrollbar-background-hover: $surface;
        scrollbar-color-active: $secondary; scrollbar-background-active: $surface;
    }
    """

    BINDINGS: ClassVar = [
        Binding("enter", "edit", "comment"),
        Binding("w,right,l", "switch(1)", "switch A/B"),
        Binding("n", "next_unscored", "next unscored"),
        Binding("plus,equals_sign", "adjust(1)", "one more"),
        Binding("minus", "adjust(-1)", "one less"),
        Binding("left,h", "switch(-1)", "previous submission", show=False),
        Binding("j,down", "move(1)", "line down", show=False),
        Binding("k,up", "move(-1)", "line up", show=False),
        Binding("O", "row('overall')", "overall", show=False),
        Binding("S", "row('summary')", "summary", show=False),
        Binding("apostrophe", "earlier", "a comment of earlier", show=False),
        Binding("V", "verdict", "what it is as a whole", show=False),
        Binding("backspace,delete", "clear", "take the score away", show=False),
        Binding("pagedown", "scroll_detail(1)", "read on", show=False),
        Binding("pageup", "scroll_detail(-1)", "read back", show=False),
    ]

    # digits are typed, and are no keys that could be others
    BINDINGS = [
        Binding("0,1,2,3,4,5,6,7,8,9", "digit", "score", key_display="0-9"),
        *named("rubric", BINDINGS),
    ]

    class Changed(Message):
        """The session changed: a score, or what is in focus."""

    class EditAsked(Message):
        """The text of the line in focus is to be edited."""

    class EarlierAsked(Message):
        """A comment of earlier is wanted for the dimension in focus."""

    class VerdictAsked(Message):
        """What the submission in focus is as a whole is to be said."""

    def __init__(self, session: Session) -> None:
        super().__init__(id="rubric-lines")
        self.session = session
        self._lines: list[tuple[tuple[Span, ...], int | None]] = []
        self._strips: dict[int, Strip] = {}
        # what is told of a step to another submission, and where it led
        self._crossed: tuple[str, tuple[int, int]] = ("", (0, 0))

    @property
    def own_words(self) -> Mapping[str, str]:
        """Of three, the key goes on to the next: it does not switch back."""
        return {"switch(1)": "switch A/B/C"} if len(self.session.submissions) > 2 else {}

    def on_mount(self) -> None:
        self.update_lines()

    def on_resize(self) -> None:
        self.update_lines()

    def on_focus(self) -> None:
        self.update_lines()

    def on_blur(self) -> None:
        self._keep()
        self.update_lines()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_mounted:
            self.update_lines()

    def update_lines(self) -> None:
        """Say again what the session holds."""
        width = self.scrollable_content_region.width
        if width < 4:
            return
        tones = tones_of(self.app)
        edits = key_for(self, "edit")
        self._lines = table_lines(self.session, width, tones)
        self._lines += [(line, None) for line in detail_lines(self.session, width, tones, edits)]
        self._strips.clear()
        self.virtual_size = Size(0, len(self._lines))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        number = self.scroll_offset.y + y
        strip = self._strips.get(number)
        if strip is None:
            strip = self._strips[number] = self._draw(number)
        return strip

    def _draw(self, number: int) -> Strip:
        tones = tones_of(self.app)
        width = self.scrollable_content_region.width
        base = tones.text + tones.raised
        if number >= len(self._lines):
            return Strip([Segment(" " * width, base)], width)
        spans, row = self._lines[number]
        if row is not None and row == self.session.row:
            base += tones.pointed if self.has_focus else tones.pointed_blurred
        shown = [Segment(neutral(text), base + style) for text, style in spans]
        return in_a_row(shown, width, base)

    @property
    def crossed(self) -> str:
        """That another submission is scored than before the last key, which did not ask for one."""
        told, where = self._crossed
        return told if where == (self.session.scored, self.session.row) else ""

    def _changed(self, crossed: str = "") -> None:
        self._crossed = crossed, (self.session.scored, self.session.row)
        self.scroll_to(y=0, animate=False, force=True)
        self._reveal()
        self.post_message(self.Changed())

    def _reveal(self) -> None:
        line = next((n for n, (_, row) in enumerate(self._lines) if row == self.session.row), 0)
        rows = max(self.scrollable_content_region.height, 1)
        if line >= rows:
            self.scroll_to(y=line - rows + 1, animate=False, force=True)

    def on_key(self, event: events.Key) -> None:
        if self.session.typed_over is not None and self._settles(event):
            event.stop()
            event.prevent_default()
            return
        # a dimension's key wins over every other meaning of that letter while the rubric has the focus
        if event.character and self.session.focus_key(event.character):
            event.stop()
            event.prevent_default()
            self._changed()
        elif event.character and event.character in "0123456789":
            event.stop()
            event.prevent_default()
            self._type(event.character)
        elif event.character in (".", ",") and self.session.keypad.point():
            event.stop()
            event.prevent_default()
            stands = self.session.keypad.typed
            self.notify(f"A score is a whole number: {stands} stands.", markup=False, timeout=2)

    def _settles(self, event: events.Key) -> bool:
        """Whether a key decides on a score that is typed over one that stands, and does nothing else.

        One that leads elsewhere leaves the score that stands, and says so.
        """
        if event.character and event.character in "0123456789.,":
            return False
        bound = [*own_bindings(self), *own_bindings(self.screen)]
        actions = {binding.action for binding in bound if binding.key == event.key}
        if "edit" not in actions:
            self._keep()
            return bool(actions & _CALLS_OFF)
        before = self.session.score
        asked = self.session.asks_over
        self.session.take_score()
        if asked:
            self._tell_score(f"{before} → {self.session.score}")
        self._changed()
        # where what is typed is what stands there is nothing to decide
        return asked

    def _keep(self) -> None:
        """Leave the score that stands as it is; told where another one was typed."""
        session = self.session
        stands, typed, asked = session.score, session.typed_over, session.asks_over
        session.keep_score()
        if asked:
            self._tell_score(f"stays {stands}: {key_for(self, 'edit')} would have written {typed} over it")
            self._changed()

    def _tell_score(self, told: str) -> None:
        row = self.session.focus
        what = row.title if isinstance(row, Dimension) else "Overall"
        self.notify(f"{letter_of(self.session.scored)}: {what} {told}", markup=False, timeout=3)

    def _type(self, digit: str) -> None:
        """Type a digit; over a score that stands it waits for the next key."""
        session = self.session
        if session.refuses(session.scored):
            return
        if not session.digit(digit):
            typed = session.keypad.typed
            stays = f"{typed} stands" if session.typed_over is None else f"what is typed stays {typed}"
            self.notify(f"A score is 0 to 100, and whole: {stays}.", markup=False, timeout=2)
            self._changed()
            return
        if session.keypad.unfinished:
            # what it says if it is left at that
            self.set_timer(session.keypad.REST_S + 0.01, self.update_lines)
        self._changed()

    def action_digit(self) -> None:
        """Digits come through ``on_key``; the binding is there to be listed."""

    def action_adjust(self, step: int) -> None:
        self.session.adjust(step)
        self._changed()

    def action_clear(self) -> None:
        self.session.clear_score()
        self._changed()

    def action_move(self, rows: int) -> None:
        self.session.focus_row(self.session.row + rows)
        self._changed()

    def action_row(self, row: str) -> None:
        self.session.focus_row(self.session.rows.index(row))
        self._changed()

    def action_switch(self, step: int) -> None:
        self.session.switch(step)
        self._changed()

    def action_next_unscored(self) -> None:
        session, before = self.session, self.session.scored
        if session.next_unscored():
            crossed = ""
            if session.scored != before:
                left = sum(session.changes[before].score(d.id) is None for d in session.rubric.dimensions)
                how = f"has {left} open" if left else "is complete"
                crossed = f"{letter_of(before)} {how}: now {letter_of(session.scored)}"
            self._changed(crossed)
        else:
            key = key_for(self.screen, "matchup")
            self.notify(f"Every dimension of every submission is scored: {key} says who wins.", markup=False)

    def action_earlier(self) -> None:
        self._keep()
        self.post_message(self.EarlierAsked())

    def action_verdict(self) -> None:
        self._keep()
        self.post_message(self.VerdictAsked())

    def action_edit(self) -> None:
        self.post_message(self.EditAsked())

    def action_scroll_detail(self, pages: int) -> None:
        step = max(self.scrollable_content_region.height - 2, 1)
        self.scroll_to(y=self.scroll_offset.y + pages * step, animate=False, force=True)

    def on_click(self, event: events.Click) -> None:
        self._keep()
        line = self.scroll_offset.y + event.y
        row = self._lines[line][1] if line < len(self._lines) else None
        if row is not None:
            self.session.focus_row(row)
            count = len(self.session.submissions)
            column = (event.x - (self.scrollable_content_region.width - 5 * count)) // 5
            if 0 <= column < count:
                self.session.scored = column
            self._changed()


class RubricPane(Hollow, Vertical):
    """Title, table, detail."""

    # what is dragged here is a border
    ALLOW_SELECT = False

    DEFAULT_CSS = """
    RubricPane { width: 44; background: $surface; border-left: solid $border; }
    RubricPane Bar.-title { background: $panel; }
    """

    def __init__(self, session: Session) -> None:
        super().__init__(id="rubric")
        self.session = session
        self.lines = RubricLines(session)
        self.title_bar = Bar(classes="-title")

    def compose(self) -> ComposeResult:
        yield self.title_bar
        yield self.lines

    def on_mount(self) -> None:
        self.retitle()

    def update_lines(self) -> None:
        """Say again what the session holds."""
        self.lines.update_lines()
        self.retitle()

    def retitle(self) -> None:
        """Refresh the title."""
        session = self.session
        index = session.scored
        points = session.points(index)
        done = sum(session.card.score(d.id) is not None for d in session.rubric.dimensions)
        total = f"{points} {session.rubric.letter(points)} " if points is not None else ""
        crossed = self.lines.crossed
        over = f"{session.score} → {session.typed_over}" if session.asks_over else ""
        self.title_bar.tell(
            [
                (" Rubric  ", "strong" if self.lines.has_focus else "muted", 0),
                # digits go to another submission now
                (f"{crossed} ", "warning", 0) if crossed else (f"{letter_of(index)} ", "primary", 0),
                (f"{over} " if over else "", "warning", 0),
                (f"{session.titles[index]} ", "text", 1),
                ("blind " if session.blindfold.active else "", "accent", 1),
                ("read-only " if index in session.closed else "", "warning", 0),
            ],
            [(total, "success", 1), (f"{done}/{len(session.rubric.dimensions)} ", "muted", 2)],
        )

    def on_descendant_focus(self) -> None:
        self.retitle()

    def on_descendant_blur(self) -> None:
        self.retitle()


def focus_title(session: Session) -> str:
    """What the text of the line in focus is called."""
    row = session.focus
    if isinstance(row, Dimension):
        return f"Comment on {row.title}"
    return "Reason for the overall score" if row == OVERALL else "Summary"
