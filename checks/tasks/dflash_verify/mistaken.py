"""What a verifier that samples wrongly emits, by formula: which known mistake a count of tokens speaks for.

Of a token that is drawn by a target's distribution p, with siblings drafted for it, each mistake has a
distribution of its own. How many times likelier draws are under it than under p is a number that exceeds
c once in c times at most where p is right, whatever is drafted: it convicts as well as it explains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["MISTAKES", "likelier"]

Array = npt.NDArray[np.float64]
#: (p, drafted siblings in the order in which they are tried) → what is emitted.
Emitted = Callable[[Array, Sequence[int]], Array]


def _tried(
    p: Array, siblings: Sequence[int], *, old: bool = False, last: bool = False
) -> tuple[Array, Array]:
    """What is emitted of the siblings, and the distribution that is left when all are refused.

    Args:
        p: The target's.
        siblings: In order.
        old: Every sibling is accepted by the target's own probability.
        last: What was refused before the last one comes back.
    """
    emitted, left, refused = np.zeros_like(p), p.copy(), 1.0
    for token in siblings:
        chance = p[token] if old else left[token]
        emitted[token] += refused * chance
        refused *= 1.0 - chance
        left = (p if last else left).copy()
        left[token] = 0.0
        left /= max(left.sum(), 1e-300)
    return emitted, refused * left


def _whole(p: Array, siblings: Sequence[int]) -> Array:
    emitted, left = _tried(p, siblings)
    return np.asarray(emitted + left.sum() * p)


def _sum(parts: tuple[Array, Array]) -> Array:
    return parts[0] + parts[1]


def _best(p: Array, siblings: Sequence[int]) -> Array:
    emitted, left = _tried(p, siblings)
    emitted[int(np.argmax(left))] += left.sum()
    return emitted


def _same_number(p: Array, siblings: Sequence[int], *, each: bool) -> Array:
    """The number that refused a sibling, above what would have accepted it, also draws what is emitted.

    Args:
        p: The target's.
        siblings: In order.
        each: A number of its own refuses each of them; else one all, by their summed probabilities.
    """
    emitted, left = _tried(p, siblings)
    refused = left.sum()
    if not len(siblings) or refused <= 0:
        return emitted + left
    least = 1.0 - refused
    if each:
        before, _ = _tried(p, siblings[:-1])
        rest = 1.0 - before.sum()
        least = (emitted[siblings[-1]] / rest) if rest > 0 else 0.0
    ends = np.cumsum(left / refused)
    kept = np.clip(ends, least, 1.0) - np.clip(np.concatenate([[0.0], ends[:-1]]), least, 1.0)
    return np.asarray(emitted + refused * kept / max(1.0 - least, 1e-300))


def _none_accepted(p: Array, siblings: Sequence[int]) -> Array:
    """Every sibling is refused, whatever its probability, and taken out of what is left."""
    left = p.copy()
    left[list(siblings)] = 0.0
    return np.asarray(left / left.sum()) if left.sum() > 0 else p


def _base_two(p: Array, _siblings: Sequence[int]) -> Array:
    """Probabilities are powers of two, not of e: the target's at another temperature."""
    weights = p ** np.log(2.0)
    return np.asarray(weights / weights.sum())


#: Words for a mistake, behind "as where" → what is emitted.
MISTAKES: Mapping[str, Emitted] = {
    "only the last refused sibling is taken out of the distribution": lambda p, s: _sum(
        _tried(p, s, last=True)
    ),
    "nothing refused is taken out of the distribution": _whole,
    "every sibling is tried by the target's first distribution": lambda p, s: _sum(_tried(p, s, old=True)),
    "the random number that refused the siblings also draws the token after them": lambda p, s: _same_number(
        p, s, each=False
    ),
    "the random number that refused the last sibling also draws the token after it": lambda p, s: (
        _same_number(p, s, each=True)
    ),
    "the likeliest token is taken when all siblings are refused": _best,
    "no sibling is ever accepted": _none_accepted,
    "siblings are accepted without being asked about": lambda p, s: np.eye(len(p))[s[0]] if s else p,
    "probabilities are powers of two of the logits, not of e": _base_two,
    "the likeliest token is always taken": lambda p, s: np.eye(len(p))[int(np.argmax(p))],
}


def likelier(drawn: Sequence[tuple[Array, Sequence[int], Sequence[int]]]) -> Iterator[tuple[str, float]]:
    """Mistakes, with the logarithm of how many times likelier the draws are under each than under p.

    Args:
        drawn: p, the siblings in order, and how often each token came.

    Yields:
        Words and number, likeliest first.
    """
    found = []
    for words, emitted in MISTAKES.items():
        total = 0.0
        for p, siblings, counts in drawn:
            other = emitted(p, siblings)
            came = np.asarray(counts) > 0
            with np.errstate(divide="ignore"):
                ratio = np.log(other[came]) - np.log(p[came])
            total += float(np.asarray(counts)[came] @ ratio)
        found.append((words, total))
    yield from sorted(found, key=lambda pair: -pair[1])
