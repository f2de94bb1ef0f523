"""Which keys causal rows see where blocks of queries or keys are cut, bounded or masked by a wrong rule."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.flash_attention.cases import Case

__all__ = ["every_so_many", "newest_alone", "spoken_against", "wrong_blocks"]

_Count = npt.NDArray[np.int64]
#: How long blocks may be → of T and the key tile that is told, 0 where none is.
_Length = Callable[[int, int], int]
#: Up to which key a block of queries goes; of its start, its end, its number, both lengths and N.
_Bound = Callable[[int, int, int, int, int, int], int]
#: Whether a block of keys is masked; of start, end and number of both, and the last number that is visited.
_Masked = Callable[[int, int, int, int, int, int, int], bool]

_LENGTHS: Mapping[str, _Length] = {
    "T": lambda t, k: t,
    "the key tile's length": lambda t, k: k,
    "T/2": lambda t, k: t // 2,
    "⌈T/2⌉": lambda t, k: -(-t // 2),
    "2T": lambda t, k: 2 * t,
    "T/4": lambda t, k: t // 4,
    **{f"at most {unit}": (lambda t, k, unit=unit: min(t, unit)) for unit in (8, 16, 32, 64, 128)},  # type: ignore[misc]
    **{str(unit): (lambda t, k, unit=unit: unit) for unit in (8, 16, 32, 64, 128)},  # type: ignore[misc]
}
_BOUNDS: Mapping[str, _Bound] = {
    "": lambda s, e, i, q, k, n: -(-e // k) * k,
    "its number of blocks of keys is rounded down": lambda s, e, i, q, k, n: e // k * k,
    "it goes up to the block of keys that its first row stands in alone": lambda s, e, i, q, k, n: (
        (s // k + 1) * k
    ),
    "it visits as many blocks of keys as there are blocks of queries so far": lambda s, e, i, q, k, n: (
        (i + 1) * k
    ),
    "it visits (i + 1) · (T // the length of a block of keys) blocks of keys": lambda s, e, i, q, k, n: (
        (i + 1) * (q // k) * k
    ),
    "it visits blocks of keys that begin before its first row alone": lambda s, e, i, q, k, n: -(-s // k) * k,
}
_MASKED: Mapping[str, _Masked] = {
    "": lambda qs, qe, i, ks, ke, j, last: True,
    "nothing is masked in what it visits": lambda qs, qe, i, ks, ke, j, last: False,
    "of the blocks of keys that it visits the last alone is masked": lambda qs, qe, i, ks, ke, j, last: (
        j == last
    ),
    "only blocks of keys that begin at or behind its first row are masked": (
        lambda qs, qe, i, ks, ke, j, last: ks >= qs
    ),
    "only blocks of keys that begin behind its first row are masked": (
        lambda qs, qe, i, ks, ke, j, last: ks > qs
    ),
    "only blocks of keys that reach its end are masked": lambda qs, qe, i, ks, ke, j, last: ke >= qe,
    "only the block of keys of its own number is masked": lambda qs, qe, i, ks, ke, j, last: j == i,
}

#: The most keys of which some may be read.
_LONGEST = 128


@dataclass(frozen=True, slots=True)
class _Rule:
    """How rows are cut, bounded and masked."""

    queries: str
    keys: str
    bound: str
    masked: str

    def counts(self, case: Case) -> _Count | None:
        """Which keys each row counts (N, N); ``None`` where a length is none."""
        n, t = case.q.shape[2], case.tile
        q, k = (_LENGTHS[name](t, case.key_tile) for name in (self.queries, self.keys))
        if q < 1 or k < 1:
            return None
        count = np.zeros((n, n), dtype=np.int64)
        for i, start in enumerate(range(0, n, q)):
            end = min(start + q, n)
            upto = min(_BOUNDS[self.bound](start, end, i, q, k, n), n)
            last = (upto - 1) // k
            for j, first in enumerate(range(0, upto, k)):
                stop = min(first + k, upto)
                block = np.ones((end - start, stop - first), dtype=bool)
                if _MASKED[self.masked](start, end, i, first, min(first + k, n), j, last):
                    block = np.arange(first, stop) <= np.arange(start, end)[:, None]
                count[start:end, first:stop] = block
        return count

    @property
    def words(self) -> str:
        """As a clause."""
        rules = " and ".join(filter(None, (self.bound, self.masked)))
        if self.queries == self.keys == "T":
            return f"of each tile of queries: {rules}"
        return f"of each block of {self.queries} queries, with keys in blocks of {self.keys}: {rules}"


def wrong_blocks(cases: Sequence[Case], counts: Sequence[_Count]) -> str:
    """The rule by which blocks are cut, bounded and masked, as a clause; empty where none fits.

    Args:
        cases: What was called.
        counts: How often each row counts each key (N, N); below 0 where that is unknown.
    """
    pairs = sorted(zip(cases, counts, strict=True), key=lambda pair: pair[0].q.shape[2])
    if not all(case.causal for case in cases) or any(int(count.max(initial=0)) > 1 for count in counts):
        return ""
    for rule in _rules():
        if all(_fits(count, rule.counts(case)) for case, count in pairs):
            return rule.words
    return ""


def spoken_against(words: str, right: Sequence[Case]) -> bool:
    """Whether by a rule that :func:`wrong_blocks` has told most answers would be wrong that are right.

    Args:
        words: What was told; of anything else nothing speaks against it.
        right: Calls that were answered rightly.
    """
    rule = next((rule for rule in _rules() if rule.words == words), None)
    if rule is None:
        return False
    counts = [rule.counts(case) for case in right if case.causal and 1 < case.q.shape[2] <= _LONGEST]
    told = [count for count in counts if count is not None]
    against = sum(not np.array_equal(count, np.tri(len(count), dtype=np.int64)) for count in told)
    return 2 * against > len(told)


def every_so_many(cases: Sequence[Case], counts: Sequence[_Count]) -> str:
    """Whether of every so many keys, or rows, the first alone, or the last, count, as a clause.

    Args:
        cases: What was called.
        counts: How often each row counts each key (N, N); below 0 where that is unknown.
    """
    for what, axis in (("keys", 0), ("rows", 1)):
        kept = [_kept(case, count, axis) for case, count in zip(cases, counts, strict=True)]
        if any(each is None for each in kept):
            continue
        whole = [each for each in kept if each is not None]
        for unit in range(2, min(_LONGEST, max(map(len, whole))) + 1):
            at = [np.arange(len(each)) % unit for each in whole]
            for part, last in itertools.product(range(1, unit), (False, True)):
                some = ((one >= unit - part) if last else (one < part) for one in at)
                if all(np.array_equal(each, those) for each, those in zip(whole, some, strict=True)):
                    are, done = "is" if part == 1 else "are", "read" if what == "keys" else "written"
                    only = f"only the {'last' if last else 'first'} {part} {are} {done}"
                    longest = max(map(len, whole))
                    if longest <= unit and not last:
                        return f"of {longest} {what} {only}"
                    return f"of every {unit} {what} {only}"
    return ""


def _kept(case: Case, count: _Count, axis: int) -> npt.NDArray[np.bool_] | None:
    """Which keys count in every row that may see them, or which rows count any key; ``None`` for neither."""
    seen = np.tri(case.q.shape[2], dtype=bool) | (not case.causal)
    kept = np.asarray((count[-1] if axis == 0 else count[:, 0]) > 0)
    given = (seen & (kept if axis == 0 else kept[:, None])).astype(np.int64)
    return kept if _fits(count, given) else None


def newest_alone(cases: Sequence[Case], counts: Sequence[_Count]) -> str:
    """Whether a row sees its newest keys alone, as a clause; arguments as of :func:`every_so_many`."""
    if not all(case.causal for case in cases):
        return ""
    widths = {int((count[-1] > 0).sum()) for count in counts}
    if len(widths) != 1 or (width := widths.pop()) == 0:
        return ""
    for count in counts:
        back = np.subtract.outer(np.arange(len(count)), np.arange(len(count)))
        if not _fits(count, ((back >= 0) & (back < width)).astype(np.int64)):
            return ""
    return f"a row sees the newest {width} keys alone (a window)"


def _rules() -> Iterator[_Rule]:
    rules = [(bound, masked) for bound, masked in itertools.product(_BOUNDS, _MASKED) if bound or masked]
    rules.sort(key=lambda rule: bool(rule[0]) + bool(rule[1]))
    lengths = sorted(itertools.product(_LENGTHS, _LENGTHS), key=lambda both: sum(map(_rare, both)))
    for (queries, keys), (bound, masked) in itertools.product(lengths, rules):
        yield _Rule(queries, keys, bound, masked)


def _rare(length: str) -> int:
    return list(_LENGTHS).index(length)


def _fits(count: _Count, wanted: _Count | None) -> bool:
    return wanted is not None and bool(np.all((count < 0) | (count == wanted)))
