"""The app: themes, the command palette, Home, and comparisons."""

from __future__ import annotations

import asyncio
import copy
import gc
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace
from textual.binding import Binding
from textual.screen import Screen

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.request import Backend
from judge_tui.checks.submission import Submission
from judge_tui.judging.read_once import no_collection
from judge_tui.judging.workspace import Workspace
from judge_tui.tui import garbage
from judge_tui.tui.blind.veil import VeiledApp
from judge_tui.tui.commands import CommandedApp
from judge_tui.tui.ending import Ending
from judge_tui.tui.engine.check_runner import EngineOptions
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.keys.personal import PersonalApp
from judge_tui.tui.keys.type_ahead import TypeAhead
from judge_tui.tui.look.harmless import HarmlessApp
from judge_tui.tui.past import Past, PastComparisons
from judge_tui.tui.textual_private.any_bytes import take_any_bytes
from judge_tui.tui.textual_private.escape_key import heed_pauses
from judge_tui.tui.textual_private.message_room import RoomyApp
from judge_tui.tui.textual_private.timers import let_timers_end
from judge_tui.tui.textual_private.warm_styles import keep_parsed

if TYPE_CHECKING:
    from judge_tui.tui.desk.autosave import SaveReport
    from judge_tui.tui.engine.engine_link import EngineProcess
    from judge_tui.tui.screens.compare import CompareScreen
    from judge_tui.tui.screens.comparing.saving import ComparisonLeft
    from judge_tui.tui.screens.home import HomeScreen
    from judge_tui.tui.session import Session

__all__ = ["JudgeApp", "run_compare", "run_home"]

#: Seconds between two looks at where the reader is, for the list of past comparisons.
_LOOK_S = 3.0
#: Seconds between two looks whether garbage is to be collected.
_TIDY_S = 0.3
#: Seconds that keys on their way have when the program is to end.
_LAST_KEYS_S = 5.0
#: Seconds until the thread that writes a frame, or reads a key, may take the interpreter from another.
_TURN_S = 0.0005


