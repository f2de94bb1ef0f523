"""A comparison's parts put together: who works with whom."""

from __future__ import annotations

from collections.abc import Callable

from textual.screen import Screen
from textual.widget import Widget

from judge_tui.tui.engine.check_runner import EngineOptions
from judge_tui.tui.look.layout import Sizes
from judge_tui.tui.screens.comparing.blind import Blind
from judge_tui.tui.screens.comparing.bookmarking import Bookmarking
from judge_tui.tui.screens.comparing.check_actions import CheckActions
from judge_tui.tui.screens.comparing.checks import Checks
from judge_tui.tui.screens.comparing.conflicts import Conflicts
from judge_tui.tui.screens.comparing.definitions import Definitions
from judge_tui.tui.screens.comparing.files import Files
from judge_tui.tui.screens.comparing.header import Header
from judge_tui.tui.screens.comparing.hints import Hints
from judge_tui.tui.screens.comparing.layout import Layout
from judge_tui.tui.screens.comparing.marks import Marks
from judge_tui.tui.screens.comparing.matchups import Matchups
from judge_tui.tui.screens.comparing.notes import Notes
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.screens.comparing.places import Places
from judge_tui.tui.screens.comparing.placing import Placing
from judge_tui.tui.screens.comparing.saving import Saving
from judge_tui.tui.screens.comparing.scoring import Scoring
from judge_tui.tui.screens.comparing.search import Search
from judge_tui.tui.screens.comparing.sizing import Sizing
from judge_tui.tui.screens.comparing.sync import Sync
from judge_tui.tui.screens.comparing.watching import Watching
from judge_tui.tui.session import Session
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.checks_pane import ChecksPane
from judge_tui.tui.widgets.code_pane import CodePane
from judge_tui.tui.widgets.key_hints import KeyHints
from judge_tui.tui.widgets.rubric_pane import RubricPane

__all__ = ["Parts"]


class Parts:
    """All that a comparison does, each in an object of its own that says by its arguments whom it needs.

    Args:
        screen: Where everything is shown and told.
        session: What is compared and said.
        options: How the engine is asked.
        panes: The code.
        rubric: The rubric's pane.
        checks: The checks' pane.
        header: The line above.
        hints: The line below.
        clock: Formats a moment.
        sizes: How large the parts of the screen were left.
    """

    def __init__(
        self,
        screen: Screen[None],
        session: Session,
        options: EngineOptions,
        *,
        panes: Panes,
        rubric: RubricPane,
        checks: ChecksPane,
        header: Bar,
        hints: KeyHints,
        clock: Callable[[float], str],
        sizes: Sizes,
    ) -> None:
        self._session, self._panes, self._rubric = session, panes, rubric
        around = panes, rubric, checks

        self.layout = Layout(screen, session, *around, sizes, self.hint)
        self.sizing = Sizing(screen, self.layout, *around)
        self.hints = Hints(screen, hints, session, self.layout, *around)

        self.files = Files(screen, panes)
        self.sync = Sync(screen, panes)
        self.search = Search(screen, panes, self.sync)
        self.places = Places(screen, session, panes, self.layout.focus_code)
        self.definitions = Definitions(screen, panes)
        self.bookmarks = Bookmarking(screen, panes, self.places)

        self.blind = Blind(screen, session, panes, checks, self.changed, self.retell)
        self.saving = Saving(screen, session, self.blind, clock, self.retell, self._joined)
        self.conflicts = Conflicts(screen, session, self.saving, self.blind, self.changed)
        self.matchups = Matchups(
            screen, session, checks, self.saving, self.conflicts, self.retell, self.changed
        )
        self.scoring = Scoring(screen, session, panes, self.saving.write_in, self.changed)

        self.checks = Checks(screen, session, options, checks, self.retell, self.renewed)
        self.watching = Watching(
            screen,
            session,
            options,
            panes,
            checks,
            checks=self.checks,
            definitions=self.definitions,
            blind=self.blind,
            remark=self.remark,
            changed=self.changed,
        )
        self.check_actions = CheckActions(
            screen, session, options, checks, self.checks, self.watching, self.places
        )
        self.header = Header(header, session, self.checks, self.blind, self.saving)

        self.marks = Marks(session, panes, self.places, self.bookmarks)
        self.placing = Placing(screen, session, panes, self.marks, self.changed, self._list_notes)
        self.notes = Notes(
            screen,
            session,
            panes,
            marks=self.marks,
            placing=self.placing,
            places=self.places,
            sync=self.sync,
            write_in=self.saving.write_in,
            show_evidence=self.check_actions.show_evidence,
            changed=self.changed,
        )

    # what one part tells several others

    def changed(self) -> None:
        """Show what the session holds now."""
        self.renewed()
        self.blind.offer()

    def renewed(self) -> None:
        """Show scores, verdicts and marks as they are now."""
        self._rubric.update_lines()
        self.remark()

    def remark(self) -> None:
        """Mark the lines that notes and findings point at."""
        for pane in self._panes:
            self.placing.find(pane)
            self.marks.mark(pane)

    def retell(self) -> None:
        """Refresh the header."""
        self.header.tell()

    def hint(self) -> None:
        """Hint at the keys of what is in focus."""
        self.hints.tell()

    def _joined(self) -> None:
        """What another window has changed is in what is shown."""
        self.checks.stale = True
        self.matchups.joined()

    def _list_notes(self, at: tuple[int, str]) -> None:
        self.notes.list_all(at)

    # what has happened

    def take_focus(self, widget: Widget) -> None:
        """A part of the screen is in focus now: with the code of a submission that is scored, too."""
        for index, pane in enumerate(self._panes):
            if widget is pane.view:
                self._panes.at = index
                self.sync.lead(pane)
                if self._session.score_now(index):
                    self._rubric.update_lines()
        self.layout.arrange()

    def take_file(self, pane: CodePane) -> None:
        """Another file came into view in a pane, or the same one anew."""
        self.remark()
        self.search.again()
        self.sync.join(pane)
        self.sync.lead(self._panes.current)

    def take_score(self) -> None:
        """Something was scored, or another line of the rubric is in focus."""
        self._rubric.update_lines()
        self.blind.offer()
        self.hints.tell()
        if self._session.scored not in self.layout.arrangement.panes:
            # the code of what is being scored is in view
            self._panes.at = self._session.scored
            self.layout.arrange()

    # now and then

    def begin(self) -> None:
        """Begin what waits until the code is on the screen."""
        self.checks.begin()
        self.watching.begin()
        self.saving.tell_earlier_work()
        self.blind.tell_known()
        self._rubric.update_lines()

    def tick(self) -> None:
        """Show what has been told since the last time."""
        if not self.checks.waits:
            self.saving.tell_late()
            self.checks.show()
            self.watching.take_in_cards()

    def end(self) -> None:
        """The screen is taken down."""
        self.watching.end()
        self.blind.uncover()
