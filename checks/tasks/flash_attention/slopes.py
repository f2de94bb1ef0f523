"""Scores that are scaled otherwise from tile to tile: their factors, read off the logarithms of weights."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention.weights import Read, alike, softmax

__all__ = ["wrong_slopes"]

#: Factors that are told apart, and how far one may be from what it is taken for.
_ROUGH = 1e-6
#: Weights below this share of a row's largest say nothing of a factor.
_TOLD = 1e-9
#: Tiles that must tell of a factor that goes on from tile to tile, and the most: powers of it leave nothing.
_FEWEST, _LONGEST = 3, 8

#: What a factor may be, of D.
_KNOWN: Mapping[str, Callable[[int], float]] = {
    "log₂e": lambda width: math.log2(math.e),
    "ln 2": lambda width: math.log(2.0),
    "1/√D": lambda width: width**-0.5,
    "√D": lambda width: width**0.5,
    "2": lambda width: 2.0,
    "1/2": lambda width: 0.5,
}
#: Which tiles have one factor among them, of the numbers of the tile of rows and of the tile of keys.
_Kind = Callable[[int, int], int]


def wrong_slopes(read: Sequence[Read]) -> str:
    """By what scores of each tile are multiplied, where that is not the same in all, as a clause.

    Args:
        read: Weights of wrong answers.

    Returns:
        Empty where weights are no exponentials of scores that one factor for each tile scales.
    """
    read = [each for each in read if each.case.tile > 1 and each.length <= _LONGEST * each.case.tile]
    factors = [each for each in map(_factors, read) if each is not None]
    if not factors or len(factors) < len(read):
        return ""
    widths = [int(each.case.q.shape[3]) for each in read]
    for axis, (what, along) in enumerate((("query", "i"), ("key", "j"))):
        ratios = [_ratio(each, axis) for each in factors]
        told = [(ratio, width) for ratio, width in zip(ratios, widths, strict=True) if ratio is not None]
        several = any(at[axis] + 1 >= _FEWEST for each in factors for at in each)
        if several and len(told) == len(factors) and any(abs(ratio - 1.0) > _ROUGH for ratio, _ in told):
            tile, number = f"{what} tile {along}", f"({_word(told)})^{along}"
            return f"scores of {tile} are multiplied by {number}: a factor is applied anew in every tile"
    return _by_kind(factors, widths)


def _factors(read: Read) -> Mapping[tuple[int, int], float] | None:
    """Numbers of a pair of tiles → by what its scores are multiplied; ``None`` where by no one factor."""
    tile = read.case.tile
    top = read.made.max(axis=-1, keepdims=True)
    told = read.seen & (read.made > _TOLD * np.where(top > 0, top, 1.0))
    logs = np.where(told, np.log(np.where(told, read.made, 1.0)), 0.0)
    found: dict[tuple[int, int], float] = {}
    scaled, level, count = read.scores.copy(), np.zeros_like(top), np.zeros_like(top)
    single: list[tuple[int, int]] = []
    for row, key in itertools.product(range(0, read.length, tile), repeat=2):
        part, rows = np.s_[..., row : row + tile, key : key + tile], np.s_[..., row : row + tile, :]
        slope = _slope(read.scores[part], logs[part], told[part])
        if slope is None:
            single += [(row, key)] if told[part].any() else []
            continue
        found[row // tile, key // tile] = slope
        scaled[part] *= slope
        level[rows] += np.where(told[part], logs[part] - scaled[part], 0.0).sum(axis=-1, keepdims=True)
        count[rows] += told[part].sum(axis=-1, keepdims=True)
    # a tile of which each row sees one key: by what the others of the row tell of its sum
    for row, key in single:
        part, rows = np.s_[..., row : row + tile, key : key + tile], np.s_[..., row : row + tile, :]
        some = told[part] & (count[rows] > 0)
        if not some.any():
            return None
        high = np.where(some, logs[part] - level[rows] / np.maximum(count[rows], 1.0), 0.0)
        flat = np.where(some, read.scores[part], 0.0)
        found[row // tile, key // tile] = slope = float((flat * high).sum() / (flat * flat).sum())
        scaled[part] *= slope
    right = all(abs(slope - 1.0) <= _ROUGH for slope in found.values())
    return found if not right and alike(softmax(scaled, read.seen), read.made) else None


def _slope(scores: Array, logs: Array, told: npt.NDArray[np.bool_]) -> float | None:
    """The slope of logarithms in scores, an own level for each row."""
    count = told.sum(axis=-1, keepdims=True)
    if not (count > 1).any():
        return None
    flat, high = (
        np.where(told, a - np.where(told, a, 0.0).sum(-1, keepdims=True) / np.maximum(count, 1), 0.0)
        for a in (scores, logs)
    )
    return float((flat * high).sum() / (flat * flat).sum())


def _ratio(factors: Mapping[tuple[int, int], float], axis: int) -> float | None:
    """What a factor is multiplied by from one tile to the next along an axis, if that is one number."""
    of: dict[int, set[float]] = {}
    for at, slope in factors.items():
        of.setdefault(at[axis], set()).add(slope)
    if len(of) < 2 or any(max(each) - min(each) > _ROUGH * max(1.0, *each) for each in of.values()):
        return None
    if min(map(min, of.values())) <= -_ROUGH or 0 not in of or abs(max(of[0]) - 1.0) > _ROUGH:
        return None
    ratio = max(of[1]) if 1 in of else 0.0
    fits = all(
        abs(max(each) - ratio**at) <= _ROUGH * max(1.0, at * ratio**at) for at, each in of.items() if at
    )
    return ratio if ratio and fits else None


def _word(told: Sequence[tuple[float, int]]) -> str:
    """A factor by its name, where it is the same of every D."""
    for word, wanted in _KNOWN.items():
        if all(abs(ratio - wanted(width)) <= _ROUGH * wanted(width) for ratio, width in told):
            return word
    return f"{told[0][0]:.4g}"


_KINDS: Mapping[str, tuple[_Kind, tuple[str, str]]] = {
    "diagonal": (
        lambda row, key: int(row == key),
        ("tiles off the diagonal", "tiles on the diagonal, which the mask crosses,"),
    ),
    "first key": (
        lambda row, key: int(key == 0),
        ("all tiles of keys but the first", "the first tile of keys"),
    ),
    "first row": (
        lambda row, key: int(row == 0),
        ("all tiles of rows but the first", "the first tile of rows"),
    ),
}


def _by_kind(factors: Sequence[Mapping[tuple[int, int], float]], widths: Sequence[int]) -> str:
    """Tiles of one kind alone whose scores are multiplied by one factor, the others right."""
    for kind, words in _KINDS.values():
        for which in (0, 1):
            told: list[tuple[float, int]] = []
            for each, width in zip(factors, widths, strict=True):
                some = [slope for at, slope in each.items() if kind(*at) == which]
                rest = [slope for at, slope in each.items() if kind(*at) != which]
                if not some or not rest or any(abs(slope - 1.0) > _ROUGH for slope in rest):
                    break
                if max(some) - min(some) > _ROUGH * abs(max(some)):
                    break
                told.append((some[0], width))
            if len(told) == len(factors):
                return (
                    f"a further {_word(told)} is multiplied into scores of {words[which]} and into no others"
                )
    return ""
