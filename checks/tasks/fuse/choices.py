"""What was chosen in place of the top-k: the reading that fits every wrong row and that no right one refutes.

A reading says of a row for which of its parameters, such as a number of leading bits, the row's answer is
what it gives; the parameters that all rows have in common are left. Where there are none, the first wrong row
is told as it is: how many of the K largest are missing, and what stands in their places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lgamma
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.fuse.by_entry import merged_place_by_place
from judge_tui.checks.tasks.fuse.hard_rows import keys

__all__ = ["Row", "as_it_is", "chosen_instead", "out_of_range"]

Indices = npt.NDArray[np.int64]
#: Threads, lanes and units that places are counted by.
_UNITS = tuple(1 << bit for bit in range(1, 13))
#: What indices may be kept modulo besides.
_WRAPPED = tuple(1 << bit for bit in (13, 14, 15, 16))
#: Leading bits that may be all that is looked at.
_BITS = (30, 28, 26, 24, 22, 20, 18, 16)
#: A rest of vector loads or of a warp's lanes is at most this.
_REST = 64
#: Places at both ends of a row that vector loads leave to other code.
_EDGE = 4
#: How likely it must be that right rows are right although a mistake leaves them a choice, as a logarithm.
_LUCK = -7.0
#: Wrong rows of which some may be told otherwise, and the share that is not.
_MANY, _MOST = 8, 0.85


@dataclass(frozen=True)
class Row:
    """A row with the indices that came for it, all of them in range and none twice.

    Attributes:
        logits: (V,) float32.
        indices: (K,).
        number: Of the row in its launch.
        launch: All logits of the launch (rows, V).
    """

    logits: npt.NDArray[np.float32]
    indices: Indices
    number: int
    launch: npt.NDArray[np.float32]

    @property
    def count(self) -> int:
        """Number of entries, K."""
        return len(self.indices)

    @cached_property
    def order(self) -> Indices:
        """The right indices, of equal logits the first."""
        return np.argsort(-self.logits, kind="stable")[: self.count]

    @cached_property
    def picked(self) -> npt.NDArray[np.float32]:
        """The logits that were chosen."""
        return self.logits[self.indices]

    @cached_property
    def right(self) -> bool:
        """Whether these are the sorted top-k."""
        return bool((self.picked == self.logits[self.order]).all())

    @cached_property
    def missing(self) -> Indices:
        """Of the K largest those that are missing: all that are larger than the least one that was chosen."""
        lost = np.setdiff1d(self.order, self.indices)
        return np.asarray(lost[self.logits[lost] > self.picked.min()])

    @property
    def falls(self) -> bool:
        """Whether what was chosen comes largest first."""
        return bool((self.picked[1:] <= self.picked[:-1]).all())


@dataclass(frozen=True, slots=True)
class _Reading:
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


def chosen_instead(rows: Iterable[Row]) -> str:
    """What is wrong with the indices of rows, as a clause.

    Args:
        rows: Right ones and wrong ones of all launches.

    Returns:
        Empty where all are right, and where nothing that is known gives them all.
    """
    known = list(rows)
    wrong = [row for row in known if not row.right]
    if not wrong:
        return ""
    right = [row for row in known if row.right]
    for reading in _READINGS:
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


def _common(reading: _Reading, wrong: Sequence[Row], right: Sequence[Row]) -> set[Hashable]:
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


def _likely(reading: _Reading, one: Hashable, right: Iterable[Row]) -> bool:
    """Whether right rows could be right by a mistake's parameter."""
    return sum(reading.luck(row, one) for row in right) > _LUCK


def _shown(reading: _Reading, rows: Sequence[Row], common: set[Hashable]) -> list[tuple[Any, ...]]:
    """Parameters that wrong rows show, in front of each what it leaves and its rank."""
    found, least = [], max((row.count for row in rows), default=0)
    for one in common:
        left = [reading.leaves(row, one) for row in rows if one in (reading.gives(row) or ())]
        if any(other <= least for other in left):
            found.append((sum(left), reading.best(one), str(one), one))
    return found


