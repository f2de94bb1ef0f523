"""Keys of zeros that fill up a tile and are attended to: what rows are divided by gives them away."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.flash_attention.weights import Read, alike

__all__ = ["filled_keys"]

#: Weights below this share of a row's largest are none.
_NOTHING = 1e-12
#: How far a number of keys may be from a whole one.
_WHOLE = 1e-5
#: Rows that take the zeros in; of r, T and N.
_Rows = Callable[[npt.NDArray[np.intp], int, int], npt.NDArray[np.bool_]]


def filled_keys(read: Sequence[Read]) -> str:
    """Rows that are divided by the weights of more keys than there are, each with the score 0, as a clause.

    Zeros have the score 0 with every query: a row that takes p of them in divides by Σ exp(S) + p.

    Args:
        read: Weights of wrong answers.
    """
    found = [_beside(each) for each in read]
    known = [one for one in found if one is not None]
    if len(known) < len(read) or not any(more.any() for more, _ in known):
        return ""
    filled = [-each.length % each.case.tile for each in read]
    if any(((more > 0) & (more != many)).any() for (more, _), many in zip(known, filled, strict=True)):
        most = max(int(more.max()) for more, _ in known)
        return f"rows are divided by the weights of up to {most} more keys, each with the score 0"
    first, (more, lost) = read[0].case, known[0]
    size = f"{int(more.max())} at N = {read[0].length}, T = {first.tile}"
    if all(_fits(each, *one, _first_rows) for each, one in zip(read, known, strict=True)):
        return (
            "the mask of a last tile that is not whole hides rows of it, not keys: the first N mod T rows of "
            f"every tile attend to the zeros behind the last key ({size}), the others to none of that tile"
        )
    said = f"zeros that fill up the last tile of keys are attended to ({size})"
    if any(away.any() for _, away in known):
        row = int(np.argmax(lost.any(axis=-1)))
        said = f"{said}, and keys are left out ({int(lost[row].sum())} in row {row})"
    return said


def _beside(read: Read) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]] | None:
    """For each row how many keys of score 0 it takes in (N), and which keys it leaves out (N, N).

    ``None`` where its weights are something else as well.
    """
    counted = read.made > _NOTHING * read.made.max(axis=-1, keepdims=True)
    if (counted != counted[:1, :1]).any() or (counted & ~read.seen).any() or not counted.any(axis=-1).all():
        return None
    weights = np.where(counted, np.exp(read.scores), 0.0)
    total = weights.sum(axis=-1)
    more = total / read.made.sum(axis=-1) - total
    whole = np.round(more)
    if (np.abs(more - whole) > _WHOLE * total).any() or (whole < 0).any() or (whole != whole[:1, :1]).any():
        return None
    if not alike(read.made, weights / (total + whole)[..., None]):
        return None
    return whole[0, 0].astype(np.int64), np.asarray(read.seen & ~counted[0, 0])


def _first_rows(rows: npt.NDArray[np.intp], tile: int, length: int) -> npt.NDArray[np.bool_]:
    return np.asarray(rows % tile < length % tile)


def _fits(read: Read, more: npt.NDArray[np.int64], lost: npt.NDArray[np.bool_], wanted: _Rows) -> bool:
    """Whether these rows take the zeros in, and the others leave the last tile out."""
    length, tile = read.length, read.case.tile
    takes = wanted(np.arange(length), tile, length)
    behind = np.arange(length) >= length // tile * tile
    reaches = (read.seen & behind).any(axis=-1)
    return bool(
        np.array_equal(more > 0, takes & reaches)
        and np.array_equal(lost, read.seen & behind & ~takes[:, None])
    )
