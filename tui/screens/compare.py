"""The comparison: code side by side, the rubric at the right, the checks below."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal

from judge_tui.tui.desk.autosave import SaveReport
from judge_tui.tui.engine.check_runner import EngineOptions
from judge_tui.tui.keys.bound_keys import KeyPart
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.keys.personal import PersonalApp
from judge_tui.tui.keys.type_ahead import TypeAhead
from judge_tui.tui.look.layout import Sizes
from judge_tui.tui.past import Past
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.screens.comparing.parts import Parts
from judge_tui.tui.screens.comparing.saving import ComparisonLeft, SaveReported
from judge_tui.tui.session import Session
from judge_tui.tui.textual_private.covered import CoveredScreen
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.checks_pane import CheckRows, ChecksPane
from judge_tui.tui.widgets.code_view import CodeView
from judge_tui.tui.widgets.hollow import Hollow
from judge_tui.tui.widgets.key_hints import KeyHints
from judge_tui.tui.widgets.rows import Rows
from judge_tui.tui.widgets.rubric_pane import RubricPane

if TYPE_CHECKING:
    from judge_tui.tui.widgets.code_pane import CodePane
    from judge_tui.tui.widgets.search_bar import SearchBar

__all__ = ["CompareScreen"]

#: Seconds between two looks whether the code is on the screen, and how long the checks wait for it.
_LOOK_S, _PATIENCE_S = 0.05, 6.0
#: Seconds between two looks at what the engine has told.
_TICK_S = 0.12


class Body(Hollow, Horizontal):
    """Code and rubric, side by side."""


class CompareScreen(CoveredScreen[None]):
    """Everything in view, and what the keys do to it; each part of that is an object of its own.

    Args:
        session: What is compared and said.
        options: How the engine is asked.
        clock: Formats a moment for the header; tests pin it.
        sizes: How large the parts were left.
    """

    # one blank line for all: it lies behind every line of code that scrolls
    BLANK = True

    BINDINGS: ClassVar = [
        Binding("escape", "back", "back to the code", show=False),
        Binding("tab", "pane(1)", "next pane", show=False),
        Binding("shift+tab", "pane(-1)", "previous pane", show=False),
        *(Binding(letter, f"code({n})", f"code pane {letter}", show=False) for n, letter in enumerate("ABC")),
        Binding("s", "score", "score"),
        Binding("c", "checks", "checks"),
        Binding("a", "note", "note on the lines"),
        Binding("L", "notes", "notes"),
        Binding("M", "matchup", "matchup"),
        Binding("slash", "search", "search"),
        Binding("f", "files", "files"),
        Binding("o", "symbols", "symbols"),
        Binding("full_stop", "file(1)", "next file", show=False),
        Binding("comma", "file(-1)", "previous file", show=False),
        Binding("u", "undo", "undo"),
        Binding("ctrl+r", "redo", "redo", show=False),
        Binding("z,f8", "zoom", "zoom this part"),
        Binding("y,f6", "sync", "move together: by line, by function", show=False),
        Binding("d", "diff", "differences of this function", show=False),
        Binding("f2", "show_part('rubric')", "rubric on/off", show=False),
        Binding("f3", "show_part('checks')", "checks on/off", show=False),
        Binding("f4", "show_part('sidebars')", "files and symbols on/off", show=False),
        Binding("f5,t", "alone", "one code pane at a time", show=False),
        Binding("X", "grow(1)", "this part larger", show=False),
        Binding("T", "grow(-1)", "this part smaller", show=False),
        Binding("H", "even", "all sizes back", show=False),
        Binding("exclamation_mark", "settle", "settle a conflict of two windows", show=False),
        Binding("ctrl+s", "save", "save now", show=False),
        Binding("R", "report", "report", show=False),
        Binding("I", "statement", "what the task asks for", show=False),
        Binding("W", "export", "export the scoreboard", show=False),
        Binding("f9", "reveal", "reveal the names of a blind comparison", show=False),
        Binding("ctrl+z", "app.suspend_process", "to the shell (fg comes back)", show=False),
        Binding("question_mark,f1", "help", "help"),
        Binding("q", "quit", "quit"),
    ]

    BINDINGS = named("everywhere", BINDINGS)

    DEFAULT_CSS = """
    CompareScreen { layout: vertical; background: $background; }
    CompareScreen #body { height: 1fr; }
    """

    def __init__(
        self,
        session: Session,
        options: EngineOptions,
        clock: Callable[[float], str] | None = None,
        sizes: Sizes | None = None,
    ) -> None:
        super().__init__()
        self.session, self.options = session, options
        self.panes = Panes(session)
        # asked for by name, they would be missed while the screen is taken down
        self.header_bar, self.key_hints = Bar(id="header"), KeyHints(id="hints")
        self.rubric_pane = RubricPane(session)
        models = [submission.model for submission in session.submissions]
        self.checks_pane = ChecksPane(models, session.outcomes, session.hide, lambda: session.titles)
        self.parts = Parts(
            self,
            session,
            options,
            panes=self.panes,
            rubric=self.rubric_pane,
            checks=self.checks_pane,
            header=self.header_bar,
            hints=self.key_hints,
            clock=clock or (lambda at: time.strftime("%H:%M:%S", time.localtime(at))),
            sizes=sizes or Sizes(),
        )
        self.runner = self.parts.checks.runner

    def compose(self) -> ComposeResult:
        yield self.header_bar
        with Body(id="body"):
            yield from self.panes
            yield self.rubric_pane
        yield self.checks_pane
        yield self.key_hints

    def on_mount(self) -> None:
        self.parts.blind.cover()
        self.session.refused = self.parts.saving.tell_refused
        self.panes[0].view.focus()
        self.parts.layout.arrange()
        if isinstance(self.app, PersonalApp):
            self.app.tell_hidden_keys({d.key: d.title for d in self.session.rubric.dimensions if d.key})
        self.parts.retell()
        # the code is on screen first; the engine and the stored verdicts come behind it
        self._begin_by = time.monotonic() + _PATIENCE_S
        self.set_timer(_LOOK_S, self._begin)

    def _begin(self) -> None:
        from judge_tui.tui.warming import warm

        if self._busy and time.monotonic() < self._begin_by:
            self.set_timer(_LOOK_S, self._begin)
            return
        self.parts.begin()
        self.set_interval(_TICK_S, self.parts.tick)
        warm(self.app)

    @property
    def _busy(self) -> bool:
        """Whether a key has its effect, or megabytes are read: to look at many files would hold that up."""
        typing = isinstance(self.app, TypeAhead) and self.app.typing
        return typing or not all(pane.settled for pane in self.panes)

    def on_unmount(self) -> None:
        self.parts.end()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.parts.take_focus(event.widget)

    def on_code_pane_loaded(self, event: CodePane.Loaded) -> None:
        self.parts.take_file(event.pane)

    # parts

    def on_resize(self) -> None:
        self.parts.layout.arrange()

    def action_code(self, index: int) -> None:
        if index < len(self.panes):
            self.parts.layout.focus_code(index)

    def action_score(self) -> None:
        self.parts.layout.focus_rubric()

    def action_checks(self) -> None:
        self.parts.layout.focus_checks()

    def action_back(self) -> None:
        self.parts.layout.back()

    def action_pane(self, step: int) -> None:
        self.parts.layout.step(step)

    def action_show_part(self, part: str) -> None:
        self.parts.layout.show_or_hide(part)

    def action_alone(self) -> None:
        self.parts.layout.alone()

    def action_zoom(self) -> None:
        self.parts.layout.zoom()

    def action_grow(self, steps: int) -> None:
        self.parts.sizing.grow(steps)

    def action_even(self) -> None:
        self.parts.sizing.even()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.parts.sizing.press(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self.parts.sizing.move(event)

    def on_mouse_up(self) -> None:
        self.parts.sizing.let_go()

    def on_mouse_release(self) -> None:
        self.parts.sizing.lose_mouse()

    def whereabouts(self) -> Past:
        """Where the reader is."""
        from judge_tui.tui.screens.comparing.whereabouts import whereabouts

        return whereabouts(self.session, self.panes, self.parts.layout)

    def resume(self, past: Past) -> None:
        """Go to where the reader was."""
        from judge_tui.tui.screens.comparing.whereabouts import resume

        resume(past, self.panes, self.parts.layout)

    # files

    def action_files(self) -> None:
        self.parts.files.choose()

    def action_symbols(self) -> None:
        self.parts.files.choose_symbol()

    def action_file(self, step: int) -> None:
        self.parts.files.step(step)

    # moving through the code

    def action_sync(self) -> None:
        self.parts.sync.next_way()

    def action_diff(self) -> None:
        from judge_tui.tui.screens.comparing.diffing import show_diff

        show_diff(self, self.panes, self.parts.sync)

    def action_search(self) -> None:
        self.parts.search.begin()

    def on_search_bar_changed(self, event: SearchBar.Changed) -> None:
        self.parts.search.typed(event)

    def on_search_bar_closed(self, event: SearchBar.Closed) -> None:
        self.parts.search.close(event)

    def on_code_view_no_hit(self, event: CodeView.NoHit) -> None:
        self.parts.search.go_on(event)

    def on_code_view_search_cleared(self) -> None:
        self.parts.search.clear()

    def action_back_to(self) -> None:
        self.parts.places.back()

    def action_forward_to(self) -> None:
        self.parts.places.forward()

    def action_line(self) -> None:
        self.parts.places.ask_line()

    def action_definition(self) -> None:
        self.parts.definitions.go()

    def action_bookmark(self) -> None:
        self.parts.bookmarks.toggle()

    def action_bookmark_step(self, step: int) -> None:
        self.parts.bookmarks.step(step)

    def action_bookmarks(self) -> None:
        self.parts.bookmarks.choose()

    def on_code_view_mark_opened(self, event: CodeView.MarkOpened) -> None:
        self.parts.notes.open_mark(event)

    def action_note(self) -> None:
        self.parts.notes.write()

    def action_notes(self) -> None:
        self.parts.notes.list_all()

    def action_note_step(self, step: int) -> None:
        self.parts.marks.step_note(step)

    def action_finding_step(self, step: int) -> None:
        self.parts.marks.step_finding(step)

    # rubric

    def on_rubric_lines_changed(self) -> None:
        self.parts.take_score()

    def on_rubric_lines_edit_asked(self) -> None:
        self.parts.scoring.edit()

    def on_rubric_lines_earlier_asked(self) -> None:
        self.parts.scoring.offer_earlier()

    def on_rubric_lines_verdict_asked(self) -> None:
        self.parts.scoring.ask_verdict()

    def action_undo(self) -> None:
        self.parts.scoring.undo()

    def action_redo(self) -> None:
        self.parts.scoring.redo()

    def action_matchup(self) -> None:
        self.parts.matchups.open()

    def action_reveal(self) -> None:
        self.parts.blind.ask()

    # checks

    def on_check_rows_asked(self, event: CheckRows.Asked) -> None:
        self.parts.check_actions.answer(event.what, event.key)

    def on_rows_opened(self, event: Rows.Opened) -> None:
        if event.rows is self.checks_pane.rows and isinstance(event.key, tuple):
            self.parts.check_actions.show_evidence(event.key)

    # saving and leaving

    def tell_saved(self, report: SaveReport) -> None:
        """A save was attempted; may be told in any thread."""
        self.post_message(SaveReported(report))

    def on_save_reported(self, message: SaveReported) -> None:
        self.parts.saving.take(message.report)

    def action_save(self) -> None:
        self.parts.saving.save()

    def action_settle(self) -> None:
        self.parts.conflicts.settle(lambda: None)

    @property
    def own_words(self) -> Mapping[str, str]:
        """Where Home has opened the comparison, leaving it leads there."""
        return {} if getattr(self.app, "home", None) is None else {"quit": "back to Home"}

    async def leave_by(self, way: Callable[[], object]) -> None:
        """Leave in some way once everything is kept, or the judge says that it may be lost."""
        from judge_tui.tui.screens.comparing.leaving import leave

        await leave(self, self.session, self.parts.saving, self.parts.placing, way)

    async def action_quit(self) -> None:
        await self.leave_by(self._leave)

    def _leave(self) -> None:
        self.runner.kill()
        self.post_message(ComparisonLeft())

    # documents, and help

    def action_export(self) -> None:
        from judge_tui.tui.screens.comparing.exporting import export

        export(self, self.session)

    def action_statement(self) -> None:
        from judge_tui.tui.screens.statement import show_statement

        show_statement(self, self.session.workspace, self.session.task, self.session.hide)

    def action_report(self) -> None:
        from judge_tui.tui.screens.comparing.exporting import report

        report(self, self.session, self.parts.places)

    def action_help(self) -> None:
        from judge_tui.tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen(self.key_parts()))

    def key_parts(self) -> Sequence[KeyPart]:
        """What answers to keys here, the part in focus first."""
        return self.parts.hints.key_parts()
