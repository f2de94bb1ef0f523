"""Mistakes that indices may show: the one that fits every wrong row and that no right one refutes.

A reading says of a row for which of its parameters, such as a number of leading bits, the row's answer is
what it gives; the parameters that all rows have in common are left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from judge_tui.checks.tasks.fuse.answered_rows import Row

__all__ = ["UNITS", "Reading", "fitting"]

#: Threads, lanes and units that places are counted by.
UNITS = tuple(1 << bit for bit in range(1, 13))
#: How likely it must be that right rows are right although a mistake leaves them a choice, as a logarithm.
_LUCK = -7.0
#: Wrong rows of which some may be told otherwise, and the share that is not.
_MANY, _MOST = 8, 0.85


@dataclass(frozen=True, slots=True)
class Reading:
    """A mistake that indices may show.

    Attributes:
        gives: Row → the parameters for which the mistake gives its answer, right rows too; ``None`` where
            the row does not tell.
        words: Parameter → a clause.
        best: Orders parameters, of which the least is told.
        leaves: How many other answers of about as many entries it allows; what says most is told, and must
            leave fewer than there are entries in a wrong row.
        luck: Logarithm of how likely a right row is under it.
        sure: Whether it says of every entry which it is, so that most of the wrong rows are enough.
    """

    gives: Callable[[Row], set[Hashable] | None]
    words: Callable[[Hashable], str]
    best: Callable[[Hashable], object] = str
    leaves: Callable[[Row, Hashable], int] = lambda _row, _one: 0
    luck: Callable[[Row, Hashable], float] = lambda _row, _one: 0.0
    sure: bool = False


def fitting(readings: Iterable[Reading], rows: Iterable[Row]) -> str:
    """What is wrong with the indices of rows, as a clause.

    Args:
        readings: Mistakes that are looked for, the likelier first.
        rows: Right ones and wrong ones of all launches.

    Returns:
        Empty where all are right, and where nothing that is known gives them all.
    """
    known = list(rows)
    wrong = [row for row in known if not row.right]
    if not wrong:
        return ""
    right = [row for row in known if row.right]
    for reading in readings:
        common = _common(reading, wrong, right)
        asked = [row for row in wrong if reading.gives(row) is not None]
        shown = _shown(reading, asked, {one for one in common if _likely(reading, one, right)})
        if shown:
            return reading.words(min(shown)[-1]) + _or_else([each[-1] for each in sorted(shown)])
    return ""


def _or_else(found: Sequence[Hashable]) -> str:
    """Other rests that are left out as well as the one that is told."""
    first, *others = found
    rests = [one[1] for one in others if isinstance(one, tuple) and one[0] == "rest"]
    if not isinstance(first, tuple) or first[0] != "rest" or not rests:
        return ""
    return f" (or V % {', '.join(map(str, rests[:4]))})"


def _common(reading: Reading, wrong: Sequence[Row], right: Sequence[Row]) -> set[Hashable]:
    """The parameters that all rows that tell have in common; of some readings, all but a few wrong ones."""
    given = [each for each in map(reading.gives, wrong) if each is not None]
    if not given:
        return set()
    if reading.sure and len(given) >= _MANY:
        counted = Counter(one for each in given for one in each)
        common = {one for one, count in counted.items() if count >= _MOST * len(given)}
    else:
        common = set.intersection(*given)
    for each in map(reading.gives, right) if common else ():
        common = common if each is None else common & each
    return common


def _likely(reading: Reading, one: Hashable, right: Iterable[Row]) -> bool:
    """Whether right rows could be right by a mistake's parameter."""
    return sum(reading.luck(row, one) for row in right) > _LUCK


def _shown(reading: Reading, rows: Sequence[Row], common: set[Hashable]) -> list[tuple[Any, ...]]:
    """Parameters that wrong rows show, in front of each what it leaves and its rank."""
    found, least = [], max((row.count for row in rows), default=0)
    for one in common:
        left = [reading.leaves(row, one) for row in rows if one in (reading.gives(row) or ())]
        if any(other <= least for other in left):
            found.append((sum(left), reading.best(one), str(one), one))
    return found
