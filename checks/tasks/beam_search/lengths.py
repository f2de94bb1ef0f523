"""What wrong scores take for the length of a beam, told only where a single cause explains all of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Taken", "as_if", "whole_length"]

#: Logarithm of a length that no search comes to.
_LONGEST = 20.0
#: Sums in float32 still show a whole length to so much of it.
_WHOLE = 1e-5


@dataclass(frozen=True, slots=True)
class Taken:
    """What a score takes for the length of its beam.

    Attributes:
        search: Number of the search that returned it.
        length: Its tokens, EOS among them.
        before: Tokens of its prompt.
        steps: The most new tokens.
        taken: The length of which the score would be right; None where it is of none that is whole.
        ended: Whether it ends with EOS.
    """

    search: int
    length: int
    before: int
    steps: int
    taken: int | None
    ended: bool = False


def whole_length(score: float, total: float, alpha: float) -> int | None:
    """The length of which a score would be right, where that is a whole number.

    Args:
        score: What was returned.
        total: The sum of the beam's log-probabilities.
        alpha: Length penalty's exponent, not 0.
    """
    if not (score and math.isfinite(score) and total / score > 0):
        return None
    exponent = math.log(total / score) / alpha
    length = math.exp(exponent) if abs(exponent) < _LONGEST else 0.0
    return round(length) or None if abs(length - round(length)) <= _WHOLE * length else None


def as_if(beam: Taken, beams: Sequence[Taken]) -> str:
    """Of what length a wrong score would be right, as a clause, and why; empty where that explains nothing.

    Args:
        beam: Whose score is wrong.
        beams: All whose scores are penalised, of searches with several prompts and steps: a cause that does
            not explain each of them is none, nor is one that another explains as well.
    """
    if len({b.length for b in beams}) < 2 or not all(b.taken for b in beams) or beam.taken == beam.length:
        return ""
    causes = [told(beam) for fits, told in _CAUSES if fits(beams)]
    why = causes[0] if len(causes) == 1 else ""
    return f", as if of length {beam.taken} and not {beam.length}{why}"


def _prompt_counted(beams: Sequence[Taken]) -> bool:
    """Behind prompts of one length, any constant would do."""
    return len({b.before for b in beams}) > 1 and all(b.taken == b.length + b.before for b in beams)


def _one_for_all(beams: Sequence[Taken]) -> bool:
    """Where all beams of a search are as long as each other, what is one for all of them does not show."""
    searches = _by_search(beams)
    same = all(len({b.taken for b in group}) == 1 for group in searches)
    within = all(b.taken is not None and b.length <= b.taken <= b.steps for b in beams)
    return same and within and any(len({b.length for b in group}) > 1 for group in searches)


def _unpenalised(beams: Sequence[Taken]) -> bool:
    """A sum is a score of length 1; a search that is penalised right may stand beside."""
    return all(
        all(b.taken == 1 for b in group) or all(b.taken == b.length for b in group)
        for group in _by_search(beams)
    )


def _live_as_one(beams: Sequence[Taken]) -> bool:
    """What has ended is right, and the other has a length of 1 at any."""
    both = {b.ended for b in beams}
    return len(both) > 1 and all(b.taken == (b.length if b.ended else 1) for b in beams)


def _by_search(beams: Sequence[Taken]) -> list[list[Taken]]:
    return [list(group) for _number, group in itertools.groupby(beams, lambda b: b.search)]


def _always(length: Callable[[int], int]) -> Callable[[Sequence[Taken]], bool]:
    """Another length for each, whatever the prompt."""
    return lambda beams: (
        len({b.before for b in beams}) > 1 and all(b.taken == length(b.length) for b in beams)
    )


_CAUSES: tuple[tuple[Callable[[Sequence[Taken]], bool], Callable[[Taken], str]], ...] = (
    (_prompt_counted, lambda beam: f": the prompt's {beam.before} counted"),
    (_one_for_all, lambda _: ": one length for all beams of a search, not each its own"),
    (_live_as_one, lambda _: ": what has not ended counts as of length 1"),
    (_unpenalised, lambda _: ", or without a penalty"),
    (_always(lambda length: length + 1), lambda _: ": one more than each has"),
    (_always(lambda length: max(length - 1, 1)), lambda _: ": one less than each has"),
    (_always(lambda length: length**2), lambda _: ": as by twice the exponent"),
)
