"""What is done to the P or dS of each pair of tiles that a gradient is made of, where that is no factor."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention.scales import scale_told
from judge_tui.checks.tasks.flash_attention_bwd.read_off import SAME, Made, close
from judge_tui.checks.tasks.flash_attention_bwd.reference import logsumexp

__all__ = ["wrong_tiles"]

#: A tile of a row tile and a key tile (..., r, k) → what stands in its place.
_Turned = Callable[[Array], Array]
#: How far logarithms may be from a straight line.
_STRAIGHT = 1e-6


def wrong_tiles(read: Sequence[Made], name: str) -> str:
    """What is wrong in all tiles, as a clause; empty where it is nothing known.

    Args:
        read: P or dS / √D of wrong gradients.
        name: ``dQ``, ``dK`` or ``dV``.
    """
    what = "P" if name == "dV" else "dS"
    if all(close(each.made, _misplaced(each, name)) for each in read):
        own, other = ("query", "key") if name == "dQ" else ("key", "query")
        return f"what a {own} tile gets is added to the rows of the {other} tile"
    for words, turned in _TURNED.items():
        given = [_by_tiles(each, turned) for each in read]
        if all(close(each.made, other) for each, other in zip(read, given, strict=True)):
            return words.format(what=what)
    if name != "dV":
        return _without_p(read) or _by_columns(read)
    return _scaled(read)


def _tiles(each: Made) -> Iterator[tuple[slice, slice]]:
    length, tile = each.problem.case.q.shape[2], each.problem.tile
    starts = range(0, length, tile)
    for row, key in itertools.product(starts, starts):
        yield slice(row, min(row + tile, length)), slice(key, min(key + tile, length))


def _by_tiles(each: Made, turned: _Turned) -> Array:
    made = np.zeros_like(each.right)
    for rows, keys in _tiles(each):
        made[..., rows, keys] = turned(each.right[..., rows, keys])
    return made


def _misplaced(each: Made, name: str) -> Array:
    """The same where what belongs to one tile of a pair is added to the other, place by place."""
    made = np.zeros_like(each.right)
    for rows, keys in _tiles(each):
        block = each.right[..., rows, keys]
        if name == "dQ":
            count = min(block.shape[-2], keys.stop - keys.start)
            made[..., keys.start : keys.start + count, keys] += block[..., :count, :]
        else:
            count = min(block.shape[-1], rows.stop - rows.start)
            made[..., rows, rows.start : rows.start + count] += block[..., :count]
    return made


def _transposed(block: Array) -> Array:
    return block.swapaxes(-1, -2) if block.shape[-1] == block.shape[-2] else block


def _reshaped(block: Array) -> Array:
    """A tile whose transpose is a reshape."""
    rows, keys = block.shape[-2:]
    return np.asarray(block.reshape(*block.shape[:-2], keys, rows).swapaxes(-1, -2))


def _reshaped_uneven(block: Array) -> Array:
    return block if block.shape[-1] == block.shape[-2] else _reshaped(block)


def _normalised(block: Array) -> Array:
    total = block.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(total != 0, block / np.where(total != 0, total, 1.0), 0.0))


_TURNED: Mapping[str, _Turned] = {
    "a square tile of {what} is used as it is where its transpose belongs": _transposed,
    "a tile of {what} is reshaped where it should be transposed": _reshaped,
    "a tile of {what} that is not square is reshaped where it should be transposed": _reshaped_uneven,
    "each tile of {what} is divided by its own row sum": _normalised,
}


def _parts(each: Made) -> tuple[Array, Array, Array]:
    """P with nothing hidden, dP and rowsum(dO ∘ O)."""
    case, d_out = each.problem.case, each.problem.d_out
    scores = case.q @ case.k.swapaxes(-1, -2) / np.sqrt(case.q.shape[-1])
    weights = np.exp(scores - logsumexp(case)[..., None])
    row = (d_out * case.truth).sum(axis=-1, keepdims=True)
    return weights, d_out @ case.v.swapaxes(-1, -2), row


def _seen(each: Made, *, visited: bool) -> npt.NDArray[np.bool_]:
    """Which pairs are seen, or lie in tiles that are visited."""
    case = each.problem.case
    at = np.arange(case.q.shape[2])
    if not case.causal:
        return np.ones((len(at), len(at)), dtype=bool)
    if visited:
        # the tile of rows ends at or behind the first key of its tile of keys
        end = np.minimum((at // each.problem.tile + 1) * each.problem.tile, len(at))
        return np.asarray(at // each.problem.tile * each.problem.tile < end[:, None])
    return np.asarray(at <= at[:, None])


def _without_p(read: Sequence[Made]) -> str:
    for visited in (False, True):
        given = []
        for each in read:
            _, d_p, row = _parts(each)
            width = np.sqrt(each.problem.case.q.shape[-1])
            given.append(np.where(_seen(each, visited=visited), (d_p - row) / width, 0.0))
        if all(close(each.made, other) for each, other in zip(read, given, strict=True)):
            hidden = ", hidden pairs of visited tiles among them" if visited else ""
            return f"the factor P is missing: it is dP − rowsum(dO ∘ O){hidden}"
    return ""


def _by_columns(read: Sequence[Made]) -> str:
    """Whether what is taken off dP is one number of each key, of a tile of rows or of all."""
    for whole in (True, False):
        if all(_one_of_each_key(each, whole) for each in read):
            of = "" if whole else " of a tile"
            return (
                f"what is taken off dP is one number for each key, not for each row: a sum over the rows{of}"
            )
    return ""


def _one_of_each_key(each: Made, whole: bool) -> bool:
    weights, d_p, _ = _parts(each)
    seen = _seen(each, visited=False)
    told = seen & (weights > 1e-6)
    with np.errstate(all="ignore"):
        taken = d_p - each.made * np.sqrt(each.problem.case.q.shape[-1]) / np.where(told, weights, 1.0)
    length = each.problem.case.q.shape[2]
    tile = length if whole else each.problem.tile
    size = float(np.abs(d_p).max())
    several = 0
    for start in range(0, length, tile):
        part, clear = taken[..., start : start + tile, :], told[..., start : start + tile, :]
        least = np.where(clear, part, np.inf).min(axis=-2)
        most = np.where(clear, part, -np.inf).max(axis=-2)
        many = clear.sum(axis=-2) > 1
        several += int(many.sum())
        if (most - least)[many].max(initial=0.0) > 1e3 * SAME * size:
            return False
    return bool(several > length)


def _scaled(read: Sequence[Made]) -> str:
    """Whether P is exp(c · S − L) of scores that are scaled otherwise."""
    slopes = [_slope(each) for each in read]
    if any(slope is None or abs(slope - 1.0) <= _STRAIGHT for slope in slopes):
        return ""
    told = scale_told(
        [slope for slope in slopes if slope is not None],
        [{**each.problem.case.sizes, "T": each.problem.tile} for each in read],
    )
    return f"{told}, beside an L of right ones" if told else ""


def _slope(each: Made) -> float | None:
    """What multiplies the scores, log P + L being a multiple of them; ``None`` where it is none."""
    case = each.problem.case
    scores = case.q @ case.k.swapaxes(-1, -2) / np.sqrt(case.q.shape[-1])
    told = _seen(each, visited=False) & (each.made > 0)
    if not told.any() or np.abs(np.where(_seen(each, visited=False), 0.0, each.made)).max() > 0:
        return None
    lse = np.broadcast_to(logsumexp(case)[..., None], scores.shape)
    logs, scores = (np.log(np.where(told, each.made, 1.0)) + lse)[told], scores[told]
    slope = float(logs @ scores / (scores @ scores))
    return slope if np.abs(logs - slope * scores).max() <= _STRAIGHT * max(1.0, np.abs(logs).max()) else None
