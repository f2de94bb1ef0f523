"""Which wrong merge of partial results gives an answer: parts of the keys, each an attention of its own.

Of part p there are its maximum m, its sum l = Σ exp(s − m), L = m + log l, and o, which is divided by l.
Together they are Σ exp(L_p) o_p / Σ exp(L_p). A query that sees one part alone hides every mistake in that.

Source: Rabe and Staats, Self-attention does not need O(n²) memory (2021); Dao et al., Flash-Decoding (2023).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.flash_attention.cases import Case, drawn
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tolerance import relative_error

__all__ = ["wrong_merge"]

#: (B, H, N, D) and T of what is called: as many tiles and more as anybody makes one part of.
_CUTS = (((1, 2, 41, 5), 2), ((2, 1, 64, 4), 3), ((1, 1, 150, 6), 4), ((1, 1, 262, 4), 32))
#: How far an answer is from what a mistake gives, and from the truth at least.
_SAME, _OFF = 1e-4, 1e-2
#: Calls that are off at least.
_FEWEST = 2
#: Tiles to a part, numbers of parts, and integers of the source that are tried.
_MOST_TILES, _MOST_PARTS, _MOST_INTEGERS = 16, 8, 16

#: Numbers of keys of each part, in order.
_Cut = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class _Parts:
    """Partial results of one query.

    Attributes:
        m: The largest score of each part (P, B, H, 1).
        total: Its sum of exponentials l, likewise.
        o: Its attention (P, B, H, D).
    """

    m: Array
    total: Array
    o: Array

    def merged(self, weights: Array) -> Array:
        """Partial results by their weights, which are made to add up to 1."""
        return np.asarray((weights * self.o).sum(axis=0) / weights.sum(axis=0))

    @property
    def scale(self) -> float:
        """1/√D."""
        return float(self.o.shape[-1] ** -0.5)

    def level(self, base: float = math.e) -> Array:
        """L in a base."""
        return np.asarray((self.m + np.log(self.total)) / math.log(base))


def _powers(base: float, level: Array) -> Array:
    return np.asarray(np.power(base, level - level.max(axis=0)))


def _folded(parts: _Parts, carried: Callable[[Array, Array, Array], Array], *bases: float) -> Array:
    """Part after part, where L goes on in some way: what it was, the next part's, and what it should be."""
    told, power = bases or (math.e, math.e)
    levels = parts.level(told)
    out, level = parts.o[0], levels[0]
    for o, other in zip(parts.o[1:], levels[1:], strict=True):
        both = np.stack([level, other])
        weights = _powers(power, both)
        out = (weights * np.stack([out, o])).sum(axis=0) / weights.sum(axis=0)
        top = both.max(axis=0)
        level = carried(level, other, np.asarray(top + np.log(weights.sum(axis=0)) / math.log(power)))
    return np.asarray(out)


def _in_another_base(told: float, power: float, carried: float) -> Callable[[_Parts], Array]:
    def made(parts: _Parts) -> Array:
        def goes_on(level: Array, other: Array, right: Array) -> Array:
            top = np.maximum(level, other)
            return np.asarray(top + (right - top) * math.log(power) / math.log(carried))

        return _folded(parts, goes_on, told, power)

    return made


#: What a merge does that is none, as the end of "their merge …".
_MISTAKES: Mapping[str, Callable[[_Parts], Array]] = {
    "takes e^L for weights of an L in base two": _in_another_base(2.0, math.e, math.e),
    "takes 2^L for weights of an L that is a natural logarithm": _in_another_base(math.e, 2.0, 2.0),
    "is not divided by the sum of the weights exp(L - max L)": lambda p: (
        _powers(math.e, p.level()) * p.o
    ).sum(axis=0),
    "weighs all parts alike, whatever their L": lambda p: p.o.mean(axis=0),
    "adds them up without weights": lambda p: p.o.sum(axis=0),
    "weighs them by exp(m) alone, without their sums l": lambda p: p.merged(_powers(math.e, p.m)),
    "weighs them by their sums l alone, without their maxima m": lambda p: p.merged(p.total),
    "weighs them by exp(max L - L), the wrong way round": lambda p: p.merged(_powers(math.e, -p.level())),
    "weighs by exp(L) what is not divided by l": lambda p: (
        (_powers(math.e, p.level()) * p.total * p.o).sum(axis=0) / _powers(math.e, p.level()).sum(axis=0)
    ),
    "divides by l what is divided by it": lambda p: (
        (_powers(math.e, p.m) * p.o).sum(axis=0) / (_powers(math.e, p.m) * p.total).sum(axis=0)
    ),
    "takes m/√D + log l for L, though m is of scores that are scaled by 1/√D already": lambda p: p.merged(
        _powers(math.e, p.m * p.scale + np.log(p.total))
    ),
    "takes m·√D + log l for L, with an m of scores that are not scaled": lambda p: p.merged(
        _powers(math.e, p.m / p.scale + np.log(p.total))
    ),
    "takes L/√D for L": lambda p: p.merged(_powers(math.e, p.level() * p.scale)),
    "takes L·√D for L": lambda p: p.merged(_powers(math.e, p.level() / p.scale)),
    "takes m + l for L, without a logarithm": lambda p: p.merged(_powers(math.e, p.m + p.total)),
    "takes m − log l for L": lambda p: p.merged(_powers(math.e, p.m - np.log(p.total))),
    "takes m + log₂ l for L": lambda p: p.merged(_powers(math.e, p.m + np.log2(p.total))),
    "takes m·log₂e + log l for L": lambda p: p.merged(
        _powers(math.e, p.m * math.log2(math.e) + np.log(p.total))
    ),
    "takes m·ln 2 + log l for L": lambda p: p.merged(_powers(math.e, p.m * math.log(2.0) + np.log(p.total))),
    "keeps the last part alone": lambda p: p.o[-1],
    "keeps the first part alone": lambda p: p.o[0],
    "goes on with the larger L of both, not with that of both together": lambda p: _folded(
        p, lambda level, other, _: np.maximum(level, other)
    ),
    "goes on with the L of the part that came in": lambda p: _folded(p, lambda _, other, __: other),
    "goes on with the L that it had": lambda p: _folded(p, lambda level, _, __: level),
    "goes on with an L of which what is added is in base two": _in_another_base(math.e, math.e, 2.0),
    "goes on with an L in base two of which what is added is a natural logarithm": _in_another_base(
        2.0, 2.0, math.e
    ),
    "takes e^L for weights of an L in base two, which it goes on with": _in_another_base(2.0, math.e, 2.0),
    "takes 2^L for weights of a natural L, which it goes on with": _in_another_base(math.e, 2.0, math.e),
}


