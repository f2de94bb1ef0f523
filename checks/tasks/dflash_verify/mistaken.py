"""What a verifier that samples wrongly emits, by formula: which known mistake a count of tokens speaks for.

Of a token that is drawn by a target's distribution p, with siblings drafted for it or none, each mistake has
a distribution of its own. How many times likelier draws are under it than under p is a number that exceeds
c once in c times at most where p is right, whatever is drafted: it convicts as well as it explains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from judge_tui.checks.tasks.dflash_verify.cut_off import CUT
from judge_tui.checks.tasks.dflash_verify.drawn import ROWS, Array, Drawn, tried
from judge_tui.checks.tasks.dflash_verify.heats import HEATS, heated

__all__ = ["KNOWN", "MISTAKES", "Drawn", "emitted_by", "likelier"]

#: (p, drafted siblings in the order in which they are tried, the temperature of p) → what is emitted.
Emitted = Callable[[Array, Sequence[int], float], Array]


def _whole(p: Array, siblings: Sequence[int]) -> Array:
    emitted, left = tried(p, siblings)
    return np.asarray(emitted + left.sum() * p)


def _sum(parts: tuple[Array, Array]) -> Array:
    return parts[0] + parts[1]


def _best(p: Array, siblings: Sequence[int]) -> Array:
    emitted, left = tried(p, siblings)
    emitted[int(np.argmax(left))] += left.sum()
    return emitted


def _accepting(p: Array, siblings: Sequence[int], chance: Callable[[float], float]) -> Array:
    """Siblings are accepted by a function of what is left for them; all is as it should be beside it."""
    emitted, left, refused = np.zeros_like(p), p.copy(), 1.0
    for token in siblings:
        accepted = float(np.clip(chance(float(left[token])), 0.0, 1.0))
        emitted[token] += refused * accepted
        refused *= 1.0 - accepted
        left[token] = 0.0
        left /= max(left.sum(), 1e-300)
    return emitted + refused * left


def _likeliest_and_drawn(p: Array, siblings: Sequence[int]) -> Array:
    """A sibling has to be the likeliest, and to be drawn as well."""
    emitted, left, refused = np.zeros_like(p), p.copy(), 1.0
    for token in siblings:
        accepted = float(left[token]) if token == int(np.argmax(left)) else 0.0
        emitted[token] += refused * accepted
        refused *= 1.0 - accepted
        left[token] = 0.0
        left /= max(left.sum(), 1e-300)
    return emitted + refused * left


def _last_unasked(p: Array, siblings: Sequence[int]) -> Array:
    """The last sibling is accepted when all others are refused."""
    if not len(siblings):
        return p
    emitted, left = tried(p, siblings[:-1])
    emitted[siblings[-1]] += left.sum()
    return emitted


def _less_even(p: Array, siblings: Sequence[int]) -> Array:
    """What is left after a refusal is what exceeds an even share of the vocabulary."""
    emitted, left, refused = np.zeros_like(p), p.copy(), 1.0
    for token in siblings:
        emitted[token] += refused * left[token]
        refused *= 1.0 - left[token]
        left = np.maximum(left - 1.0 / len(p), 0.0)
        left /= max(left.sum(), 1e-300)
    return np.asarray(emitted + refused * left)


def _gap(p: Array, siblings: Sequence[int], place: int, *, old: bool) -> Array:
    """What is left is not renormalised before it is drawn from: what is missing goes to one token."""
    emitted, left = tried(p, siblings, old=old)
    rest = p.copy()
    rest[list(siblings)] = 0.0
    rest[place] += max(1.0 - rest.sum(), 0.0)
    return np.asarray(emitted + left.sum() * rest)


def _same_number(p: Array, siblings: Sequence[int], *, each: bool) -> Array:
    """The number that refused a sibling, above what would have accepted it, also draws what is emitted.

    Args:
        p: The target's.
        siblings: In order.
        each: A number of its own refuses each of them; else one all, by their summed probabilities.
    """
    emitted, left = tried(p, siblings)
    refused = left.sum()
    if not len(siblings) or refused <= 0:
        return emitted + left
    least = 1.0 - refused
    if each:
        before, _ = tried(p, siblings[:-1])
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


def _twice(p: Array, temperature: float) -> Array:
    """The softmax of probabilities."""
    weights = np.exp(heated(p, temperature) / temperature)
    return np.asarray(weights / weights.sum())


def _one(p: Array, token: int) -> Array:
    return np.asarray(np.eye(len(p))[token])


#: Words for a mistake, behind "as where" → what is emitted.
MISTAKES: Mapping[str, Emitted] = {
    "only the last refused sibling is taken out of the distribution": lambda p, s, _: _sum(
        tried(p, s, last=True)
    ),
    "nothing refused is taken out of the distribution": lambda p, s, _: _whole(p, s),
    "every sibling is tried by the target's first distribution": lambda p, s, _: _sum(tried(p, s, old=True)),
    "the random number that refused the siblings also draws the token after them": lambda p, s, _: (
        _same_number(p, s, each=False)
    ),
    "the random number that refused the last sibling also draws the token after it": lambda p, s, _: (
        _same_number(p, s, each=True)
    ),
    "what is left is not renormalised, and the last token has what is missing": lambda p, s, _: _gap(
        p, s, -1, old=False
    ),
    "what is left is not renormalised, and token 0 has what is missing": lambda p, s, _: _gap(
        p, s, 0, old=False
    ),
    "nothing is ever renormalised, and the last token has what is missing": lambda p, s, _: _gap(
        p, s, -1, old=True
    ),
    "nothing is ever renormalised, and token 0 has what is missing": lambda p, s, _: _gap(p, s, 0, old=True),
    "the likeliest token is taken when all siblings are refused": lambda p, s, _: _best(p, s) if s else p,
    "the likeliest token is taken after a whole path": lambda p, s, _: p if s else _best(p, s),
    "the likeliest token is taken wherever no draft is accepted": lambda p, s, _: _best(p, s),
    "no sibling is ever accepted": lambda p, s, _: _none_accepted(p, s),
    "siblings are accepted without being asked about": lambda p, s, _: _one(p, s[0]) if s else p,
    "a sibling is accepted where it is the likeliest, whatever is drawn": lambda p, s, _: (
        _one(p, int(np.argmax(p))) if int(np.argmax(p)) in s else p
    ),
    "the likeliest token is taken wherever something is drafted, and a token drawn behind a whole path": (
        lambda p, s, _: _one(p, int(np.argmax(p))) if s else p
    ),
    "the last sibling is accepted without being asked about": lambda p, s, _: _last_unasked(p, s),
    "what is left after a refusal is p less an even share of all tokens, not p without the refused one": (
        lambda p, s, _: _less_even(p, s)
    ),
    "a sibling is accepted by its odds, p / (1 - p)": lambda p, s, _: _accepting(
        p, s, lambda x: x / max(1.0 - x, 1e-300)
    ),
    "a sibling has two chances, to be drawn and to be above a number: it is accepted with p (2 - p)": (
        lambda p, s, _: _accepting(p, s, lambda x: x * (2.0 - x))
    ),
    "a sibling has to pass twice: it is accepted with the square of its probability": lambda p, s, _: (
        _accepting(p, s, lambda x: x * x)
    ),
    "a sibling is accepted with the square root of its probability": lambda p, s, _: _accepting(
        p, s, lambda x: float(np.sqrt(max(x, 0.0)))
    ),
    "a sibling has to be the likeliest and to be drawn, where either would do": lambda p, s, _: (
        _likeliest_and_drawn(p, s)
    ),
    "a sibling is accepted with half its probability": lambda p, s, _: _accepting(p, s, lambda x: x / 2),
    "a sibling is accepted where it should be refused": lambda p, s, _: _accepting(p, s, lambda x: 1.0 - x),
    "a sibling is accepted with min(1, q/p), q even over the siblings": lambda p, s, _: _accepting(
        p, s, lambda x: 1.0 / max(len(s) * x, 1e-300)
    ),
    "a sibling is accepted with min(1, p/q), q even over the siblings": lambda p, s, _: _accepting(
        p, s, lambda x: len(s) * x
    ),
    **CUT,
    "probabilities are powers of two of the logits, not of e": lambda p, _s, _t: heated(
        p, float(np.log(2.0))
    ),
    "the softmax is taken of probabilities": lambda p, _, t: _twice(p, t),
    "the likeliest token is always taken": lambda p, _s, _t: _one(p, int(np.argmax(p))),
    **HEATS,
}


#: All that is known, a row that is read in place of another among it.
KNOWN: Sequence[str] = (*MISTAKES, *ROWS)


def emitted_by(words: str, drawn: Drawn) -> Array:
    """What one of :data:`KNOWN` emits at a place."""
    if words in ROWS:
        return ROWS[words](drawn)
    return MISTAKES[words](drawn.p, drawn.siblings, drawn.temperature)


def likelier(drawn: Sequence[Drawn]) -> Iterator[tuple[str, float]]:
    """Mistakes, with the logarithm of how many times likelier the draws are under each than under p.

    Args:
        drawn: What came at each place.

    Yields:
        Words and number, likeliest first.
    """
    found = []
    for words in KNOWN:
        total = 0.0
        for each in drawn:
            other, counts = emitted_by(words, each), np.asarray(each.counts)
            came = counts > 0
            with np.errstate(divide="ignore"):
                ratio = np.log(other[came]) - np.log(each.p[came])
            total += float(counts[came] @ ratio)
        found.append((words, total))
    yield from sorted(found, key=lambda pair: -pair[1])
