"""Gradients held against the truth, row by row, within what rounding makes of the row's terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.remembered import Remembered
from judge_tui.checks.tasks.flash_attention.reference import Array, largest_score
from judge_tui.checks.tasks.flash_attention.rows import STATED
from judge_tui.checks.tasks.flash_attention_bwd.reference import (
    NAMES,
    Gradients,
    Problem,
    gradients,
    plain,
    terms,
)
from judge_tui.checks.tolerance import SLACK
from judge_tui.checks.verdict import Verdict

__all__ = ["Figure", "Ledger", "told"]

#: Rounding of sound code in units of eps · (1 + |largest score|) · Σ|terms|, whatever its order of sums.
_PER_TERM = 8.0
#: A row is measured by its length, or by this share of its terms where they cancel.
_CANCELLED = 1e-3

#: The gradients, the sums of their terms' absolute values, and dtype → gradient → bound of every row.
_Known = tuple[Gradients, Gradients, Mapping[np.dtype[Any], Mapping[str, Array]]]
_KNOWN: Remembered[_Known] = Remembered()


@dataclass(frozen=True, slots=True)
class Figure:
    """The worst row of one gradient of one call.

    Attributes:
        name: ``dQ``, ``dK`` or ``dV``.
        problem: What was differentiated.
        error: Relative error of the row; NaN when it is not finite.
        own: What sound arithmetic in the problem's dtype stays within on this row.
        most: Limit past which the row is wrong: the challenge's own, or float32's on this row.
        row: (b, h, i).
    """

    name: str
    problem: Problem
    error: float
    own: float
    most: float
    row: tuple[int, ...]

    @property
    def verdict(self) -> Verdict:
        """Pass within ``own``, warn within ``most``."""
        if self.error <= self.own:
            return Verdict.PASS
        return Verdict.WARN if self.error <= self.most else Verdict.FAIL

    @property
    def badness(self) -> tuple[bool, bool, float]:
        """For finding the worst: of wrong ones a plain one, of which more is told than of a special one."""
        share = self.error / self.own if self.error == self.error else np.inf
        wrong = self.verdict is Verdict.FAIL
        return wrong, wrong and self.problem.case.plain, share


@dataclass(slots=True)
class Ledger:
    """Calls of one check as they are held against the truth.

    Attributes:
        figures: Gradient → one figure per call.
    """

    figures: dict[str, list[Figure]] = field(default_factory=lambda: {name: [] for name in NAMES})

    def hold(
        self, problem: Problem, made: Gradients, *, only: npt.NDArray[np.bool_] | None = None
    ) -> list[Figure]:
        """Compare the gradients of one call.

        Args:
            problem: What was differentiated.
            made: The answer.
            only: Rows (B, H, N) that are compared; all when left out.

        Returns:
            One figure per gradient.
        """
        found = _figures(problem, made, only)
        for figure in found:
            self.figures[figure.name].append(figure)
        return found

    def worst(self, names: Iterable[str] = NAMES) -> Figure:
        """The figure that is furthest from its limit; where plain calls are wrong, of one of these."""
        return max((f for name in names for f in self.figures[name]), key=lambda f: f.badness)

    def decide(
        self,
        found: Findings,
        quantity: str,
        *,
        where: Mapping[str, Mapping[str, Any]],
        strict: bool = True,
    ) -> Figure:
        """Let the worst call of each gradient decide.

        Args:
            found: Where the figures go.
            quantity: What was measured; the gradient's name is put in front.
            where: Gradient → ``file``, ``line``, ``note`` of evidence that a gradient is wrong.
            strict: Whether being past the dtype's own rounding but within the challenge's limit warns.

        Returns:
            The worst of all.
        """
        for name in NAMES:
            worst = self.worst((name,))
            wrong = worst.verdict is Verdict.FAIL
            otherwise = Verdict.FAIL if wrong else Verdict.WARN
            limit = worst.most if wrong or not strict else worst.own
            place = dict(where.get(name, {})) if worst.error != worst.error or worst.error > limit else {}
            known = str(place.pop("note", ""))
            note = known if wrong else ""
            found.limit(
                f"{name}, {quantity}",
                worst.error,
                limit,
                otherwise=otherwise,
                table=_table(self.figures[name]),
                note="; ".join(part for part in (f"worst: {told(worst)}", note) if part),
                **place,
            )
        return self.worst()


def told(figure: Figure) -> str:
    """Where a figure was measured."""
    b, h, i = figure.row
    return f"row {i} of batch {b}, head {h} of [{figure.problem}]"


def _table(figures: list[Figure]) -> tuple[tuple[str, ...], ...]:
    head = ("case", "error", "limit of the dtype", "limit")
    rows = ((str(f.problem), f"{f.error:.3g}", f"{f.own:.2g}", f"{f.most:.2g}") for f in figures)
    return (head, *rows)


def _norm(values: Array) -> Array:
    peak = np.max(np.abs(values), axis=-1, keepdims=True, initial=0.0)
    safe = np.where((peak > 0) & np.isfinite(peak), peak, 1.0)
    return np.asarray((np.linalg.norm(values / safe, axis=-1, keepdims=True) * safe)[..., 0])


def _figures(problem: Problem, made: Gradients, only: npt.NDArray[np.bool_] | None) -> list[Figure]:
    case = problem.case
    arrays = (case.q, case.k, case.v, problem.d_out)
    truth, summed, bounds = _KNOWN.of(arrays, lambda: _known(problem), case.causal)
    own, single = (bounds[dtype] for dtype in (problem.case.q.dtype, np.dtype(np.float32)))
    return [
        _worst_row(name, problem, made[name], truth[name], summed[name], own[name], single[name], only)
        for name in NAMES
    ]


def _known(problem: Problem) -> _Known:
    with np.errstate(all="ignore"):
        truth, summed = gradients(problem), terms(problem)
        return truth, summed, {each: _bounds(problem, truth, summed, each) for each in _dtypes(problem)}


def _dtypes(problem: Problem) -> set[np.dtype[Any]]:
    return {problem.case.q.dtype, np.dtype(np.float32)}


def _bounds(problem: Problem, truth: Gradients, summed: Gradients, dtype: np.dtype[Any]) -> dict[str, Array]:
    """Gradient → absolute error of every row that sound arithmetic in ``dtype`` stays within."""
    eps = float(np.finfo(dtype).eps)
    score = largest_score(problem.case.q, problem.case.k, problem.case.causal)
    sound = [plain(problem, dtype, identity=way) for way in (True, False)]
    found = {}
    for name in NAMES:
        rounding = _PER_TERM * eps * (1 + score) * _norm(summed[name]) + SLACK * eps * _norm(truth[name])
        errors = [_norm(made[name] - truth[name]) for made in sound]
        # Where plain arithmetic in the dtype overflows it says nothing.
        seen = [np.where(np.isfinite(error), SLACK * error, 0.0) for error in errors]
        found[name] = np.maximum.reduce([rounding, *seen])
    return found


def _worst_row(
    name: str,
    problem: Problem,
    made: Array,
    truth: Array,
    summed: Array,
    own: Array,
    single: Array,
    only: npt.NDArray[np.bool_] | None,
) -> Figure:
    size = np.maximum(_norm(truth), _CANCELLED * _norm(summed))
    # A row without any term is held against the largest one, so that 0 alone is right there.
    largest = float(np.max(size, initial=0.0)) or 1.0
    size = np.where(size > 0, size, largest)
    with np.errstate(all="ignore"):
        error = np.where(np.isfinite(made).all(axis=-1), _norm(made - truth), np.nan) / size
    own = np.maximum(own / size, float(np.finfo(problem.case.q.dtype).eps))
    most = np.maximum(STATED, single / size)
    share = np.where(np.isfinite(error), error / own, np.inf) + np.where(error > most, 1e30, 0.0)
    if only is not None:
        share = np.where(only, share, -1.0)
    row = tuple(int(i) for i in np.unravel_index(int(np.argmax(share)), share.shape))
    return Figure(name, problem, float(error[row]), float(own[row]), float(most[row]), row)
