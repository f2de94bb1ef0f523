"""What columns of O are made of: those of the right one by a factor, or those that belong elsewhere.

O is linear in V column by column, so that columns of a wrong O are sums of those of the right one wherever
the weights are right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from judge_tui.checks.faults import Fault
from judge_tui.checks.index_sets import places_told
from judge_tui.checks.tasks.flash_attention.cases import Case, drawn
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.reference import Array, attention
from judge_tui.checks.tasks.flash_attention.rows import Held
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["few_features", "mixed_columns"]

#: Widths that are looked at, the least and the largest of them, and how many rows more than features.
_MOST, _WIDTHS, _MORE = 4, (2, 300), 8
#: How far entries may be from what they are taken for.
_SAME, _OFF = 1e-6, 1e-4
_UNITS = (4, 8, 16, 32, 64, 128)


def mixed_columns(forward: Forward, held: Sequence[Held]) -> str:
    """Columns of O that are multiplied, or hold what belongs to others, as a clause.

    Args:
        forward: What is called.
        held: All cases.
    """
    mixed: list[Array] = []
    for at, wrong in enumerate(_of_widths(held)):
        length, width = wrong.q.shape[2:]
        shape = (1, 1, max(length, width + _MORE), width)
        case = drawn(forward.bench.rng("mixed", at), shape, wrong.tile, wrong.causal, spread=3.0)
        try:
            made, right = forward(case)[0, 0], case.truth[0, 0]
        except Fault:
            return ""
        if relative_error(made, right) <= _OFF:
            continue
        if not np.isfinite(made).all():
            return ""
        share = np.linalg.lstsq(right, made, rcond=None)[0]
        if np.abs(right @ share - made).max() > _SAME * np.abs(made).max():
            return ""
        mixed.append(share)
    return _told(mixed, [one.value for one in forward.bench.integers]) if mixed else ""


def _of_widths(held: Sequence[Held]) -> list[Case]:
    """A wrong case of each of a few widths; of those that the source names only where no other is wrong."""
    wrong = [each.case for each in held if each.verdict is Verdict.FAIL]
    cases = [case for case in wrong if case.plain] or [case for case in wrong if case.of_source]
    widths: dict[int, Case] = {}
    for case in sorted(cases, key=lambda case: case.q.size):
        if _WIDTHS[0] <= case.q.shape[3] <= _WIDTHS[1]:
            widths.setdefault(case.q.shape[3], case)
    told = [widths[width] for width in sorted(widths)]
    return told[:: max(1, -(-len(told) // _MOST))][:_MOST]


def _told(mixed: Sequence[Array], integers: Sequence[int]) -> str:
    """Shares (D, D) of the right columns in those that were made, in words."""
    own = [np.diagonal(each) for each in mixed]
    if all(np.abs(each - np.diag(kept)).max() <= _SAME * 10 for each, kept in zip(mixed, own, strict=True)):
        off = [np.abs(kept - 1.0) > _SAME for kept in own]
        values = np.concatenate([kept[some] for kept, some in zip(own, off, strict=True)])
        least, most = float(values.min()), float(values.max())
        times = f"{least:.3g}" if most - least <= _SAME * abs(most) else f"{least:.3g} to {most:.3g}"
        which = "all columns" if all(some.all() for some in off) else places_told(off, "columns", integers)
        if which and len(values) > 1 and most > _SAME:
            return f"O is {times} times what it should be in {which}"
        return ""
    first = max(mixed, key=len)
    sources = np.abs(first - 1.0) <= _SAME * 10
    empty = np.abs(first) <= _SAME * 10
    if not (sources | empty).all() or (sources.sum(axis=0) > 1).any():
        return ""
    moved = [c for c in range(len(first)) if sources[:, c].any() and not sources[c, c]]
    lost = int(empty.all(axis=0).sum())
    if not moved:
        return ""
    example = f"column {moved[0]} of {len(first)} that of column {int(np.argmax(sources[:, moved[0]]))}"
    return f"columns of O hold what belongs to others: {example}{f', and {lost} are 0' if lost else ''}"


def few_features(forward: Forward, held: Sequence[Held]) -> str:
    """Which features of queries and keys alone scores are made of, as a clause; arguments as above."""
    calls: list[tuple[Case, Array]] = []
    for at, wrong in enumerate(_of_widths(held)):
        case = drawn(forward.bench.rng("features", at), wrong.q.shape, wrong.tile, wrong.causal, spread=1.5)
        try:
            made = forward(case)
        except Fault:
            return ""
        if not relative_error(made, case.truth) <= _OFF:
            calls.append((case, made))
    if not calls:
        return ""
    for words, upto in _features(forward):
        counts = [upto(case.q.shape[3]) for case, _ in calls]
        if any(not 0 < count < case.q.shape[3] for count, (case, _) in zip(counts, calls, strict=True)):
            continue
        for beside, columns in (("", False), (", and columns of O of these alone are written", True)):
            if all(
                _made_of(case, made, count, columns)
                for count, (case, made) in zip(counts, calls, strict=True)
            ):
                return f"scores take in {words} alone{beside}"
    return ""


def _features(forward: Forward) -> Iterator[tuple[str, Callable[[int], int]]]:
    units = dict.fromkeys((*(one.value for one in forward.bench.integers if one.value > 1), *_UNITS))
    for unit in units:
        yield f"the first {unit} features", partial(_just, unit)
    for unit in units:
        yield f"features up to the last multiple of {unit}", partial(_down, unit)
    yield "all features but the last", lambda width: width - 1
    yield "the first half of the features", lambda width: width // 2


def _just(unit: int, width: int) -> int:
    return unit


def _down(unit: int, width: int) -> int:
    return width // unit * unit


def _made_of(case: Case, made: Array, count: int, columns: bool) -> bool:
    """Whether O is that of some features, the scale that of all; or its columns of these, the others 0."""
    scale = (count / case.q.shape[3]) ** 0.5
    given = attention(case.q[..., :count] * scale, case.k[..., :count], case.v, case.causal)
    if columns:
        return not made[..., count:].any() and relative_error(made[..., :count], given[..., :count]) <= _OFF
    return relative_error(made, given) <= _SAME
