"""The checks of a comparison: run beside the screen, their events taken in, their verdicts shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from typing import get_args

from textual.screen import Screen
from textual.worker import Worker

from judge_tui.checks.events import Event, Finished, Planned, Ready
from judge_tui.checks.request import Backend
from judge_tui.tui.engine.check_runner import CheckRunner, EngineOptions
from judge_tui.tui.keys.type_ahead import written_over
from judge_tui.tui.session import Session
from judge_tui.tui.widgets.checks_pane import ChecksPane

__all__ = ["Checks"]

#: Behind a dialog the whole screen is drawn for every change: seldom is enough there.
_COVERED_S = 1.0


class Checks:
    """Listens to the engine.

    Args:
        screen: Where it is told.
        session: What is compared, which keeps the outcomes.
        options: How the engine is asked.
        pane: The checks' pane.
        retell: Refreshes the header.
        renewed: Called when verdicts may be others: shows them beside the code and in the rubric.

    Attributes:
        runner: Runs the engine.
        ready: What the engine has measured of itself.
        stale: Whether something has been told that is not shown yet.
    """

    def __init__(
        self,
        screen: Screen[None],
        session: Session,
        options: EngineOptions,
        pane: ChecksPane,
        retell: Callable[[], None],
        renewed: Callable[[], None],
    ) -> None:
        self._screen, self._session, self._options, self._pane = screen, session, options, pane
        self._retell, self._renewed = retell, renewed
        self.runner = CheckRunner(session.submissions, options, self.take, self._ended)
        self.ready: Ready | None = None
        self.stale = False
        self._told_at = 0.0
        self._rubric_held = False

    def begin(self) -> None:
        """Show the stored verdicts, and run what has none."""
        self._load_stored()
        self._start()

    def _start(self) -> None:
        self.runner.start()
        self._pane.active = self.runner.active

    def _load_stored(self) -> None:
        from judge_tui.checks.store import side_by_side

        known = side_by_side(self._session.submissions, self._options.backend, seed=self._options.seed)
        for stored in known if self._options.command else ():
            for outcome in stored.values():
                self._under(outcome.seed)
                self._session.seen(outcome)
            self._pane.finish((one.model, one.check) for one in stored.values())
        self._pane.relist()
        self._renewed()
        self._retell()

    def take(self, event: Event) -> None:
        """Take in what the engine tells; :meth:`show` shows it."""
        if isinstance(event, Ready):
            self._under(event.seed)
            self.ready = event
            self._retell()
        elif isinstance(event, Planned):
            self._hold_rubric_against({planned.check for planned in event.checks})
        elif isinstance(event, Finished):
            self._under(event.outcome.seed)
            self._session.seen(event.outcome)
        self._pane.take(event)
        self.stale = True

    def _under(self, seed: int) -> None:
        """Verdicts of a seed come in: those of another one leave the screen."""
        if self.runner.seed not in (None, seed):
            self._forget_all()
        self.runner.seed = seed

    def _hold_rubric_against(self, checks: set[str]) -> None:
        """Tell which checks of the rubric there are not, once: the first run plans all that there are."""
        if self._rubric_held:
            return
        self._rubric_held = True
        for told in self._session.unknown_checks(checks):
            self._screen.notify(self._session.hide(told), severity="error", markup=False, timeout=20)

    def _ended(self) -> None:
        self._pane.stop()
        self.stale = True

    @property
    def waits(self) -> bool:
        """Whether what is told waits: a dialog is written in, for which all behind it would be drawn anew."""
        covered = self._screen.app.screen is not self._screen
        return covered and (written_over(self._screen) or time.monotonic() - self._told_at < _COVERED_S)

    def show(self) -> None:
        """Show what the engine has told since the last time: events come faster than eyes."""
        pane = self._pane
        if self.stale:
            self.stale, self._told_at = False, time.monotonic()
            pane.active = self.runner.active
            pane.relist()
            self._renewed()
        if pane.active and self._screen.app.screen is self._screen:
            pane.spin()

    # running

    def beside(
        self,
        work: Callable[[], Coroutine[None, None, None]],
        group: str = "default",
        *,
        exclusive: bool = False,
    ) -> Worker[None]:
        """Run something beside the screen; what excludes others ends those of its group."""
        return self._screen.run_worker(work, group=group, exclusive=exclusive)

    async def run_on(self, backend: Backend) -> None:
        """Run the checks on another backend from now on."""
        await self.runner.cancel()
        self._options.backend = backend
        self.ready = None
        self._forget_all()
        self._load_stored()
        self._screen.notify(f"The checks run on {backend} from now on.", markup=False)
        self.runner.start()
        self.stale = True

    @property
    def backends(self) -> tuple[Backend, ...]:
        """Those that the task can use."""
        return tuple(name for name in get_args(Backend) if name in self._pane.backends)

    async def cancel(self) -> None:
        """End what runs."""
        await self.runner.cancel()
        self._pane.stop()

    def forget(self, model: str) -> None:
        """Forget what was found of a submission: its files are others now."""
        self._session.forget(model)
        self._pane.forget(model)

    def _forget_all(self) -> None:
        self._session.outcomes.clear()
        self._pane.forget()