def as_it_is(rows: Iterable[Row]) -> str:
    """The first wrong row in words, where nothing is known of it; empty where all are right.

    Args:
        rows: Of all launches.
    """
    row = next((row for row in rows if not row.right), None)
    if row is None:
        return ""
    if not len(row.missing):
        if (row.picked[1:] >= row.picked[:-1]).all():
            return "the K largest are all there, smallest first"
        if (np.diff(row.indices) > 0).all():
            return "the K largest are all there, in the order of their places in the row"
        place = int(np.argmax(row.picked[1:] > row.picked[:-1])) + 1
        count = int((row.picked != row.logits[row.order]).sum())
        return (
            f"the K largest are all there, but not in order: {count} stand elsewhere, from place {place} on"
        )
    ranks = np.flatnonzero(np.isin(row.order, row.missing))
    where = f"{_listed('rank', ranks + 1)}, {_listed('index', row.missing)}"
    are = "is" if len(ranks) == 1 else "are"
    return f"of the {row.count} largest {len(ranks)} {are} missing ({where}), {_stands(row)}"


def _listed(word: str, numbers: Indices) -> str:
    plural = {"index": "indices", "rank": "ranks"}[word]
    shown = ", ".join(f"{number}" for number in sorted(numbers)[:5]) + (", …" if len(numbers) > 5 else "")
    return f"{word} {shown}" if len(numbers) == 1 else f"{plural} {shown}"


def _stands(row: Row) -> str:
    """What stands in the places of what is missing."""
    ranked = np.sort(row.logits)[::-1]
    left = np.sort(np.delete(row.logits, row.missing))[::-1][: row.count]
    if (np.sort(row.picked)[::-1] == left).all():
        return "the next smaller ones stand for them"
    rank = int(np.searchsorted(-ranked, -row.picked.min())) + 1
    return f"logits down to the {rank}th largest stand for them"


def _of_other_rows(row: Row) -> set[Hashable]:
    if row.right or len(row.launch) < 2:
        return {"another"} if row.right else set()
    found: set[Hashable] = set()
    for other, logits in enumerate(row.launch):
        top = np.argsort(-logits, kind="stable")[: row.count]
        if other != row.number and (top == row.indices).all():
            found |= {"another", other - row.number}
    return found


def _other_words(one: Hashable) -> str:
    if not isinstance(one, int):
        return "a row is given another row's indices"
    way = "behind" if one > 0 else "before"
    return f"a row is given the indices of the row {abs(one)} {way} it"


