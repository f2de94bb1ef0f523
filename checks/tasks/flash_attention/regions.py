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
    made: list[tuple[Array, Array]] = []
    for at, case in enumerate(list(shapes.values())[:_MOST]):
        anew = drawn(forward.bench.rng("columns", at), case.q.shape, case.tile, case.causal)
        try:
            made.append((forward(anew), anew.truth))
        except Fault:
            return ""
    told = regions_told(made, [one.value for one in forward.bench.integers])
    return f"O is {told}" if told else ""


def regions_told(made: Sequence[tuple[Array, Array]], integers: Iterable[int]) -> str:
    """The part of several answers that alone is wrong, such as "0 in heads from 24 on alone"; empty for none.

    Args:
        made: Answers and the truth, (B, H, N, D) each.
        integers: Of the source, which parts may hang on.
    """
    pairs = [(out, _off(out, truth)) for out, truth in made]
    pairs = [(out, off) for out, off in pairs if off.any()]
    for what, of in _REGIONS.items():
        sets = [of(off) for _, off in pairs]
        if not sets or any(each.all() for each in sets):
            continue
        if told := places_told(sets, what, integers):
            # numbers that are right stand beside wrong ones of their region
            zero = all(not out[off].any() for out, off in pairs)
            return f"{'0' if zero else 'wrong'} in {told} alone"
    return ""


def _off(out: Array, truth: Array) -> _Wrong:
    return np.asarray(~(np.abs(out - truth) <= _SAME * np.abs(truth).max(axis=-1, keepdims=True)))
