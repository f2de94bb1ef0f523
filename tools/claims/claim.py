"""A claim of the published analyses, and what a measurement says of it.

A claim is written down once, in this project's words, beside the function that measures it. What
holds is computed from the measurement; only claims that nothing can measure carry a reason instead.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass, field

from tools.claims.runs import Runs

__all__ = ["HOLDS", "PARTLY", "REASONS", "Claim", "Finding", "Measure", "Section", "settled", "whether"]

#: What the column says of a claim that was measured.
HOLDS = {True: "yes", False: "**no**"}
PARTLY = "partly"

#: One word each for claims that are listed and not measured.
REASONS = {
    "GPU": "needs a GPU or its profiler",
    "prose": "a statement about comments, docstrings or documents",
    "opinion": "a preference",
    "external": "a fact about the world outside the submissions",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What a measurement showed, as two cells of a table.

    Attributes:
        measured: The figures, in a few words.
        verdict: Whether the claim holds; of a contradiction, what is true.
    """

    measured: str
    verdict: str


#: What the checks found on the reconstructions → what that says of a claim.
Measure = Callable[[Runs], Finding]


@dataclass(frozen=True, slots=True)
class Claim:
    """One row.

    Attributes:
        ident: Number of the claim, ``"C005"`` or ``"X15"``.
        models: Whom it is about.
        says: The claim, in this project's words.
        by: The checks that measure it, ``"experiment"``, or ``"scores"`` for the figures in scores/.
        measure: What measures it; ``None`` for a claim that is only listed.
        reason: A key of :data:`REASONS` for a claim that is only listed.
    """

    ident: str
    models: str
    says: str
    by: str = ""
    measure: Measure | None = None
    reason: str = ""


@dataclass(frozen=True)
class Section:
    """A table of the page.

    Attributes:
        name: Of its markers.
        title: Heading.
        verdict: Head of the last column.
        claims: In the order of their numbers, wherever they are measured.
    """

    name: str
    title: str
    verdict: str = "Holds"
    claims: list[Claim] = field(default_factory=list)

    def claim(
        self, ident: str, models: str, says: str, by: str = "experiment"
    ) -> Callable[[Measure], Measure]:
        """Enter the decorated function as the measurement of a claim, a :class:`Claim` of these words."""

        def enter(measure: Measure) -> Measure:
            self._enter(Claim(ident, models, says, by, measure))
            return measure

        return enter

    def listed(self, ident: str, models: str, says: str, reason: str) -> None:
        """Enter a claim that nothing here measures.

        Raises:
            ValueError: The reason is no key of :data:`REASONS`.
        """
        if reason not in REASONS:
            raise ValueError(f"{ident}: {reason!r} is no reason")
        self._enter(Claim(ident, models, says, reason=reason))

    def _enter(self, claim: Claim) -> None:
        insort(self.claims, claim, key=lambda entered: entered.ident)


def whether(holds: bool, measured: str) -> Finding:
    """A finding that says yes or no."""
    return Finding(measured, HOLDS[bool(holds)])


def settled(holds: bool, measured: str, truth: str) -> Finding:
    """A finding on a contradiction.

    Args:
        holds: Whether the measurement bears the truth out; where it does not, the page says so.
        measured: The figures, in a few words.
        truth: What settles the contradiction.
    """
    return Finding(measured, truth if holds else "**open**: the measurement does not bear out " + truth)
