"""Answers held against the truth, row by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from judge_tui.checks.check import Findings
from judge_tui.checks.remembered import Remembered
from judge_tui.checks.size_conditions import where_masked
from judge_tui.checks.tasks.flash_attention.cases import Case
from judge_tui.checks.tasks.flash_attention.reference import Array, largest_score, plain
from judge_tui.checks.tolerance import calibrated, relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["COMPARED", "FAR_BELOW", "HIGH", "STATED", "Held", "Rows"]

#: The error that the challenge itself allows.
STATED = 1e-4
#: Sizes of which one may have to be larger than the other.
COMPARED = (("T", "N"), ("N", "D"))
#: Rounding of a score s moves its weight by eps · |s|, in whatever order sound code computes it.
_PER_SCORE = 8.0
#: What is likely where special scores alone are answered wrongly → names of which one is wrong, and all.
_NEAR, _TURNS, _APART = "scores near -900", "scores near 900 and -900 by turns", "scores 1800 apart"
HIGH = "scores near 900"
_LOW = frozenset({"scores near -20000", "scores near -70000"})
_HIDDEN = frozenset({f"hidden keys score highest, by {by} from key to key" for by in ("64", "32768")})
#: Scores that a maximum may never come down to.
FAR_BELOW = _LOW | {_NEAR}
_SPECIAL: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "what hides a key is outweighed by its score, or the maximum is taken before the mask": (
        _HIDDEN, _HIDDEN | {"scores times 30"},
    ),
    "rows of a tile share a maximum, below which others underflow": (
        frozenset({_TURNS}), _HIDDEN | {_TURNS, "scores times 30"},
    ),
    "a finite number stands for -inf, and these scores are below it": (_LOW, _LOW | {_TURNS}),
    "the maximum starts from a finite number, or takes in a score of 0 that is none": (
        frozenset({_NEAR}), _LOW | {_NEAR, _TURNS, _APART},
    ),
    "no maximum is taken off before exp": (
        frozenset({HIGH}),
        _LOW | _HIDDEN | {_NEAR, _TURNS, _APART, HIGH, "scores times 30"},
    ),
}  # fmt: skip
#: Limits of a case in its own dtype and in float32.
_LIMITS: Remembered[tuple[float, float]] = Remembered()


@dataclass(frozen=True, slots=True)
class Held:
    """The rows of one case against the truth.

    Attributes:
        case: What was called.
        error: Largest relative error of a row; NaN when a row is not finite where the truth is.
        own: Limit of sound arithmetic in the case's dtype.
        most: Limit past which the answer is wrong: the challenge's own, or float32's on this input.
    """

    case: Case
    error: float
    own: float
    most: float

    @property
    def verdict(self) -> Verdict:
        """Pass within ``own``, warn within ``most``."""
        if self.error <= self.own:
            return Verdict.PASS
        return Verdict.WARN if self.error <= self.most else Verdict.FAIL

    @property
    def badness(self) -> float:
        """For finding the worst: the error in units of its own limit."""
        return float("inf") if self.error != self.error else self.error / self.own


@dataclass(slots=True)
class Rows:
    """Cases of one check as they are held against the truth."""

    held: list[Held] = field(default_factory=list)

    def hold(self, case: Case, out: Array) -> Held:
        """Compare one answer row by row.

        Args:
            case: The call.
            out: O (B, H, N, D).
        """
        own, single = _LIMITS.of((case.q, case.k, case.v), lambda: _limits(case), case.causal)
        with np.errstate(over="ignore"):
            error = relative_error(out, case.truth)
        held = Held(case, error, own, max(STATED, single))
        self.held.append(held)
        return held

    @property
    def worst(self) -> Held:
        """The case that is furthest from its own limit; where plain ones are wrong, one of these."""

        def rank(held: Held) -> tuple[bool, bool, float]:
            wrong = held.verdict is Verdict.FAIL
            return wrong, wrong and held.case.plain, held.badness

        return max(self.held, key=rank)

    @property
    def only_where(self) -> str:
        """What the sizes of wrong cases alone have in common, as a clause; one key hides what is wrong."""
        if not any(held.case.plain for held in self.held if held.verdict is Verdict.FAIL):
            return ""
        return where_masked(
            (
                (held.case.causal, held.case.sizes, held.verdict is not Verdict.FAIL)
                for held in self.held
                if held.case.q.shape[2] > 1
            ),
            compared=COMPARED,
        )

    @property
    def special(self) -> str:
        """What is likely where special scores alone are answered wrongly, as a clause."""
        wrong = [held.case for held in self.held if held.verdict is Verdict.FAIL]
        if not wrong or any(case.plain for case in wrong):
            return ""
        names = {case.name for case in wrong}
        return next((words for words, (some, may) in _SPECIAL.items() if names & some and names <= may), "")

    def decide(
        self,
        found: Findings,
        quantity: str,
        *,
        strict: bool = True,
        past: Verdict = Verdict.FAIL,
        **where: Any,
    ) -> Held:
        """Let the worst case decide.

        Args:
            found: Where the figure goes.
            quantity: What was measured.
            strict: Whether being within the challenge's limit but past the dtype's own warns.
            past: The verdict of an answer past every limit.
            where: Location and note of the evidence.
        """
        worst = self.worst
        limit = worst.most if worst.verdict is Verdict.FAIL or not strict else worst.own
        table = (
            ("case", "error", "limit of the dtype", "limit"),
            *((str(h.case), f"{h.error:.3g}", f"{h.own:.2g}", f"{h.most:.2g}")
              for h in self.held),
        )  # fmt: skip
        otherwise = past if worst.verdict is Verdict.FAIL else Verdict.WARN
        found.limit(
            f"{quantity}, relative error per row",
            worst.error,
            limit,
            otherwise=otherwise,
            table=table,
            **where,
        )
        return worst


def _limits(case: Case) -> tuple[float, float]:
    """Errors within which sound arithmetic stays: in the case's own dtype, and in float32."""
    with np.errstate(all="ignore"):
        score = largest_score(case.q, case.k, case.causal)
    own = _limit(case, case.truth, score, case.q.dtype)
    single = np.dtype(np.float32)
    return own, own if case.q.dtype == single else _limit(case, case.truth, score, single)


def _limit(case: Case, truth: Array, score: float, dtype: np.dtype[Any]) -> float:
    with np.errstate(all="ignore"):
        error = relative_error(plain(case.q, case.k, case.v, case.causal, dtype), truth)
    floor = _PER_SCORE * float(np.finfo(dtype).eps) * score
    # Where plain arithmetic in the dtype overflows it says nothing.
    return calibrated(error if error == error else 0.0, dtype, floor=floor)
