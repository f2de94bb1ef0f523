"""The checks of a comparison as they are listed: which of them, in which order, and where they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from judge_tui.checks.verdict import SEVERITY, Outcome, Verdict

if TYPE_CHECKING:
    from judge_tui.tui.engine.differences import Difference

__all__ = ["WORTH", "CheckState", "CheckTable", "Key"]

#: Model and check.
Key = tuple[str, str]
#: Verdicts, those that a judge wants to know of first.
WORTH = (
    Verdict.FAIL,
    Verdict.ERROR,
    Verdict.WARN,
    Verdict.AMBIGUOUS,
    Verdict.UNBOUND,
    Verdict.SKIP,
    Verdict.PASS,
)
#: Ranks of what runs, waits, and has been skipped of every submission, among those of :data:`SEVERITY`.
_RUNNING, _WAITING, _SKIPPED = 4.4, 4.6, 9.0


class CheckState(Struct):
    """A check of one submission: what it is about, and how far it is."""

    title: str = ""
    establishes: str = ""
    running: bool = False
    note: str = ""
    fraction: float | None = None


class CheckTable:
    """What is known of the checks of a comparison.

    Args:
        models: Whose checks, in the order of the screen.
        outcomes: What was found so far, by model and check; kept elsewhere.

    Attributes:
        states: Every check that is known of.
        only: The submission whose checks alone are listed; empty for all.
        verdict: The verdict that is listed alone; ``None`` for all.
    """

    def __init__(self, models: Sequence[str], outcomes: Mapping[Key, Outcome]) -> None:
        self.models, self.outcomes = tuple(models), outcomes
        self.states: dict[Key, CheckState] = {}
        self.only = ""
        self.verdict: Verdict | None = None

    def state(self, key: Key) -> CheckState:
        """How far a check is, which is noted from now on."""
        return self.states.setdefault(key, CheckState())

    def settled(self, key: Key) -> Outcome | None:
        """What was found by a check that does not run any more."""
        state = self.states.get(key)
        return None if state is None or state.running else self.outcomes.get(key)

    @property
    def seats(self) -> tuple[str, ...]:
        """The submissions whose checks are listed."""
        return (self.only,) if self.only else self.models

    def next_submission(self) -> None:
        """List the checks of one submission only, then of the next, then of all."""
        choices = ["", *self.models]
        self.only = choices[(choices.index(self.only) + 1) % len(choices)]

    def next_verdict(self) -> None:
        """List those of one verdict only, the worst that there is, then of the next, then of all."""
        found = {outcome.verdict for outcome in self.outcomes.values()}
        choices = [None, *(verdict for verdict in WORTH if verdict in found)]
        at = choices.index(self.verdict) if self.verdict in choices else 0
        self.verdict = choices[(at + 1) % len(choices)]

    # a row for each check of each submission

    def listed(self) -> list[Key]:
        """The worst first; within a verdict by check, so that those of two submissions stand together."""
        keys = [key for key in self.states if self._is_listed(key)]
        order = self.models
        return sorted(
            keys, key=lambda key: (self._rank(key), key[1], order.index(key[0]) if key[0] in order else 9)
        )

    def _is_listed(self, key: Key) -> bool:
        outcome = self.outcomes.get(key)
        found = outcome.verdict if outcome is not None else None
        return self.only in ("", key[0]) and self.verdict in (None, found)

    def _rank(self, key: Key) -> float:
        """Order in the list: faults and findings, then what is under way, then what is well."""
        outcome = self.settled(key)
        if outcome is None:
            return _RUNNING if self.states[key].running else _WAITING
        return float(SEVERITY[outcome.verdict])

    # a row for each check of all submissions

    def side_by_side(self) -> dict[str, str]:
        """Check → in what the submissions differ: ``≠`` verdicts, ``~`` figures, or nothing.

        What differs first, then what is not well, under way, and well; what was skipped last.
        """
        checks = dict.fromkeys(check for model, check in self.states if model in self.seats)
        rows = [self._row(check) for check in checks if self._any_listed(check)]
        rows.sort(key=lambda row: (self._rank_of_row(row), row.check))
        return {row.check: "≠" if row.verdicts else "~" if row.figures else "" for row in rows}

    def _row(self, check: str) -> Difference:
        from judge_tui.tui.engine.differences import difference

        return difference(check, [self.settled((model, check)) for model in self.seats])

    def _any_listed(self, check: str) -> bool:
        return any(self._is_listed(key) for key in self._cells(check))

    def _cells(self, check: str) -> list[Key]:
        return [key for model in self.seats if (key := (model, check)) in self.states]

    def _rank_of_row(self, row: Difference) -> tuple[bool, float]:
        ranks = [self._rank(key) for key in self._cells(row.check)]
        skipped = all(o is not None and o.verdict is Verdict.SKIP for o in row.outcomes)
        return not row.verdicts, _SKIPPED if skipped else min(ranks)

    def worst(self, check: str) -> int:
        """The submission, among those listed, whose word on a check is looked at first."""
        ranks = [self._rank(key) if (key := (m, check)) in self.states else _SKIPPED for m in self.seats]
        return ranks.index(min(ranks))