class JudgeApp(
    CommandedApp[int], HarmlessApp[int], RoomyApp[int], PersonalApp[int], VeiledApp[int], TypeAhead[int]
):
    """Compares submissions of one task; begins with Home where none are given.

    Args:
        workspace: Where rubric and scores are.
        submissions: Two or three, or none.
        judge: Who judges.
        options: How the engine is asked.
        clock: Formats moments; tests pin it.
        blind: Judge without knowing which submission is whose.
    """

    TITLE = "judge-tui"
    ENABLE_COMMAND_PALETTE = True

    BINDINGS: ClassVar = [
        # not ctrl+b, which is tmux's own
        Binding("ctrl+p", "command_palette", "all actions by their names", show=False, priority=True),
        Binding("ctrl+q", "quit", "leave the program", show=False, priority=True),
    ]

    BINDINGS = named("program", BINDINGS)

    def __init__(
        self,
        workspace: Workspace,
        submissions: Sequence[Submission],
        judge: str,
        options: EngineOptions | None = None,
        clock: Callable[[float], str] | None = None,
        *,
        blind: bool = False,
    ) -> None:
        super().__init__()
        keep_parsed(self)
        self.take_preferences()
        self._options = options or EngineOptions()
        self._clock = clock
        self._workspace, self._judge, self._blind = workspace, judge, blind
        self._past = PastComparisons(workspace.root, judge)
        self._last_past: Past | None = None
        self.compare: CompareScreen | None = None
        self.home: HomeScreen | None = None
        #: What could not be saved, a line each.
        self.unsaved: list[str] = []
        #: Signals that end the program.
        self.ending = Ending(self._end)
        # opened before the screen is: what is off in the workspace is told on a plain terminal
        self._session = self._opened(submissions) if submissions else None
        _ = workspace.settings

    def get_default_screen(self) -> Screen[None]:
        if self._session is None:
            from judge_tui.tui.home_board import HomeBoard
            from judge_tui.tui.screens.home import HomeScreen

            board = HomeBoard(self._workspace, self._judge, self._options.backend)
            self.home = HomeScreen(board, self._past, self._clock)
            return self.home
        models = [submission.model for submission in self._session.submissions]
        past = self._past.find(self._session.task, models)
        sizes = None if past is None else past.sizes
        self.compare = _comparison()(self._session, self._options, self._clock, sizes)
        return self.compare

    def _opened(self, submissions: Sequence[Submission]) -> Session:
        for submission in submissions:
            _ = submission.title, submission.files
        # Home pays nothing for it, and does not stand still: this is a thread's work there
        _comparison()
        from judge_tui.tui.session import Session

        return Session(self._workspace, submissions, self._judge, self._tell_saved, blind=self._blind)

    async def on_home_screen_asked(self, event: HomeScreen.Asked) -> None:
        if self.compare is not None:
            # asked twice at once, as by a third click
            return
        submissions = [self._workspace.submission(model, event.task) for model in event.models]
        try:
            session = await asyncio.to_thread(self._opened, submissions)
        except JudgeError as error:
            self.notify(str(error), severity="error", markup=False, timeout=10)
            return
        self._session = session
        self._last_past = None
        # what is switched in one comparison is not meant for the next
        self.compare = _comparison()(session, copy.copy(self._options), self._clock)
        await self.push_screen(self.compare)
        past = await asyncio.to_thread(self._past.find, event.task, event.models)
        if past is not None:
            self.compare.resume(past)

    async def on_comparison_left(self, event: ComparisonLeft) -> None:
        if self.home is None or self.compare is None or self._session is None:
            self.exit(0)
            return
        session = self._session
        self._remember()
        await asyncio.to_thread(session.close)
        for line in self._not_saved(session):
            self.unsaved.append(line)
            self.notify(line, severity="error", markup=False, timeout=10)
        self.compare = self._session = None
        await self.pop_screen()
        self.home.reread(session.task)

    async def _look(self) -> None:
        past = self._whereabouts()
        if past is not None:
            await asyncio.to_thread(self._past.keep, past)

    def _remember(self) -> None:
        """Write down where the reader leaves, and that it is now."""
        self._last_past = None
        past = self._whereabouts()
        if past is not None:
            self._past.keep(past)

    def _whereabouts(self) -> Past | None:
        """Where the reader is, if that is not written down yet, or something was said since."""
        if self.compare is None or not self.compare.is_mounted:
            return None
        past = self.compare.whereabouts()
        if past == self._last_past:
            return None
        self._last_past = past
        return replace(past, at=time.time())

    def _not_saved(self, session: Session) -> Iterable[str]:
        lost = session.lost()
        for index in session.unsaved():
            rest = "" if index in lost else " The next start brings it back."
            yield f"not saved: {session.hide(str(session.paths[index]))}.{rest}"

    def _tell_saved(self, report: SaveReport) -> None:
        # a score or a matchup is as much a sign of the reader as a step in the code
        self._last_past = None
        if self.compare is not None:
            self.compare.tell_saved(report)

    def on_mount(self) -> None:
        if self.ending.code is not None:
            # too early for the loop
            self._end(self.ending.code)
        self.set_interval(_LOOK_S, self._look)
        self.set_interval(_TIDY_S, self._tidy)
        self.begin_preferences()
        self.theme_changed_signal.subscribe(self, lambda _: self._recolor())
        # the shell has written over everything
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(repaint=True, layout=True))

    def _tidy(self) -> None:
        if self.resting:
            garbage.tidy(long=self.rests_long)

    def _recolor(self) -> None:
        if self.compare is not None:
            for pane in self.compare.panes:
                pane.recolor()
            self.compare.rubric_pane.update_lines()
        if self.home is not None:
            self.home.matrix.refresh()

    async def action_quit(self) -> None:
        if self.compare is None:
            await super().action_quit()
        else:
            await self.compare.leave_by(self.exit)

    def _end(self, code: int) -> None:
        """End with an exit code, soon; may be called in a signal's handler."""
        if self._loop is not None:
            # a loop that has ended needs no telling
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._end_soon, code)

    def _end_soon(self, code: int) -> None:
        self._last = asyncio.create_task(self._end_when_typed(code))

    async def _end_when_typed(self, code: int) -> None:
        """What was typed before the end is no less typed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_KEYS_S):
                await self.typed()
        self.exit(None, code)

    def close_session(self) -> None:
        """End checks and bring everything to disk."""
        if self.compare is not None:
            self.compare.runner.kill()
        if self._session is not None:
            self._remember()
            self._session.close()
            self.unsaved += self._not_saved(self._session)
            self._session = None


@cache
def _comparison() -> type[CompareScreen]:
    with no_collection():
        from judge_tui.tui.screens.compare import CompareScreen

    # what was loaded stays, as what the program began with
    gc.freeze()
    return CompareScreen


def run_compare(
    *,
    workspace: Workspace,
    submissions: list[Submission],
    judge: str,
    backend: Backend = "auto",
    seed: int | None = None,
    trust: bool = False,
    bindings: Path | None = None,
    ahead: EngineProcess | None = None,
    blind: bool = False,
) -> int:
    """Open the comparison and stay until the judge quits.

    Args:
        workspace: Where rubric and scores are.
        submissions: Two or three submissions of one task.
        judge: Name of the judge.
        backend: Where the checks' arrays live.
        seed: Replays the checks' inputs.
        trust: Run checks although the sandbox does not hold.
        bindings: Tree of binding overlays; the workspace's by default.
        ahead: An engine that was started ahead of time.
        blind: Judge without knowing which submission is whose.

    Returns:
        Exit code: 0, or 1 when something could not be saved.
    """
    options = EngineOptions(
        backend, seed, trust=trust, bindings=bindings or workspace.bindings, ahead=ahead, watch=True,
        challenge=workspace.challenge,
    )  # fmt: skip
    try:
        return _run(lambda: JudgeApp(workspace, submissions, judge, options, blind=blind))
    finally:
        if ahead is not None:
            ahead.kill()


def run_home(
    *,
    workspace: Workspace,
    judge: str,
    backend: Backend = "auto",
    seed: int | None = None,
    trust: bool = False,
) -> int:
    """Open Home and stay until the judge quits.

    Args:
        workspace: What is to be judged.
        judge: Name of the judge.
        backend: Where the checks' arrays live.
        seed: Replays the checks' inputs.
        trust: Run checks although the sandbox does not hold.

    Returns:
        Exit code: 0, or 1 when something could not be saved.
    """
    options = EngineOptions(
        backend, seed, trust=trust, bindings=workspace.bindings, watch=True, challenge=workspace.challenge
    )
    return _run(lambda: JudgeApp(workspace, (), judge, options))


def _run(made: Callable[[], JudgeApp]) -> int:
    heed_pauses()
    take_any_bytes()
    let_timers_end()
    garbage.begin()
    sys.setswitchinterval(_TURN_S)
    app = made()
    app.ending.heed()
    try:
        app.run()
    finally:
        app.close_session()
    for line in app.unsaved:
        print(f"judge-tui: {line}", file=sys.stderr)
    return app.ending.code or (1 if app.unsaved else app.return_code or 0)
