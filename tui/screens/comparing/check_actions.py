"""What the keys on the checks of a comparison do: run again, hold against each other, open the evidence."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

from textual.screen import Screen

from judge_tui.checks.verdict import Verdict
from judge_tui.tui.engine.check_runner import EngineOptions
from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.screens.comparing.checks import Checks
from judge_tui.tui.screens.comparing.places import Places
from judge_tui.tui.screens.comparing.watching import Watching
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.checks_pane import ChecksPane

__all__ = ["CheckActions"]

#: Seconds for which an edit is looked for that mends a submission.
_REPAIR_S = 120.0


class CheckActions:
    """Answers the keys on the list of checks.

    Args:
        screen: Where it is told, and evidence opens.
        session: What is compared.
        options: How the engine is asked.
        pane: The checks' pane.
        checks: Runs them.
        watching: Reads what has changed on disk.
        places: Goes to the line of a finding.
    """

    def __init__(
        self,
        screen: Screen[None],
        session: Session,
        options: EngineOptions,
        pane: ChecksPane,
        checks: Checks,
        watching: Watching,
        places: Places,
    ) -> None:
        self._screen, self._session, self._options, self._pane = screen, session, options, pane
        self._checks, self._watching, self._places = checks, watching, places

    def answer(self, what: str, key: Hashable) -> None:
        """Do what was asked for.

        Args:
            what: As :class:`~judge_tui.tui.widgets.checks_pane.CheckRows.Asked` names it.
            key: Model and check in the line of the cursor.
        """
        if what == "cancel":
            self._checks.beside(self._cancel)
        elif what == "rerun_all":
            self._checks.beside(self._run_again)
        elif what == "differ":
            self._show_differences()
        elif what == "auto":
            self._watching.switch_reruns()
        elif what == "backend":
            self._checks.beside(self._switch_backend, group="backend", exclusive=True)
        elif what == "rerun" and isinstance(key, tuple):
            self._checks.beside(partial(self._run_again, *key))
        elif what == "repair" and isinstance(key, tuple):
            self._checks.beside(partial(self._repair, key[0]))
        elif what == "adapter" and isinstance(key, tuple):
            self._write_adapter(key[0])
        elif what == "jump" and isinstance(key, tuple):
            outcome = self._session.outcomes.get(key)
            if outcome is not None and outcome.location:
                self._places.jump(self._index(outcome.model), *outcome.location)
            else:
                self._screen.notify("This check points at no line.", markup=False)
        self._checks.stale = True

    async def _run_again(self, model: str | None = None, check: str | None = None) -> None:
        """Run all checks, or one, on the files as they are on disk, which are those in view then."""
        await self._watching.read_what_differs()
        self._checks.runner.start(model=model, check=check, fresh=True)
        self._checks.stale = True

    async def _repair(self, model: str) -> None:
        """Look for one edit that mends what a submission failed, on its files as they are on disk."""
        failed = [
            outcome
            for (whose, _check), outcome in self._session.outcomes.items()
            if whose == model and outcome.verdict is Verdict.FAIL
        ]
        title = self._session.titles[self._index(model)]
        if self._checks.runner.active:
            self._screen.notify("Checks still run: an edit is looked for once all are done.", markup=False)
            return
        if not failed:
            self._screen.notify(f"{title} failed no check: there is nothing to mend.", markup=False)
            return
        await self._watching.read_what_differs()
        self._screen.notify(f"An edit is looked for that mends {title}.", markup=False, timeout=3)
        self._checks.runner.start(model=model, repair=_REPAIR_S)
        self._checks.stale = True

    def _show_differences(self) -> None:
        """Hold the outcomes of the submissions against each other."""
        from judge_tui.tui.engine.differences import differences
        from judge_tui.tui.screens.differences import DifferencesScreen

        models = [s.model for s in self._session.submissions]
        shown = self._session.blindfold.shown
        known = {key: shown(outcome) for key, outcome in self._session.outcomes.items()}
        if not known:
            self._screen.notify("No verdict yet.", markup=False, timeout=2)
            return

        def chosen(value: tuple[int, str] | None) -> None:
            if value is not None:
                self.show_evidence((models[value[0]], value[1]))

        who = [f"{letter_of(n)} {title}" for n, title in enumerate(self._session.titles)]
        self._screen.app.push_screen(DifferencesScreen(differences(known, models), who), chosen)

    async def _switch_backend(self) -> None:
        """Run the checks on the next backend that the task can use."""
        known, asked = self._checks.backends, self._options.backend
        now = asked if asked in known else self._pane.backend
        if len(known) < 2:
            told = (
                f"These checks run on {known[0]} alone." if known else "No engine has told of backends yet."
            )
            self._screen.notify(told, markup=False)
            return
        await self._checks.run_on(known[(known.index(now) + 1) % len(known)] if now in known else known[0])

    def _write_adapter(self, model: str) -> None:
        """Have the judge write how a submission is called."""
        from judge_tui.tui.screens.adapter_writing import write_adapter

        tried, trust = self._watching.take_in_written, self._options.trust
        work = partial(write_adapter, self._screen, self._session, self._index(model), tried, trust=trust)
        self._checks.beside(work, group="adapter", exclusive=True)

    async def _cancel(self) -> None:
        await self._checks.cancel()
        rows = self._pane.rows
        keys = f"{key_for(rows, 'rerun')} or {key_for(rows, 'rerun_all')}"
        self._screen.notify(f"Checks cancelled; {keys} runs them again.", markup=False)

    def show_evidence(self, key: tuple[str, str]) -> None:
        """Open the evidence of a check."""
        from judge_tui.tui.engine.replay import where_told
        from judge_tui.tui.screens.evidence import EvidenceScreen

        outcome = self._session.outcomes.get(key)
        if outcome is None:
            self._screen.notify("No verdict yet.", markup=False)
            return
        state = self._pane.table.state(key)
        index = self._index(key[0])
        who = f"{letter_of(index)} {self._session.titles[index]}"

        def jump(place: tuple[str, int] | None) -> None:
            if place is not None:
                self._places.jump(index, *place)

        hide = self._session.hide
        told = self._session.blindfold.shown(outcome), who, hide(state.title), hide(state.establishes)
        where = where_told(self._session.workspace, self._options.bindings, trust=self._options.trust)
        adapt = partial(self._write_adapter, key[0])
        self._screen.app.push_screen(EvidenceScreen(*told, hide, where, adapt), jump)

    def _index(self, model: str) -> int:
        return next(n for n, s in enumerate(self._session.submissions) if s.model == model)
