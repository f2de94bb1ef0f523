"""Beam search over random models that keeps finished beams in the pool, in a side list, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["MODELS", "STEPS", "searched", "searches"]

#: Steps of a search, and random models that are searched.
STEPS, MODELS = 5, 400
_EOS = 0
#: Where finished beams are kept.
_Kept = Literal["pool", "side list", "dropped"]
#: Tokens of a prefix → log-probabilities of the next one, (V,).
_Model = Callable[[tuple[int, ...]], npt.NDArray[np.float64]]


class _Beam(NamedTuple):
    tokens: tuple[int, ...]
    logprob: float

    @property
    def ended(self) -> bool:
        return self.tokens[-1:] == (_EOS,)

    def score(self, alpha: float) -> float:
        """Log-probability under the length penalty."""
        length: float = max(1, len(self.tokens)) ** alpha
        return self.logprob / length


def _random_model(seed: int, V: int = 6) -> _Model:
    @cache
    def logprobs(prefix: tuple[int, ...]) -> npt.NDArray[np.float64]:
        logits = np.random.default_rng([seed, len(prefix), *prefix]).standard_normal(V) * 2
        return np.asarray(logits - np.log(np.sum(np.exp(logits))))

    return logprobs


def _search(model: _Model, K: int, alpha: float, kept: _Kept) -> list[_Beam]:
    """The K best beams, best first."""

    def best(beams: list[_Beam]) -> list[_Beam]:
        return sorted(beams, key=lambda b: (-b.score(alpha), b.tokens))[:K]

    beams, side = [_Beam((), 0.0)], list[_Beam]()
    for _ in range(STEPS):
        live = [b for b in beams if not b.ended]
        grown = [
            _Beam((*b.tokens, t), b.logprob + float(model(b.tokens)[t]))
            for b in live
            for t in range(len(model(b.tokens)))
        ]
        beams = best(grown + ([b for b in beams if b.ended] if kept == "pool" else []))
        if kept != "pool":
            side += [b for b in beams if b.ended]
            beams = [b for b in beams if not b.ended]
    return best(beams + side) if kept == "side list" else best(beams)


@cache
def searched(K: int, alpha: float) -> tuple[int, int, int]:
    """What it changes where finished beams are kept.

    Args:
        K: Beams.
        alpha: Exponent of the length penalty.

    Returns:
        Of :data:`MODELS` random models: those for which a side list returns another set than the pool, those
        for which it returns another winner, and those for which dropping finished beams does.
    """
    sets = winners = dropped = 0
    for seed in range(MODELS):
        model = _random_model(seed)
        pool = _search(model, K, alpha, "pool")
        side = _search(model, K, alpha, "side list")
        without = _search(model, K, alpha, "dropped")
        sets += {b.tokens for b in pool} != {b.tokens for b in side}
        winners += pool[0].tokens != side[0].tokens
        dropped += without[:1] != pool[:1]
    return sets, winners, dropped


def searches() -> Iterator[tuple[int, float]]:
    """The K and alpha of every search that the experiments make."""
    for K in (1, 2, 3):
        for alpha in (0.0, 1.0):
            yield K, alpha
