"""The checks of a comparison: events taken in, evidence opened, lines jumped to."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from textual.screen import Screen
from textual.worker import Worker

from judge_tui.checks.events import Event, Finished, Planned, Ready
from judge_tui.checks.request import Backend
from judge_tui.tui.engine.check_runner import CheckRunner, EngineOptions
from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.keys.type_ahead import TypeAhead
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.screens.comparing.places import Places
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.checks_pane import CheckRows, ChecksPane
from judge_tui.tui.widgets.rows import Rows
from judge_tui.tui.widgets.rubric_pane import RubricPane

__all__ = ["CompareChecks"]

#: Behind a dialog the whole screen is drawn for every change: seldom is enough there.
_COVERED_S = 1.0


class CompareChecks(Screen[None]):
    """The part of the comparison that listens to the engine."""

    session: Session
    options: EngineOptions
    panes: Panes
    places: Places
    rubric_pane: RubricPane
    checks_pane: ChecksPane
    runner: CheckRunner
    _ready: Ready | None
    _stale: bool
    _told_at: float = 0.0
    _saved_untold: bool
    _rubric_held: bool = False

    if TYPE_CHECKING:
        # what the other parts of the screen bring
        def retell(self) -> None: ...
        def remark(self) -> None: ...
        def switch_reruns(self) -> None: ...
        def take_in_cards(self) -> None: ...
        async def read_what_differs(self) -> None: ...
        async def take_in_written(self, path: Path) -> None: ...

    def _load_stored(self) -> None:
        from judge_tui.checks.store import side_by_side

        known = side_by_side(self.session.submissions, self.options.backend, seed=self.options.seed)
        for stored in known if self.options.command else ():
            for outcome in stored.values():
                self._under(outcome.seed)
                self.session.seen(outcome)
            self.checks_pane.finish(stored.values(), cached=True)
        self.checks_pane.relist()
        self.remark()
        self.retell()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, Ready):
            self._under(event.seed)
            self._ready = event
            self.retell()
        elif isinstance(event, Planned):
            self._hold_rubric_against({planned.check for planned in event.checks})
        elif isinstance(event, Finished):
            self._under(event.outcome.seed)
            self.session.seen(event.outcome)
        self.checks_pane.take(event)
        self._stale = True

    def _under(self, seed: int) -> None:
        """Verdicts of a seed come in: those of another one leave the screen."""
        if self.runner.seed not in (None, seed):
            self.session.outcomes.clear()
            self.checks_pane.forget()
        self.runner.seed = seed

    def _hold_rubric_against(self, checks: set[str]) -> None:
        """Tell which checks of the rubric there are not, once: the first run plans all that there are."""
        if self._rubric_held:
            return
        self._rubric_held = True
        for told in self.session.unknown_checks(checks):
            self.notify(self.session.hide(told), severity="error", markup=False, timeout=20)

    def _on_ended(self) -> None:
        self.checks_pane.stop()
        self._stale = True

    def _tick(self) -> None:
        """Show what the engine has told since the last tick: events come faster than eyes."""
        pane = self.checks_pane
        covered = self.app.screen is not self
        if covered and (self._writing or time.monotonic() - self._told_at < _COVERED_S):
            return
        if self._saved_untold:
            self.retell()
        if self._stale:
            self._stale, self._told_at = False, time.monotonic()
            pane.active = self.runner.active
            pane.relist()
            self.rubric_pane.update_lines()
            self.remark()
        if pane.active and not covered:
            pane.spin()
        self.take_in_cards()

    @property
    def _writing(self) -> bool:
        """Whether somebody writes in a dialog: for what changes behind it all would be drawn anew."""
        return self.app.screen is not self and isinstance(self.app, TypeAhead) and not self.app.resting

    def on_check_rows_asked(self, event: CheckRows.Asked) -> None:
        if event.what == "cancel":
            self.run_beside(self._cancel)
        elif event.what == "rerun_all":
            self.run_beside(self._run_again)
        elif event.what == "differ":
            self._show_differences()
        elif event.what == "auto":
            self.switch_reruns()
        elif event.what == "backend":
            self.run_beside(self._switch_backend, group="backend", exclusive=True)
        elif event.what == "rerun" and isinstance(event.key, tuple):
            self.run_beside(partial(self._run_again, *event.key))
        elif event.what == "adapter" and isinstance(event.key, tuple):
            self._write_adapter(event.key[0])
        elif event.what == "jump" and isinstance(event.key, tuple):
            outcome = self.checks_pane.states[event.key].outcome
            if outcome is not None and outcome.location:
                self.places.jump(self._index(outcome.model), *outcome.location)
            else:
                self.notify("This check points at no line.", markup=False)
        self._stale = True

    def run_beside(
        self,
        work: Callable[[], Coroutine[None, None, None]],
        group: str = "default",
        *,
        exclusive: bool = False,
    ) -> Worker[None]:
        """Run something beside the screen; what excludes others ends those of its group."""
        return self.run_worker(work, group=group, exclusive=exclusive)

    async def _run_again(self, model: str | None = None, check: str | None = None) -> None:
        """Run all checks, or one, on the files as they are on disk, which are those in view then."""
        await self.read_what_differs()
        self.runner.start(model=model, check=check, fresh=True)
        self._stale = True

    def _show_differences(self) -> None:
        """Hold the outcomes of the submissions against each other."""
        from judge_tui.tui.engine.differences import differences
        from judge_tui.tui.screens.differences import DifferencesScreen

        models = [s.model for s in self.session.submissions]
        shown, states = self.session.blindfold.shown, self.checks_pane.states
        known = {key: shown(s.outcome) for key, s in states.items() if s.outcome is not None}
        if not known:
            self.notify("No verdict yet.", markup=False, timeout=2)
            return

        def chosen(value: tuple[int, str] | None) -> None:
            if value is not None:
                self.show_evidence((models[value[0]], value[1]))

        who = [f"{letter_of(n)} {title}" for n, title in enumerate(self.session.titles)]
        self.app.push_screen(DifferencesScreen(differences(known, models), who), chosen)

    async def _switch_backend(self) -> None:
        """Run the checks on the next backend that the task can use."""
        known: tuple[Backend, ...] = tuple(
            name for name in get_args(Backend) if name in self.checks_pane.backends
        )
        asked = self.options.backend
        now = asked if asked in known else self.checks_pane.backend
        if len(known) < 2:
            told = (
                f"These checks run on {known[0]} alone." if known else "No engine has told of backends yet."
            )
            self.notify(told, markup=False)
            return
        chosen = known[(known.index(now) + 1) % len(known)] if now in known else known[0]
        await self.runner.cancel()
        self.options.backend = chosen
        self._ready = None
        self.session.outcomes.clear()
        self.checks_pane.forget()
        self._load_stored()
        self.notify(f"The checks run on {chosen} from now on.", markup=False)
        self.runner.start()
        self._stale = True

    def _write_adapter(self, model: str) -> None:
        """Have the judge write how a submission is called."""
        from judge_tui.tui.screens.adapter_writing import write_adapter

        tried, trust = self.take_in_written, self.options.trust
        work = partial(write_adapter, self, self.session, self._index(model), tried, trust=trust)
        self.run_beside(work, group="adapter", exclusive=True)

    async def _cancel(self) -> None:
        await self.runner.cancel()
        self.checks_pane.stop()
        rows = self.checks_pane.rows
        keys = f"{key_for(rows, 'rerun')} or {key_for(rows, 'rerun_all')}"
        self.notify(f"Checks cancelled; {keys} runs them again.", markup=False)

    def on_rows_opened(self, event: Rows.Opened) -> None:
        if event.rows is self.checks_pane.rows and isinstance(event.key, tuple):
            self.show_evidence(event.key)

    def show_evidence(self, key: tuple[str, str]) -> None:
        """Open the evidence of a check."""
        from judge_tui.tui.engine.replay import where_told
        from judge_tui.tui.screens.evidence import EvidenceScreen

        state = self.checks_pane.states[key]
        if state.outcome is None:
            self.notify("No verdict yet.", markup=False)
            return
        index = self._index(key[0])
        who = f"{letter_of(index)} {self.session.titles[index]}"

        def jump(place: tuple[str, int] | None) -> None:
            if place is not None:
                self.places.jump(index, *place)

        hide = self.session.hide
        told = self.session.blindfold.shown(state.outcome), who, hide(state.title), hide(state.establishes)
        where = where_told(self.session.workspace, self.options.bindings, trust=self.options.trust)
        adapt = partial(self._write_adapter, key[0])
        self.app.push_screen(EvidenceScreen(*told, hide, where, adapt), jump)

    def _index(self, model: str) -> int:
        return next(n for n, s in enumerate(self.session.submissions) if s.model == model)
