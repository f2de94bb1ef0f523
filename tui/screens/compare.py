"""The comparison: code side by side, the rubric at the right, the checks below."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal

from judge_tui.checks.events import Ready
from judge_tui.tui.engine.check_runner import CheckRunner, EngineOptions
from judge_tui.tui.keys.bound_keys import KeyPart, key_for, keys_for, listed, own_bindings
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.keys.personal import PersonalApp
from judge_tui.tui.look.layout import Sizes
from judge_tui.tui.past import Past
from judge_tui.tui.screens.compare_blind import CompareBlind
from judge_tui.tui.screens.compare_checks import CompareChecks
from judge_tui.tui.screens.compare_exporting import CompareExporting
from judge_tui.tui.screens.compare_matchup import CompareMatchup
from judge_tui.tui.screens.compare_notes import CompareNotes
from judge_tui.tui.screens.compare_saving import CompareSaving
from judge_tui.tui.screens.compare_watching import CompareWatching
from judge_tui.tui.screens.comparing.bookmarking import Bookmarking
from judge_tui.tui.screens.comparing.definitions import Definitions
from judge_tui.tui.screens.comparing.diffing import Diffing
from judge_tui.tui.screens.comparing.files import Files
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.screens.comparing.parts import Parts
from judge_tui.tui.screens.comparing.places import Places
from judge_tui.tui.screens.comparing.search import Search
from judge_tui.tui.screens.comparing.sizing import Sizing
from judge_tui.tui.screens.comparing.sync import Sync
from judge_tui.tui.screens.comparing.whereabouts import resume, whereabouts
from judge_tui.tui.screens.earlier_work import told_of_damage, told_of_earlier_work, told_of_newer_work
from judge_tui.tui.screens.signs import CHECK_SIGNS, CODE_SIGNS, RUBRIC_SIGNS
from judge_tui.tui.screens.undoing import undo_cards
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.textual_private.covered import CoveredScreen
from judge_tui.tui.widgets.bar import Bar, Part, judge_parts
from judge_tui.tui.widgets.checks_pane import ChecksPane
from judge_tui.tui.widgets.code_pane import CodePane
from judge_tui.tui.widgets.code_view import CodeView
from judge_tui.tui.widgets.hollow import Hollow
from judge_tui.tui.widgets.key_hints import Hint, KeyHints
from judge_tui.tui.widgets.rubric_pane import RubricLines, RubricPane, focus_title

if TYPE_CHECKING:
    from judge_tui.tui.widgets.search_bar import SearchBar

__all__ = ["CompareScreen"]

#: Seconds between two looks whether the code is on the screen, and how long the checks wait for it.
_LOOK_S, _PATIENCE_S = 0.05, 6.0


class Body(Hollow, Horizontal):
    """Code and rubric, side by side."""


class CompareScreen(
    CompareMatchup,
    CompareNotes,
    CompareChecks,
    CompareSaving,
    CompareExporting,
    CompareBlind,
    CompareWatching,
    CoveredScreen[None],
):
    """Everything in view, and what the keys do to it.

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
    CompareScreen.-searching ToastRack { margin-bottom: 2; }
    """

    def __init__(
        self,
        session: Session,
        options: EngineOptions,
        clock: Callable[[float], str] | None = None,
        sizes: Sizes | None = None,
    ) -> None:
        super().__init__()
        self.session = session
        self.options = options
        self.panes = Panes(
            [
                CodePane(submission, index, session.titles[index], session.hide)
                for index, submission in enumerate(session.submissions)
            ]
        )
        # asked for by name, they would be missed while the screen is taken down
        self.header, self.hints = Bar(id="header"), KeyHints(id="hints")
        self.rubric_pane = RubricPane(session)
        self.checks_pane = ChecksPane([s.model for s in session.submissions], session.hide)
        self.runner = CheckRunner(session.submissions, options, self._on_event, self._on_ended)
        self.parts = Parts(
            self, session, self.panes, self.rubric_pane, self.checks_pane, sizes or Sizes(), self._hint
        )
        self.sizing = Sizing(self, self.parts, self.panes, self.rubric_pane, self.checks_pane)
        self.files = Files(self, self.panes)
        self.sync = Sync(self, self.panes)
        self.diffing = Diffing(self, self.panes, self.sync)
        self.searching = Search(self, self.panes, self.sync)
        self.places = Places(self, session, self.panes, self.parts.focus_code)
        self.definitions = Definitions(self, self.panes)
        self.bookmarks = Bookmarking(self, self.panes, self.places)
        self._clock = clock or (lambda at: time.strftime("%H:%M:%S", time.localtime(at)))
        self._ready: Ready | None = None
        self._saved = ""
        self._conflicts: set[int] = set()
        self._failed: dict[int, str] = {}
        self._stale = False

    def compose(self) -> ComposeResult:
        yield self.header
        with Body(id="body"):
            yield from self.panes
            yield self.rubric_pane
        yield self.checks_pane
        yield self.hints

    def on_mount(self) -> None:
        self.cover_names()
        self.session.refused = self._tell_refused
        self.prepare_placing()
        self.panes[0].view.focus()
        self.parts.arrange()
        if isinstance(self.app, PersonalApp):
            self.app.tell_hidden_keys({d.key: d.title for d in self.session.rubric.dimensions if d.key})
        self.retell()
        # the code is on screen first; the engine and the stored verdicts come behind it
        self._begin_by = time.monotonic() + _PATIENCE_S
        self.set_timer(_LOOK_S, self._begin)

    def _begin(self) -> None:
        if not all(pane.settled for pane in self.panes) and time.monotonic() < self._begin_by:
            # a file of megabytes is being read: what looks at many files beside that would hold up the screen
            self.set_timer(_LOOK_S, self._begin)
            return
        self._load_stored()
        self.runner.start()
        self.checks_pane.active = self.runner.active
        self.set_interval(0.12, self._tick)
        self.begin_watching()
        self.session.save_restored()
        for index in self.session.restored:
            told = told_of_earlier_work(
                self.session.earlier_runs[index],
                "scorecard",
                behind=index in self.session.behind,
                undo=key_for(self, "undo"),
                settle=key_for(self, "settle"),
            )
            self.notify(f"{letter_of(index)}: {told}", markup=False, timeout=10)
        for index, place in self.session.damaged:
            told = f"{letter_of(index)}: {told_of_damage(place)}"
            self.notify(told, severity="warning", markup=False, timeout=20)
        for index, place in self.session.newer:
            told = f"{letter_of(index)}: {told_of_newer_work(place)}"
            self.notify(told, severity="warning", markup=False, timeout=20)
        for index in self.session.closed:
            self.session.refuses(index)
        for index in self.session.waiting:
            told = f"{letter_of(index)}: Unsaved work of an earlier run is kept until then."
            self.notify(told, severity="warning", markup=False, timeout=10)
        for index, stray in self.session.strays():
            told = f"{letter_of(index)}: {self.session.hide(stray)}"
            self.notify(told, severity="warning", markup=False, timeout=10)
        self.tell_known()
        self.rubric_pane.update_lines()

    def _tell_refused(self, index: int, why: str) -> None:
        told = f"{letter_of(index)}: {self.session.hide(why)}"
        self.notify(told, severity="warning", markup=False, timeout=8)

    # parts

    def on_resize(self) -> None:
        self.parts.arrange()

    def action_code(self, index: int) -> None:
        if index < len(self.panes):
            self.parts.focus_code(index)

    def action_score(self) -> None:
        self.parts.focus_rubric()

    def action_checks(self) -> None:
        self.parts.focus_checks()

    def action_back(self) -> None:
        self.parts.back()

    def action_pane(self, step: int) -> None:
        self.parts.step(step)

    def action_show_part(self, part: str) -> None:
        self.parts.show_or_hide(part)

    def action_alone(self) -> None:
        self.parts.alone()

    def action_zoom(self) -> None:
        self.parts.zoom()

    def action_grow(self, steps: int) -> None:
        self.sizing.grow(steps)

    def action_even(self) -> None:
        self.sizing.even()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.sizing.press(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self.sizing.move(event)

    def on_mouse_up(self) -> None:
        self.sizing.let_go()

    def on_mouse_release(self) -> None:
        self.sizing.lose_mouse()

    def whereabouts(self) -> Past:
        """Where the reader is."""
        return whereabouts(self.session, self.panes, self.parts)

    def resume(self, past: Past) -> None:
        """Go to where the reader was."""
        resume(past, self.panes, self.parts)

    # files

    def action_files(self) -> None:
        self.files.choose()

    def action_symbols(self) -> None:
        self.files.choose_symbol()

    def action_file(self, step: int) -> None:
        self.files.step(step)

    # moving through the code

    def action_sync(self) -> None:
        self.sync.next_way()

    def action_diff(self) -> None:
        self.diffing.show()

    def action_search(self) -> None:
        self.searching.begin()

    def on_search_bar_changed(self, event: SearchBar.Changed) -> None:
        self.searching.typed(event)

    def on_search_bar_closed(self, event: SearchBar.Closed) -> None:
        self.searching.close(event)

    def on_code_view_no_hit(self, event: CodeView.NoHit) -> None:
        self.searching.go_on(event)

    def on_code_view_search_cleared(self) -> None:
        self.searching.clear()

    def action_back_to(self) -> None:
        self.places.back()

    def action_forward_to(self) -> None:
        self.places.forward()

    def action_line(self) -> None:
        self.places.ask_line()

    def action_definition(self) -> None:
        self.definitions.go()

    def action_bookmark(self) -> None:
        self.bookmarks.toggle()

    def action_bookmark_step(self, step: int) -> None:
        self.bookmarks.step(step)

    def action_bookmarks(self) -> None:
        self.bookmarks.choose()

    # rubric

    def on_rubric_lines_changed(self) -> None:
        self.rubric_pane.update_lines()
        self.offer_reveal()
        self._hint()
        if self.session.scored not in self.parts.arrangement.panes:
            # the code of what is being scored is in view
            self.panes.at = self.session.scored
            self.parts.arrange()

    def on_rubric_lines_edit_asked(self) -> None:
        from judge_tui.tui.screens.text_editor import TextEditor

        session = self.session
        index, row = session.scored, session.focus
        if session.refuses(index):
            return

        def changed(text: str) -> None:
            # what lies behind a dialog is drawn anew as a whole: that waits until it closes
            session.set_text(text, index=index, row=row)

        def closed(_: None) -> None:
            session.seal()
            self.changed()

        title = f"{focus_title(session)} · {letter_of(index)} {session.titles[index]}"
        self.write_in(TextEditor(title, session.text(), changed), index, closed)

    def on_rubric_lines_earlier_asked(self) -> None:
        from judge_tui.tui.screens.earlier_comment import offer_earlier

        offer_earlier(self, self.session, self.panes[self.session.scored], self.changed)

    def on_rubric_lines_verdict_asked(self) -> None:
        from judge_tui.tui.screens.whole_verdict import ask_verdict

        ask_verdict(self, self.session, self.changed)

    def action_undo(self) -> None:
        undo_cards(self, self.session, partial(self._told, "undone"))

    def action_redo(self) -> None:
        self._told("redone", self.session.redo())

    def _told(self, what: str, label: str | None) -> None:
        if label is None and self.session.refuses(self.session.scored):
            return
        back = f" · {key_for(self, 'redo')} redoes" if what == "undone" else ""
        said = f"{what}: {self.session.hide(label)}{back}" if label else f"nothing to be {what}"
        self.notify(said, markup=False, timeout=2)
        self.changed()

    def changed(self) -> None:
        """Show what the session holds now."""
        self.rubric_pane.update_lines()
        self.remark()
        self.offer_reveal()

    # header and hints

    def _ready_before(self) -> Ready | None:
        """What the stored verdicts were measured with, until the engine measures itself."""
        last = next(iter(self.session.outcomes.values()), None)
        return Ready(last.backend, last.device, last.sandbox, last.seed) if last and last.sandbox else None

    def retell(self) -> None:
        """Refresh the header."""
        self._saved_untold = False
        session, ready = self.session, self._ready or self._ready_before()
        names: list[Part] = []
        for index, title in enumerate(session.titles):
            names += [(f" {letter_of(index)} ", "primary", 0), (f"{title} ", "text", 1)]
        origins = {s.meta.origin for s in session.submissions} - {""}
        origin = session.hide(" / ".join(sorted(origins)))
        level = {"full": "success", "partial": "warning", "none": "error"}
        sandbox = f"sandbox {ready.sandbox} · " if ready is not None else ""
        right: list[Part] = [
            *self.blind_parts(),
            (f"{origin} · " if origin else "", "accent", 3),
            *judge_parts(session.judge),
        ]
        if ready is not None:
            right += [
                (f"{ready.backend} {ready.device} · ", "muted", 6),
                # what does not hold is said at any width
                (sandbox, level.get(ready.sandbox, "warning"), 4 if ready.sandbox == "full" else 0),
            ]
        right += self.saved_parts()
        self.header.tell([(f" {session.task} ", "strong", 0), *names], right)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        for index, pane in enumerate(self.panes):
            if event.widget is pane.view:
                self.panes.at = index
                self.sync.lead(pane)
                if self.session.score_now(index):
                    self.rubric_pane.update_lines()
        self.parts.arrange()

    @property
    def _searching(self) -> bool:
        focused = self.focused
        return focused is not None and focused.parent is not None and focused.parent.id == "search"

    def _hint(self) -> None:
        focused = self.focused
        view = self.panes.current.view
        if focused is not None and self._searching:
            self.hints.tell(
                (
                    (key_for(focused, "close(True)"), "keep the hits"),
                    (keys_for(view, "hit(1)", "hit(-1)"), "next, previous, afterwards"),
                    (key_for(focused, "regex"), "regular expression"),
                    (key_for(focused, "close(False)"), "drop, and back"),
                )
            )
            return
        session = self.session
        if isinstance(focused, RubricLines) and session.asks_over:
            over = f"writes {session.typed_over} over {session.score}"
            keeps = f"keeps {session.score}"
            self.hints.tell(((key_for(focused, "edit"), over), (key_for(self, "back"), keeps)))
            return
        hints: dict[str, str] = {}
        # the key that leads here says nothing here; the one that leads back does
        part = self.parts.in_focus
        here = {"rubric": key_for(self, "score"), "checks": key_for(self, "checks")}.get(part, "")
        asks = key_for(self, "help")
        if isinstance(focused, RubricLines):
            hints = {dimension.key: "" for dimension in self.session.rubric.dimensions}
        for node in (focused, self):
            for keys, text, shown in listed(own_bindings(node) if node is not None else ()):
                first = keys.split(" ")[0]
                if shown and first not in hints:
                    hints[first] = text
        told: list[Hint] = [(key, text) for key, text in hints.items() if text and key not in (asks, here)]
        if self.parts.in_focus == "code":
            told.insert(0, (keys_for(self, *(f"code({index})" for index in range(len(self.panes)))), "pane"))
        if isinstance(focused, RubricLines):
            told.insert(0, (tuple(d.key for d in self.session.rubric.dimensions), "dimension"))
        if here:
            told.insert(4 if self.parts.in_focus == "rubric" else 3, (key_for(self, "back"), "code"))
        self.hints.tell(tuple(told), (asks, "help"))

    def action_help(self) -> None:
        from judge_tui.tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen(self.key_parts()))

    def key_parts(self) -> Sequence[KeyPart]:
        """What answers to keys here, the part in focus first."""
        code = partial(self.parts.focus_code, self.panes.at)
        rubric = "Rubric (the key of a dimension goes there, whatever else it means)"
        parts = {
            "code": KeyPart("Code", self.panes.current.view, code, CODE_SIGNS),
            "rubric": KeyPart(rubric, self.rubric_pane.lines, self.action_score, RUBRIC_SIGNS),
            "checks": KeyPart("Checks", self.checks_pane.rows, self.action_checks, CHECK_SIGNS),
        }
        order = [self.parts.in_focus, *(name for name in parts if name != self.parts.in_focus)]
        typed = self.focused if self._searching else None
        search = [KeyPart("Search", typed)] if typed is not None else []
        return [*search, *(parts[name] for name in order), KeyPart("Everywhere", self)]
