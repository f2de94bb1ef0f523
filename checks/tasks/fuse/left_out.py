"""Entries that are left out: by their rank, or by their place in the row."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.fuse.answered_rows import Row
from judge_tui.checks.tasks.fuse.readings import UNITS, Reading

__all__ = ["READINGS"]

#: A rest of vector loads or of a warp's lanes is at most this.
_REST = 64
#: Places at both ends of a row that vector loads leave to other code.
_EDGE = 4


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
    for unit in UNITS:
        # what has no whole round may be one by itself
        if (row.right and unit > V) or ((lost >= V // unit * unit).all() and (kept < V // unit * unit).all()):
            found.add(("rest", unit))
        if lies(places >= unit):
            found.add(("behind", unit))
        for how, of in (("each", places), ("fours", (places - row.edge) // 4)):
            if lies(of % unit == 0):
                found.add((how, unit, 0))
            least = {unit // part * (part - 1) for part in (2, 4, 8, 16) if part < unit} | {unit - 1}
            found |= {(how, unit, one) for one in least if lies(of % unit >= one)}
    return found


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


def _ends_alone(row: Row, one: Hashable) -> int:
    """What a row says nothing of: threads, where all that is missing lies at its ends."""
    lost, V = row.missing, len(row.logits)
    inner = (lost >= _EDGE) & (lost < V // _EDGE * _EDGE)
    assert isinstance(one, tuple)
    return 0 if one[0] in ("rest", "behind") or inner.any() else V


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


READINGS: tuple[Reading, ...] = (
    Reading(_by_rank, _rank_words),
    Reading(_left_out, _left_out_words, _simplest, _ends_alone),
    Reading(_last_alone, _last_words),
)
