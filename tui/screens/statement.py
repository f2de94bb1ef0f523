"""What a task asks for, in words: the challenge as whoever answered it was asked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import ClassVar

from textual.binding import Binding
from textual.screen import Screen

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.lines import split_lines
from judge_tui.judging.challenges.found import CHALLENGES
from judge_tui.judging.challenges.outline import STATEMENT, statement
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.fitting import wrapped
from judge_tui.tui.look.glyphs import neutral
from judge_tui.tui.look.tones import Tones, tones_of
from judge_tui.tui.screens.sheet import Sheet
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.rows import Rows, Span

__all__ = ["StatementScreen", "show_statement"]

#: A line of prose is not longer, however wide the screen is.
_READABLE = 100
_FENCES = ("```", "~~~")


class _Lines(Rows):
    lines: Sequence[Sequence[Span]] = ()

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        return self.lines[key] if isinstance(key, int) and key < len(self.lines) else ()


class StatementScreen(Sheet[None]):
    """A text to be read.

    Args:
        title: The task's.
        text: Markdown; empty where nobody wrote any.
        place: Where it would be written.
    """

    BINDINGS: ClassVar = named("statement", [Binding("escape,q", "close", "back")])
    title_of_keys = "What a task asks for"
    rows: _Lines

    def __init__(self, title: str, text: str, place: str) -> None:
        super().__init__()
        self._title, self._text, self._place = title, text, place
        self.rows = _Lines()

    def on_mount(self) -> None:
        self.hint(((key_for(self, "close"), "back"),))
        self.query_one(Bar).tell([(" What it asks for ", "primary", 0), (f"{self._title} ", "strong", 1)], [])
        self.rows.focus()
        self._fill()

    def on_resize(self) -> None:
        self._fill()

    def _fill(self) -> None:
        tones = tones_of(self.app)
        width = min(max(self.size.width - 3, 20), _READABLE)
        if self._text.strip():
            lines = list(_lines(self._text, width, tones))
        else:
            told = f"Nothing is written of it. Its place is {self._place}."
            lines = [((f" {line}", tones.muted),) for line in wrapped(told, width)]
        self.rows.lines = lines
        self.rows.show(range(len(lines)))


def show_statement(
    screen: Screen[None], workspace: Workspace, task: str, hide: Callable[[str], str] = str
) -> None:
    """Show what a task asks for above a screen.

    Args:
        screen: The screen.
        workspace: Whose task it is.
        task: Its id.
        hide: Takes names out of a text, where they are hidden.
    """
    try:
        title = workspace.rubric(task).title
    except JudgeError:
        title = task
    # a comparison that shows no statement pays nothing for it
    from judge_tui.tui.look.formulas import readable

    place = workspace.root / CHALLENGES / task / STATEMENT
    # a name may stand in a formula, and come about where one is read
    text = hide(readable(hide(statement(workspace.root, task))))
    screen.app.push_screen(StatementScreen(hide(title), text, str(place)))


def _lines(text: str, width: int, tones: Tones) -> Iterator[Sequence[Span]]:
    """Lines of Markdown: headings told apart, prose wrapped, code as it is."""
    fenced = False
    for line in split_lines(text.expandtabs(4)):
        if line.lstrip().startswith(_FENCES):
            fenced = not fenced
            yield ()
        elif fenced or line.startswith(("    ", "|")):
            yield ((f" {neutral(line)}", tones.by_name["secondary"]),)
        elif line.startswith("#"):
            yield from (((f" {part}", tones.strong),) for part in wrapped(line.lstrip("#").strip(), width))
        else:
            yield from (((f" {part}", tones.text),) for part in wrapped(line, width))
