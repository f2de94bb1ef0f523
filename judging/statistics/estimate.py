"""A figure with its interval, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Effect", "Estimate"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval.

    Attributes:
        value: The figure.
        low: Lower end of its interval.
        high: Upper end.
        n: What it rests on: comparisons, cells or submissions, as the result that holds it says.
    """

    value: float
    low: float
    high: float
    n: int

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval is on one side of 0."""
        return self.low > 0 or self.high < 0

    def __neg__(self) -> Estimate:
        return Estimate(-self.value, -self.high, -self.low, self.n)


@dataclass(frozen=True, slots=True)
class Effect:
    """A figure that is tested against 0, or a sentence in its place.

    Attributes:
        n: Observations.
        blocks: Independent parts that they fall into.
        of: What the parts are, in the plural: tasks, or less where there are few tasks.
        estimate: The figure; ``None`` where too little is there.
        p: Probability of a figure as far from 0, or further, were there no effect; likewise.
        told: Why there is no figure, one sentence; empty where there is one.
    """

    n: int
    blocks: int
    of: str
    estimate: Estimate | None = None
    p: float | None = None
    told: str = ""
