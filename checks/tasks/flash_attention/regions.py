"""In which columns, heads or sequences an answer is wrong, where it is right in the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from judge_tui.checks.faults import Fault
from judge_tui.checks.index_sets import places_told
from judge_tui.checks.tasks.flash_attention.cases import Case, drawn
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention.rows import Held
from judge_tui.checks.verdict import Verdict

__all__ = ["regions_told", "wrong_regions"]

#: How many shapes are looked at, and the most scores of a case.
_MOST, _SCORES = 5, 200_000
_SAME = 1e-5
_Wrong = npt.NDArray[np.bool_]
#: What a region is, in the plural → which of them something is wrong in, of wrong numbers (B, H, N, D).
_REGIONS: Mapping[str, Callable[[_Wrong], _Wrong]] = {
    "columns": lambda off: np.asarray(off.any(axis=(0, 1, 2))),
    "stacked heads": lambda off: np.asarray(off.any(axis=(2, 3)).ravel()),
    "heads": lambda off: np.asarray(off.any(axis=(0, 2, 3))),
    "sequences": lambda off: np.asarray(off.any(axis=(1, 2, 3))),
}
#: Rows of O → which they are; of r, T and N.
_ROWS: Mapping[str, Callable[[npt.NDArray[np.intp], int, int], _Wrong]] = {
    "rows behind the last whole tile": lambda r, t, n: r >= n // t * t,
    "rows of the last tile": lambda r, t, n: r >= (n - 1) // t * t,
    "rows of the first tile": lambda r, t, n: r < t,
    "rows behind the first tile": lambda r, t, n: r >= t,
    "the last row of every tile": lambda r, t, n: r % t == t - 1,
    "the first row of every tile": lambda r, t, n: r % t == 0,
}


def wrong_regions(forward: Forward, held: Sequence[Held]) -> str:
    """The part of O that alone is wrong, as a clause; empty where all of it is, or where it has no rule.

    Args:
        forward: What is called.
        held: All cases.
    """
    shapes: dict[tuple[int, ...], Case] = {}
    for each in held:
        case = each.case
        batch, heads, length, width = case.q.shape
        small = batch * heads * length**2 <= _SCORES
        if each.verdict is Verdict.FAIL and case.usual and small and case.q.dtype == np.float64:
            shapes.setdefault((batch, heads, width), case)
    made: list[tuple[Array, Array, int]] = []
    for at, case in enumerate(list(shapes.values())[:_MOST]):
        anew = drawn(forward.bench.rng("columns", at), case.q.shape, case.tile, case.causal)
        try:
            made.append((forward(anew), anew.truth, anew.tile))
        except Fault:
            return ""
    told = regions_told(made, [one.value for one in forward.bench.integers])
    return f"O is {told}" if told else ""


def regions_told(made: Sequence[tuple[Array, Array, int]], integers: Iterable[int]) -> str:
    """The part of several answers that alone is wrong, such as "0 in heads from 24 on alone"; empty for none.

    Args:
        made: Answers and the truth, (B, H, N, D) each, and T.
        integers: Of the source, which parts may hang on.
    """
    pairs = [(out, _off(out, truth), tile) for out, truth, tile in made]
    pairs = [(out, off, tile) for out, off, tile in pairs if off.any()]
    if told := _rows_told(pairs) or _parts_told([off for _, off, _ in pairs], integers):
        wrong = np.concatenate([out[off] for out, off, _ in pairs])
        how = "0" if not wrong.any() else "wrong" if np.isfinite(wrong).all() else "not finite"
        return f"{how} in {told} alone"
    return ""


def _parts_told(wrong: Sequence[_Wrong], integers: Iterable[int]) -> str:
    for what, of in _REGIONS.items():
        sets = [of(off) for off in wrong]
        if sets and not any(each.all() for each in sets) and (told := places_told(sets, what, integers)):
            return told
    return ""


def _rows_told(pairs: Sequence[tuple[Array, _Wrong, int]]) -> str:
    """Rows that have a name by the tiles that they are in."""
    for what, of in _ROWS.items():
        rows = [np.asarray(off.any(axis=(0, 1, 3))) for _, off, _ in pairs]
        named = [
            of(np.arange(len(each)), tile, len(each)) for each, (_, _, tile) in zip(rows, pairs, strict=True)
        ]
        if rows and all(map(np.array_equal, rows, named)) and not any(each.all() for each in rows):
            return what
    return ""


def _off(out: Array, truth: Array) -> _Wrong:
    return np.asarray(~(np.abs(out - truth) <= _SAME * np.abs(truth).max(axis=-1, keepdims=True)))
