"""In which features dgamma or dbeta is wrong, where it is right in the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault
from judge_tui.checks.index_sets import places_told
from judge_tui.checks.tasks.backwards import reference
from judge_tui.checks.tasks.backwards.passes import backward, draw, eps_of, forward

__all__ = ["wrong_features"]

#: Widths that are looked at, and the most numbers of a draw.
_MOST, _NUMBERS = 6, 500_000
_SAME = 1e-6


def wrong_features(bench: Bench, name: str, shapes: Sequence[tuple[int, ...]]) -> str:
    """The features of a gradient that alone are wrong, as a clause; empty where all are, or by no rule.

    Args:
        bench: Where it is judged.
        name: ``dgamma`` or ``dbeta``.
        shapes: (B, T, D) of draws that were wrong.
    """
    widths = {shape[2]: shape for shape in sorted(shapes, key=np.prod, reverse=True)}
    small = [widths[width] for width in sorted(widths) if np.prod(widths[width]) <= _NUMBERS]
    sets: list[npt.NDArray[np.bool_]] = []
    zero = True
    for at, shape in enumerate(small[:: max(1, -(-len(small) // _MOST))]):
        batch = draw(bench.rng("features", at), shape, eps_of(bench, 1e-3))  # type: ignore[arg-type]
        try:
            made = np.asarray(getattr(backward(bench, forward(bench, batch)), name), dtype=np.float64)
        except Fault:
            return ""
        right = getattr(reference.gradients(batch), name)
        with np.errstate(invalid="ignore"):
            off = ~(np.abs(made - right) <= _SAME * np.abs(right).max())
        if off.any():
            sets.append(off)
            zero = zero and not made[off].any()
    told = places_told(sets, "features", [one.value for one in bench.integers])
    return f"it is {'0' if zero else 'wrong'} in {told} alone" if told else ""
