"""Properties of rows, and from which amount of one on a row may be wrong because of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.fuse import hard_rows as rows
from judge_tui.checks.tasks.fuse.hard_rows import SHARED, SHORT

__all__ = ["CROWDED", "FAMILIES", "FAR", "Family"]

Logits = npt.NDArray[np.float32]
#: Threads that may share a row, and how many of the K largest one of them may have.
_STRIPES = (32, 64, 128, 256, 512, 1024)
_PER_THREAD = (1, 2, 3, 4, 5, 8, 9, 12, 16, 17, 24, 32, 33, 48, 64)
#: Depths of logits, between numbers that stand for −inf in code.
_DEEP = (1.0, 300.0, 3e3, 2e4, 9e4, 3e5, 3e7, 2e9)
_OFFSETS = (8.0, 40.0, 60.0, 80.0, 100.0, 130.0, 300.0, 1000.0, 1e4)


@dataclass(frozen=True, slots=True)
class Family:
    """A property of a row.

    Attributes:
        name: In a few words, for evidence.
        amounts: K → how much of it there is, least first; the first one is hardly different from a plain row.
        row: Generator, K, amount → (1, V).
        words: The largest amount that is right, and the least that is wrong → where it is wrong, as a clause
            behind "wrong where".
        measured: Row (V,), K → how much of it a row has; -1 where it does not say.
        whole: Whether amounts are counts.
        stripe: Threads among which the row is shared out, where that is the property.
    """

    name: str
    amounts: Callable[[int], tuple[float, ...]]
    row: Callable[[np.random.Generator, int, float], Logits]
    words: Callable[[float, float, int], str]
    measured: Callable[[Logits, int], float]
    whole: bool = True
    stripe: int = 0


def _tied_words(right: float, _wrong: float, K: int) -> str:
    equal = "logits equal to the K-th stand in front of larger ones"
    return f"more than {right:.0f} {equal}" if right > K + 1 else equal


def _equal_words(right: float, wrong: float, K: int) -> str:
    if wrong <= K:
        return f"{wrong:.0f} or more of the K largest are equal"
    return f"more than {max(right, K):.0f} logits are equal to the K-th"


def _negative_words(_right: float, wrong: float, K: int) -> str:
    if wrong >= K:
        return "all logits are below zero"
    return f"{wrong:.0f} or more of the K largest are below zero"


def _ragged_words(right: float, wrong: float, K: int) -> str:
    told = _negative_words(right, wrong, K)
    return f"{told} and V is no multiple of 1024, as where places past a row's end count as 0"


def _holes_words(right: float, wrong: float, K: int) -> str:
    if wrong > SHORT - K >= right:
        return "fewer than K logits are finite"
    if wrong <= 1:
        return "one logit is −inf"
    return "some logits are −inf" if wrong < SHORT // 2 else "most logits are −inf"


def _front_words(right: float, wrong: float, _K: int) -> str:
    if wrong <= 1:
        return "the first logit of a row is −inf, and so the first that a thread comes to"
    return f"a row begins with {wrong:.0f} or more logits of −inf (right with {right:.0f})"


def _striped(how: str, stripe: int) -> Family:
    def row(rng: np.random.Generator, K: int, count: float) -> Logits:
        falling, V = rows.falling(K, SHARED), SHARED
        whose = rows.thread(how, stripe, V)
        own = rng.permutation(np.flatnonzero(whose == rng.integers(stripe)))
        own = own[: int(count)]
        # the other large ones one to a thread, as far as threads go round
        order = rng.permutation(np.flatnonzero(whose != whose[own[0]]))
        rank = np.empty(len(order), np.int64)
        for thread in range(stripe):
            of = np.flatnonzero(whose[order] == thread)
            rank[of] = np.arange(len(of))
        others = order[np.argsort(rank, kind="stable")]
        # its own ones spread over the K largest
        first = np.concatenate([own, others[: K - len(own)]])
        rest = rng.permutation(np.setdiff1d(np.arange(V), first))
        logits = np.empty(V, np.float32)
        logits[np.concatenate([rng.permutation(first), rest])] = falling
        return logits[None]

    def measured(logits: Logits, K: int) -> float:
        top = np.argsort(-logits, kind="stable")[:K]
        return float(np.bincount(rows.thread(how, stripe, len(logits))[top]).max())

    place = {
        "each": f"have one index modulo {stripe}",
        "fours": f"belong to one of {stripe} lanes of four logits",
        "stretches": f"stand in one of {stripe} stretches of the row",
    }[how]
    return Family(
        f"the K largest that {place}",
        lambda K: tuple(n for n in _PER_THREAD if n <= min(K, SHARED // stripe)),
        row,
        lambda right, _wrong, _K: f"more than {right:.0f} of the K largest {place}, as one thread's do",
        measured,
        stripe=stripe,
    )  # fmt: skip


def _counts(*more: int) -> Callable[[int], tuple[float, ...]]:
    return lambda K: (*sorted({1, max(2, K // 2), K, K + 1, 2 * K}), *(n for n in more if n > 2 * K))


def _gone(K: int) -> tuple[float, ...]:
    return (0, 1, SHORT // 2, SHORT - 300, SHORT - K, SHORT - K + 1, SHORT - max(1, K // 2))


#: Logits that lie close together.
CROWDED = Family(
    "logits next to each other in float32", _counts(128, 256, 512, 1000, 2000, 4000, 7900), rows.crowded,
    lambda right, _wrong, _K: f"more than {right:.0f} logits lie close together", lambda row, K: -1.0,
)  # fmt: skip

#: Where one logit lies far above the others.
FAR = Family(
    "how far the largest lies above the K-th", lambda _K: (1, 20, 60, 80, 90, 110, 150, 300), rows.far,
    lambda right, wrong, _K: f"the K-th largest lies {wrong:.3g} or more below the largest "
    f"(right up to {right:.3g})", rows.gap, whole=False,
)  # fmt: skip

#: What is launched together, the least work first.
FAMILIES: tuple[tuple[Family, ...], ...] = (
(
    Family(
        "the K largest that are below zero", lambda K: tuple(sorted({0, 1, max(1, K // 2), K})),
        rows.negative, _negative_words, rows.below,
    ),
    Family(
        "the K largest that are below zero, in a row of no whole rounds",
        lambda K: tuple(sorted({0, 1, max(1, K // 2), K})), rows.negative_ragged, _ragged_words,
        rows.below_ragged,
    ),
    Family(
        "logits far below zero", lambda _K: _DEEP, rows.deep,
        lambda right, wrong, _K: f"all logits lie below about −{wrong:.3g}, as where a number about "
        f"−{(right + wrong) / 2:.2g} stands for −inf", rows.depth, whole=False,
    ),
    Family(
        "logits of −inf in front", lambda K: (0, 1, 40, 300, 1100, 1700), rows.empty_front,
        _front_words, rows.leading,
    ),
    Family(
        "logits that are −inf", _gone, rows.holes,
        _holes_words, rows.empty,
    ),
    FAR,
    Family(
        "an offset of all logits", lambda _K: _OFFSETS, rows.shifted(1.0),
        lambda right, wrong, _K: f"the largest logit is about {wrong + 4:.3g} or more "
        f"(right at {right + 4:.3g})", lambda row, _K: float(row.max()), whole=False,
    ),
    Family(
        "an offset of all logits, downwards", lambda _K: _OFFSETS, rows.shifted(-1.0),
        lambda right, wrong, _K: f"logits lie about {wrong:.3g} or more below zero (right at {right:.3g})",
        lambda row, _K: float(-row[np.isfinite(row)].max()) if np.isfinite(row).any() else -1.0, whole=False,
    ),
),
(
    *(_striped("each", stripe) for stripe in _STRIPES),
    *(_striped("fours", stripe) for stripe in _STRIPES[:-1]),
    *(_striped("stretches", stripe) for stripe in _STRIPES[:-1]),
),
(
CROWDED,
    Family(
        "equal logits at the K-th place", _counts(128, 256, 512, 1000, 2000, 4000, 7900), rows.tied,
        _equal_words, rows.ties,
    ),
    Family(
        "equal logits in front of larger ones", _counts(128, 256, 512, 1000, 2000, 4000), rows.tied_in_front,
        _tied_words, rows.ties_below,
    ),
    Family(
        "maxima that rise", lambda _K: (12, 16, 32, 64, 128, 256, 512, 1000, 2000, 4000),
        rows.rising,
        lambda right, _wrong, _K: f"more than {right:.0f} logits are larger than all in front of them",
        rows.maxima,
    ),
),
)  # fmt: skip