def wrong_merge(forward: Forward) -> str:
    """What is wrong with how partial results are merged, as a clause; for a forward that was seen wrong.

    The last query sees every key, causal or not: its answers are held against what each known mistake gives,
    for the usual ways of cutting keys into parts.

    Args:
        forward: What is called.

    Returns:
        Empty where no mistake gives all answers.
    """
    bench = forward.bench
    cases = [drawn(bench.rng("merging", at), *cut, forward.causal[-1]) for at, cut in enumerate(_CUTS)]
    try:
        made = [forward(case)[:, :, -1:] for case in cases]
    except Fault:
        return ""
    off = [relative_error(o, case.truth[:, :, -1:]) > _OFF for o, case in zip(made, cases, strict=True)]
    if sum(off) < _FEWEST:
        return ""
    integers = sorted(bench.integers, key=lambda one: -one.doubt)[:_MOST_INTEGERS]
    with np.errstate(all="ignore"):
        for words, cut in _cuts([one.value for one in integers]):
            parts = [_parts(case, cut(case)) for case in cases]
            if any(wrong and len(each.m) == 1 for wrong, each in zip(off, parts, strict=True)):
                continue
            for mistake, gives in _MISTAKES.items():
                if all(_same(gives(each), o) for each, o in zip(parts, made, strict=True)):
                    return f"the keys are cut into {words}, and their merge {mistake}"
    return ""


def _same(given: Array, made: Array) -> bool:
    return bool(relative_error(made[:, :, 0], given) <= _SAME)


def _cuts(integers: Sequence[int]) -> Iterator[tuple[str, Callable[[Case], _Cut]]]:
    """Ways of cutting keys into parts: in words, and what it makes of a case."""
    for tiles in range(1, _MOST_TILES + 1):
        yield f"parts of {tiles} tiles" if tiles > 1 else "tiles", partial(_by_tiles, tiles)
    for keys in integers:
        yield f"parts of {keys} keys", partial(_stretches, keys)
    for parts in range(2, _MOST_PARTS + 1):
        yield f"{parts} parts", partial(_in_parts, parts)
        yield f"{parts} parts of whole tiles", partial(_in_parts_of_tiles, parts)
        yield f"{parts} parts of every {parts}th tile", partial(_by_turns, parts)


def _length(case: Case) -> int:
    return int(case.q.shape[2])


def _stretches(keys: int, case: Case) -> _Cut:
    return [range(start, min(start + keys, _length(case))) for start in range(0, _length(case), keys)]


def _by_tiles(tiles: int, case: Case) -> _Cut:
    return _stretches(tiles * case.tile, case)


def _in_parts(parts: int, case: Case) -> _Cut:
    return _stretches(-(-_length(case) // parts), case)


def _in_parts_of_tiles(parts: int, case: Case) -> _Cut:
    tiles = -(-_length(case) // case.tile)
    return _by_tiles(-(-tiles // parts), case)


def _by_turns(parts: int, case: Case) -> _Cut:
    tiles = _by_tiles(1, case)
    return [list(itertools.chain(*tiles[turn::parts])) for turn in range(min(parts, len(tiles)))]


def _parts(case: Case, cut: _Cut) -> _Parts:
    """Partial results of the last query."""
    scores = (case.q[:, :, -1:] @ case.k.swapaxes(-1, -2))[:, :, 0] / math.sqrt(case.q.shape[-1])
    found: list[tuple[Array, Array, Array]] = []
    for keys in map(list, cut):
        part = scores[..., keys]
        top = part.max(axis=-1, keepdims=True)
        weights = np.exp(part - top)
        total = weights.sum(axis=-1, keepdims=True)
        found.append((top, total, (weights[..., None, :] @ case.v[:, :, keys])[:, :, 0] / total))
    return _Parts(*(np.stack(each) for each in zip(*found, strict=True)))