_STARTS: dict[str, Callable[[int, int], int]] = {
    "as if each had V rounded down to a multiple of four": lambda row, V: row * (V // 4 * 4),
    "as if each had V rounded up to a multiple of four": lambda row, V: row * (-(-V // 4) * 4),
    "at the 16-byte boundary in front of its start": lambda row, V: row * V // 4 * 4,
    "at the 16-byte boundary behind its start": lambda row, V: -(-row * V // 4) * 4,
}


def _from_elsewhere(row: Row) -> set[Hashable] | None:
    """Where else the logits begin that are taken for the row's."""
    V, flat = len(row.logits), row.launch.reshape(-1)
    found: set[Hashable] = set()
    for words, start in _STARTS.items():
        read = flat[start(row.number, V) :][:V]
        order = np.argsort(-read, kind="stable")[: row.count]
        if len(read) < V or (read[row.indices] == read[order]).all():
            found.add(words)
    return found


def _start_words(one: Hashable) -> str:
    return f"rows are read {one}"


def out_of_range(logits: npt.NDArray[np.float32], indices: Indices, number: int) -> str:
    """What indices of which some are out of range are instead, as a clause; empty when unknown.

    Args:
        logits: The row (V,).
        indices: (K,).
        number: Of the row in its launch.
    """
    V, wanted = len(logits), np.sort(logits)[::-1][: len(indices)]
    for off, one in ((number * V, "start"), (1, 1), (-1, -1)):
        moved = indices - off
        if off and ((moved >= 0) & (moved < V)).all() and (logits[np.clip(moved, 0, V - 1)] == wanted).all():
            return _shift_words(one)
    return ""


def _shifted(row: Row) -> set[Hashable] | None:
    """A number that is added to every index, some of which may be right, or to a row's start."""
    off = row.indices - row.order
    if (np.diff(np.sort(row.logits)[::-1][: row.count + 1]) == 0).any():
        return None
    found: set[Hashable] = set()
    aligned = _edge(row)
    values = set(off.tolist())
    if values <= {0, -aligned}:
        found.add("boundary")
    if values <= {0, aligned}:
        found.add("boundary, above")
    if len(values) == 1 and 0 not in values:
        found |= values
    found |= {("modulo", unit) for unit in (*_UNITS, *_WRAPPED) if (row.indices == row.order % unit).all()}
    return found


_SHIFTS = {
    "start": "each index counts from the first row's start (row · V is in it)",
    "boundary": "indices are too small by what lies in front of a row's first 16-byte boundary",
    "boundary, above": "indices are too large by what lies in front of a row's first 16-byte boundary",
}


def _shift_words(one: Hashable) -> str:
    if isinstance(one, tuple):
        told = f"each index is given modulo {one[1]}"
    else:
        told = _SHIFTS.get(str(one), f"each index is {one} off")
    return f"the right entries are found, but {told}"


def _likelier_shift(one: Hashable) -> tuple[int, int]:
    if isinstance(one, tuple):
        return 2, -int(one[1])
    return (1, abs(one)) if isinstance(one, int) else (0, 0)


def _by_another_key(row: Row) -> set[Hashable]:
    """Orders that give this answer, whichever of equal ones come first."""
    with np.errstate(all="ignore"):
        found: set[Hashable] = {name for name in _KEYS if _chosen_by(row, _value(row, name))}
    return found | {bits for bits in _BITS if _chosen_by(row, _value(row, bits))}


def _value(row: Row, one: Hashable) -> npt.NDArray[Any]:
    if isinstance(one, int):
        return keys(row.logits) >> np.uint32(32 - one)
    with np.errstate(all="ignore"):
        return _KEYS[str(one)](row.logits)


def _chosen_by(row: Row, value: npt.NDArray[Any]) -> bool:
    """Whether the largest of these values were chosen, and in their order where none is missing."""
    given, wanted = value[row.indices], np.sort(value)[::-1][: row.count]
    return bool(((np.sort(given)[::-1] if len(row.missing) else given) == wanted).all())


def _others(row: Row, one: Hashable) -> int:
    """How many logits that were not chosen are as good by an order as those that were."""
    value = _value(row, one)
    return int((value >= value[row.indices].min()).sum()) - row.count


def _luck(row: Row, one: Hashable) -> float:
    """How likely the right entries are among those that an order takes for equal; 0 in a sorted row."""
    steps = np.diff(row.logits)
    if (steps >= 0).all() or (steps <= 0).all():
        return 0.0
    value, least = _value(row, one), row.logits[row.order[-1]]
    group = row.logits[value == np.sort(value)[::-1][row.count - 1]]
    above, equal = int((group > least).sum()), int((group == least).sum())
    here = row.count - int((row.logits > least).sum()) + above
    return _ways(equal, here - above) - _ways(len(group), here)


def _ways(many: int, few: int) -> float:
    """The logarithm of the number of ways to choose a few of many."""
    return lgamma(many + 1) - lgamma(few + 1) - lgamma(many - few + 1)


def _key_words(one: Hashable) -> str:
    told = f"by their leading {one} bits alone" if isinstance(one, int) else one
    return f"logits are chosen {told}"


def _likelier_key(one: Hashable) -> tuple[bool, int]:
    return (True, -one) if isinstance(one, int) else (False, list(_KEYS).index(str(one)))


def _bfloat16(logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    bits = logits.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)).view(np.float32)


_KEYS: dict[str, Callable[[npt.NDArray[np.float32]], npt.NDArray[np.generic]]] = {
    "the smallest first, by −x": lambda x: -x,
    "by their size without the sign": np.abs,
    "by their bits as signed integers: those below zero in reverse": lambda x: x.view(np.int32),
    "by their bits as unsigned integers: those below zero come first, in reverse": lambda x: x.view(
        np.uint32
    ),
    "by their exponentials exp(x − max) in float32, equal where these vanish": lambda x: np.exp(x - x.max()),
    "by their exponentials exp(x) in float32, equal where these overflow or vanish": np.exp,
    "as integers, without their fraction": np.trunc,
    "as they are rounded to float16": lambda x: x.astype(np.float16),
    "as they are rounded to bfloat16": _bfloat16,
    "as they are rounded to bfloat16 (cut off)": lambda x: (x.view(np.uint32) & np.uint32(0xFFFF0000)).view(
        np.float32
    ),
}


def _left_out(row: Row) -> set[Hashable]:
    """Parts that are not looked at: whatever is missing lies there, and nothing that was chosen."""
    V, lost, kept = len(row.logits), row.missing, row.indices
    if not row.right and (not len(lost) or not row.falls):
        return set()
    found: set[Hashable] = set()

    def lies(inside: npt.NDArray[np.bool_]) -> bool:
        both = inside[kept] & (kept >= _EDGE) & (kept < V // _EDGE * _EDGE)
        return bool(inside[lost].all() and not both.any())

    places = np.arange(V)
    for unit in _UNITS:
        # what has no whole round may be one by itself
        if (row.right and unit > V) or ((lost >= V // unit * unit).all() and (kept < V // unit * unit).all()):
            found.add(("rest", unit))
        if lies(places >= unit):
            found.add(("behind", unit))
        for how, of in (("each", places), ("fours", (places - _edge(row)) // 4)):
            if lies(of % unit == 0):
                found.add((how, unit, 0))
            least = {unit // part * (part - 1) for part in (2, 4, 8, 16) if part < unit} | {unit - 1}
            found |= {(how, unit, one) for one in least if lies(of % unit >= one)}
    return found


def _edge(row: Row) -> int:
    """How many of its logits lie in front of its first 16-byte boundary."""
    return -row.number * len(row.logits) % 4


def _left_out_words(one: Hashable) -> str:
    assert isinstance(one, tuple)
    kind, unit = one[0], one[1]
    if kind == "rest":
        return f"the last V % {unit} logits of a row are never chosen"
    if kind == "behind":
        return f"no index from {unit} on is ever chosen"
    index, least = "index" if kind == "each" else "(index / 4)", one[2]
    if least == 0 or least == unit - 1:
        return f"no index with {index} % {unit} = {least} is ever chosen"
    return f"no index with {index} % {unit} ≥ {least} is ever chosen: a part of the threads is left out"


def _simplest(one: Hashable) -> tuple[int, int]:
    """A short rest, then all from a place on, then what threads have."""
    assert isinstance(one, tuple)
    kind, unit = one[0], int(one[1])
    return (3 if kind == "rest" and unit > _REST else ["rest", "behind", "each", "fours"].index(kind)), unit


def _by_rank(row: Row) -> set[Hashable]:
    """Which of the K largest are missing, where it is the same of every wrong row."""
    if row.right:
        return {"largest", "last", *range(1, 5)}
    ranks = np.flatnonzero(np.isin(row.order, row.missing))
    rest = np.delete(row.logits, row.missing)
    if not len(ranks) or not row.falls or not (row.picked == np.sort(rest)[::-1][: row.count]).all():
        return set()
    found: set[Hashable] = {len(ranks)} if (ranks == np.arange(len(ranks))).all() else set()
    return found | ({"last"} if ranks.tolist() == [row.count - 1] else set())


def _rank_words(one: Hashable) -> str:
    if one == "last":
        return "the K-th largest is missing, and the next one stands for it"
    return "the largest is missing, and all others move up" if one == 1 else f"the {one} largest are missing"


def _last_alone(row: Row) -> set[Hashable]:
    """The K-th largest alone is another, and a smaller one that is not the next."""
    lost = row.right or (row.picked[:-1] == row.logits[row.order[:-1]]).all()
    return {"last"} if lost else set()


def _last_words(_one: Hashable) -> str:
    return "the K-th place alone is wrong: a smaller one stands there, the other K − 1 are right"


def _values_once(row: Row) -> set[Hashable] | None:
    """Of equal logits one alone is chosen."""
    values = np.unique(row.logits + np.float32(0.0))[::-1][: row.count]
    if len(values) < row.count:
        return None
    return {"once"} if (row.picked == values).all() else set()


def _once_words(_one: Hashable) -> str:
    return "of equal logits one alone is chosen, and smaller ones stand for the others"


def _place_by_place(row: Row) -> set[Hashable] | None:
    found = merged_place_by_place(row.logits, row.indices)
    return None if found is None else set(found)


def _place_words(one: Hashable) -> str:
    told = f"sorted lists of {one} are merged place by place, the larger of both at each"
    return f"{told}, so that what is next to it is lost (one of them has to be reversed)"


def _likelier_row(one: Hashable) -> tuple[bool, str]:
    return not isinstance(one, int), str(one)


_READINGS: tuple[_Reading, ...] = (
    _Reading(_of_other_rows, _other_words, _likelier_row, sure=True),
    _Reading(_shifted, _shift_words, _likelier_shift, sure=True),
    _Reading(_from_elsewhere, _start_words, sure=True),
    _Reading(_values_once, _once_words),
    _Reading(_place_by_place, _place_words),
    _Reading(_by_another_key, _key_words, _likelier_key, _others, _luck),
    _Reading(_by_rank, _rank_words),
    _Reading(_left_out, _left_out_words, _simplest),
    _Reading(_last_alone, _last_words),
)
