"""Limits, and the worst of many rows with its place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.kv.faces.storage import entries
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.sizes import Sizes
from judge_tui.checks.tolerance import calibrated

__all__ = [
    "CODES",
    "ROUNDS",
    "Precision",
    "Worst",
    "float32_limit",
    "precision",
    "stores_half",
    "weighs_what_is_there",
]

#: What float16 storage costs at most.
_HALF = 2e-2
#: What codes of four bits cost at most, where one scale serves a whole tensor of normal numbers; a row that
#: is lost or another's is off by one and more.
CODES = 0.5

#: Of scores so low that what merges parts of a softmax by their log-sum-exp has no digits left for it.
ROUNDS = "its weights are rounded at such scores, and are all of tokens that are there"
#: How near to 1 the sum of weights is then.
_WHOLE = 1e-3


@dataclass(frozen=True, slots=True)
class Precision:
    """What a dtype allows.

    Attributes:
        dtype: Its name.
        floor: The limit that the challenge states.
    """

    dtype: str
    floor: float

    def limit(self, plain_error: float) -> float:
        """The limit for a relative error, given that of a plain implementation."""
        return calibrated(plain_error, self.dtype, floor=self.floor)


def precision(dtype: str) -> Precision:
    """1e-5 in float32, 1e-10 in float64."""
    return Precision(dtype, 1e-10 if dtype == "float64" else 1e-5)


def float32_limit(subject: Subject, plain_error: float = 0.0) -> float:
    """The limit for float32 input; wider where keys and values are stored as float16 or codes by design."""
    if subject.codes:
        return CODES
    limit = precision("float32").limit(plain_error)
    return max(limit, _HALF) if stores_half(subject) else limit


def stores_half(subject: Subject) -> bool:
    """Whether a cache keeps float16 though float32 comes in and was asked for."""
    if not subject.mode:
        return False
    cached = subject.cached(Sizes())
    cached.feed(*drawn(np.random.default_rng(1), cached.sizes, 1))
    return any(entry.dtype == "float16" for entry in entries(cached))


def weighs_what_is_there(answers: Iterable[npt.NDArray[np.float64]]) -> bool:
    """Whether answers give all weight to tokens whose values are 1, where nothing else has such values."""
    return all(bool((np.abs(answer - 1.0) <= _WHOLE).all()) for answer in answers)


@dataclass(frozen=True, slots=True)
class Worst:
    """The largest error so far.

    Attributes:
        error: NaN is worse than any figure.
        where: Which row.
        cause: What it looks like; empty when unknown.
    """

    error: float = 0.0
    where: str = ""
    cause: str = ""

    @classmethod
    def of(cls, errors: Sequence[float], where: str) -> Worst:
        """The worst of several figures of one place."""
        return cls(float("nan") if np.isnan(errors).any() else max(errors), where)

    def or_worse(self, other: Worst) -> Worst:
        """The worse of two; of two that are wrong the one whose cause is known."""
        if np.isnan(self.error) or np.isnan(other.error):
            return self if np.isnan(self.error) else other
        if self.error > 1e-3 and other.error > 1e-3 and bool(self.cause) != bool(other.cause):
            return self if self.cause else other
        return self if self.error >= other.error else other

    def share(self, limit: float) -> float:
        """The error as a share of a limit; infinite for NaN."""
        return float("inf") if np.isnan(self.error) else self.error / limit

    def wrong(self, limit: float) -> bool:
        """Whether it is over a limit; NaN always is."""
        return not self.error <= limit

    @property
    def because(self) -> str:
        """``: cause``, for the end of a sentence."""
        return f": it equals attention in which {self.cause}" if self.cause else ""

    @property
    def note(self) -> str:
        """Where it was, and what it looks like."""
        if not self.where:
            return ""
        looks = f"; equals attention in which {self.cause}" if self.cause else ""
        return f"worst at {self.where}{looks}"
