"""Keys whose weights are in the sum l and whose values are not in O, or twice, by their place in a tile."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judge_tui.checks.index_sets import places_told
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention.weights import Read

__all__ = ["lost_values"]

#: How far a share may be from a whole number, and the weight below which it says nothing, of a row's largest.
_SAME, _TOLD = 1e-6, 1e-9


def lost_values(read: Sequence[Read], integers: Sequence[int]) -> str:
    """Which keys of a tile have their values left out of O, or added twice, as a clause.

    Args:
        read: Weights of wrong answers.
        integers: Numbers of the source, which places may hang on.
    """
    found = [_times(each) for each in read]
    told = [times for times in found if times is not None]
    if not told or len(told) < len(read):
        return ""
    for times, words in ((0, "are left out of O"), (2, "are added to O twice")):
        sets = [each == times for each in told]
        if all(((each == times) | (each == 1)).all() for each in told):
            if which := places_told(sets, "keys", integers):
                return f"values of {which} of a tile {words}, though l counts their weights once"
    return ""


def _times(read: Read) -> Array | None:
    """How often the key at each place of a tile (T,) counts in O; ``None`` where that is no whole number."""
    tile, length = min(read.case.tile, read.length), read.length
    told = read.right > _TOLD * read.right.max(axis=-1, keepdims=True)
    share = np.where(told, read.made / np.where(told, read.right, 1.0), np.nan)
    least, most = (how(share, axis=(0, 1, 2)) for how in (np.nanmin, np.nanmax))
    if not np.isfinite(least).all() or (most - least > _SAME).any():
        return None
    if (np.abs(least - np.round(least)) > _SAME).any():
        return None
    times = np.round(least)
    found = np.array([times[place::tile].min() for place in range(tile)])
    return found if all(times[key] == found[key % tile] for key in range(length)) else None
