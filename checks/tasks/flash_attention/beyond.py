"""Whether values beyond the diagonal are touched at all: NaN among them shows in every product with them.

A weight of 0 takes a value out of a sum, but not NaN: 0 · NaN is NaN. So with values of NaN from some key on,
rows that lie more than a tile before it are numbers where the tiles above the diagonal are skipped, and NaN
where these are computed and weighed with 0. Outputs tell it, and no count of the submission's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.tasks.flash_attention.cases import drawn
from judge_tui.checks.tasks.flash_attention.forward import Forward

__all__ = ["Touched", "touched"]

#: N, T and from which key on values are NaN; tiles of its own may be this wide.
_LENGTH, _TILE, _FROM, _WIDEST = 1024, 32, 768, 256


@dataclass(frozen=True, slots=True)
class Touched:
    """What NaN beyond the diagonal did.

    Attributes:
        share: Of the rows that lie more than a tile before it, those that are NaN; ``None`` where it told
            nothing.
        why: Why it told nothing.
    """

    share: float | None
    why: str = ""


def touched(bench: Bench, forward: Forward) -> Touched:
    """Call the forward with the mask and NaN among the last quarter of the values."""
    case = drawn(bench.rng("beyond"), (1, 1, _LENGTH, 8), _TILE, True)
    case.v[:, :, _FROM:] = np.nan
    try:
        out = forward(case)
    except (Raised, BadResult) as fault:
        return Touched(None, f"values of NaN are refused: it {fault.message}")
    bad = np.logical_not(np.isfinite(out[0, 0])).any(axis=-1)
    if not bad[_FROM:].all():
        return Touched(None, "rows that see values of NaN are numbers")
    return Touched(float(bad[: _FROM - _WIDEST].mean()))
