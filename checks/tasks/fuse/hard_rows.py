"""Rows that differ from a plain one in one property, by how much of it they have.

A plain row has logits of both signs, all of them different, the largest well apart and in random places. A
launcher that is right on it and wrong on one that has much of a property is wrong because of the property.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = [
    "SHARED", "SHORT", "below", "below_ragged", "crowded", "deep", "depth", "empty",
    "empty_front", "falling", "far", "gap", "holes", "keys", "leading", "maxima", "negative",
    "negative_ragged", "plain", "rising", "sharing", "shifted", "thread", "tied",
    "tied_in_front", "ties", "ties_below",
]  # fmt: skip

Logits = npt.NDArray[np.float32]
#: Logits of the rows, whole rounds of any number of threads: of most, of those that are shared out among
#: threads, and of those with many of a kind.
SHORT, SHARED, _LONG = 2048, 4096, 8192
#: Logits of a row of no whole rounds, and of a round of the most threads.
_RAGGED, _ROUND = 2011, 1024
_FRACTION = 23
#: Finite logits that are few.
_FEW = 300
#: From one of the largest to the next at the end of a row.
_STEP = 33


def plain(rng: np.random.Generator, K: int, V: int = SHORT) -> Logits:
    """A row without anything that is hard about it.

    Args:
        rng: Draws its order.
        K: Number of entries that are asked for.
        V: Logits of it.

    Returns:
        (1, V) float32.
    """
    return _placed(rng, falling(K, V))


def falling(K: int, V: int) -> Logits:
    """Its logits, largest first: 4 · K of them well apart, above zero, the others from there down to −12."""
    count = min(4 * K, V)
    step = min(0.25, 16.0 / K)
    top = 1.0 + step * np.arange(count, 0, -1)
    return np.concatenate([top, np.linspace(0.9, -12.0, V - count)]).astype(np.float32)


def _placed(rng: np.random.Generator, values: Logits) -> Logits:
    return np.ascontiguousarray(rng.permutation(values)[None], dtype=np.float32)


def keys(logits: Logits) -> npt.NDArray[np.uint32]:
    """Bits in the order of what they stand for, as radix selections take them.

    Args:
        logits: Any shape; −0 and +0 are alike.
    """
    bits = (logits + np.float32(0.0)).view(np.uint32)
    return np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31))


def sharing(rng: np.random.Generator, K: int, count: int, bits: int) -> Logits:
    """A row of which some logits share their leading bits, and no more, and all others lie far below.

    Args:
        rng: Draws them.
        K: Number of entries that are asked for.
        count: How many share them.
        bits: How many bits; 9 are the sign and the exponent.
    """
    if bits > 9:
        least = np.log(1.0)
        width = np.log1p(2.0 ** (9 - bits))
    else:
        least, width = np.log(2.0) * (1 - 2 ** (9 - bits)), np.log(2.0) * 2 ** (9 - bits)
    close = np.exp(least + width * rng.random(count))
    return _over(rng, K, close)


def crowded(rng: np.random.Generator, K: int, count: float) -> Logits:
    """A row of which some logits are next to each other in float32, and all others lie far below."""
    return _over(rng, K, 1 + np.arange(int(count)) * 2.0**-_FRACTION)


def _over(rng: np.random.Generator, K: int, top: npt.NDArray[np.floating]) -> Logits:
    """A row of these, the largest, and where they are fewer than K a plain one's above them.

    Its K largest stand at its end, the others of these in front: what drops late ones drops the largest.
    """
    more = falling(K, _LONG)[: max(K - len(top), 0)] + 4
    values = np.sort(np.concatenate([more, top]))[::-1]
    return _ending(rng, values[:K], values[K:])


def _ending(
    rng: np.random.Generator, last: npt.NDArray[np.floating], others: npt.NDArray[np.floating]
) -> Logits:
    """A row of logits at its end, others in its first half or as far as they need, all else far below.

    Those at the end are of another lane and another thread each, while there are enough.
    """
    end = _LONG - 1 - _STEP * np.arange(len(last)) % _LONG
    free = np.setdiff1d(np.arange(_LONG), end)
    front = rng.permutation(free[: max(len(others), _LONG // 2)])[: len(others)]
    row = np.linspace(-4.0, -12.0, _LONG)
    row[end], row[front] = last, others
    return row[None].astype(np.float32)


def _kth(row: Logits, K: int) -> np.float32:
    return np.float32(np.partition(row, len(row) - K)[len(row) - K])


def tied(rng: np.random.Generator, K: int, count: float) -> Logits:
    """Equal logits that begin at the first place, or at a later one where they are fewer than K."""
    return _over(rng, K, np.ones(int(count)))


def tied_in_front(rng: np.random.Generator, K: int, count: float) -> Logits:
    """Equal logits at the K-th place, all of them in front of the larger ones."""
    larger = falling(K, _LONG)[: max(1, K // 2)] + 4
    return _ending(rng, larger, np.ones(int(count)))


def ties(row: Logits, K: int) -> float:
    """The most that are equal, of the K largest and those that are equal to the K-th."""
    return float(np.unique(row[row >= _kth(row, K)], return_counts=True)[1].max())


def ties_below(row: Logits, K: int) -> float:
    """How many are equal to the K-th, where there are larger ones."""
    kth = _kth(row, K)
    return float((row == kth).sum()) if (row > kth).any() else 0.0


def rising(rng: np.random.Generator, K: int, count: float) -> Logits:
    """The largest ones in rising order, spread over the row."""
    row = plain(rng, K, SHARED)[0]
    places = np.sort(rng.permutation(SHARED)[: int(count)])
    row[places] = 2 + np.sort(rng.random(int(count))) * 14
    rest = np.setdiff1d(np.arange(SHARED), places)
    row[rest] = np.minimum(row[rest], 0.9 - rng.random(len(rest)))
    return np.asarray(row[None], dtype=np.float32)


def maxima(row: Logits, _K: int) -> float:
    """How many logits are larger than all in front of them."""
    running = np.maximum.accumulate(row)
    return float(1 + (running[1:] > running[:-1]).sum())


def thread(how: str, stripe: int, V: int) -> npt.NDArray[np.int64]:
    """Which thread looks at each logit."""
    places = np.arange(V)
    if how == "fours":
        return places // 4 % stripe
    if how == "stretches":
        return places // -(-V // stripe)
    return places % stripe


def negative(rng: np.random.Generator, K: int, count: float, V: int = SHORT) -> Logits:
    """So many of the K largest are below zero; all logits are where it is K."""
    values, first = falling(K, V), K - int(count)
    shift = (values[first] + values[first - 1]) / 2 if first > 0 else values[0] + 1
    return _placed(rng, values - np.float32(shift if count else 0.0))


def negative_ragged(rng: np.random.Generator, K: int, count: float) -> Logits:
    """The same of a row that ends within whatever it is read by."""
    return negative(rng, K, count, _RAGGED)


def below(row: Logits, K: int) -> float:
    """How many of the K largest are below zero."""
    top = -np.partition(-row, K - 1)[:K]
    return float((top < 0).sum())


def below_ragged(row: Logits, K: int) -> float:
    """The same of a row that ends within what it is read by; 0 of others."""
    return below(row, K) if len(row) % _ROUND else 0.0


def holes(rng: np.random.Generator, K: int, count: float) -> Logits:
    """A plain row of which the smallest are −inf."""
    row = plain(rng, K)
    row[0, np.argsort(row[0], kind="stable")[: int(count)]] = -np.inf
    return row


def empty(row: Logits, _K: int) -> float:
    """How many are −inf; where few are finite, how many would be of a row that has as many finite ones."""
    finite, gone = int(np.isfinite(row).sum()), int(np.isneginf(row).sum())
    return float(SHORT - finite if gone and finite < _FEW else min(gone, SHORT - _FEW))


def empty_front(rng: np.random.Generator, K: int, count: float) -> Logits:
    """A plain row that begins with so many of −inf."""
    row = plain(rng, K)
    gone = np.argsort(row[0], kind="stable")[: int(count)]
    kept = np.setdiff1d(np.arange(SHORT), gone)
    return np.concatenate([np.full(int(count), -np.inf), row[0, kept]])[None].astype(np.float32)


def leading(row: Logits, _K: int) -> float:
    """With how many of −inf it begins; -1 where nothing is finite."""
    finite = np.isfinite(row)
    return float(np.argmax(finite)) if finite.any() else -1.0


def far(rng: np.random.Generator, K: int, gap: float) -> Logits:
    """The largest one so far above all others."""
    row = plain(rng, K)
    row[0, np.argmax(row[0])] = row[0].max() + np.float32(gap)
    return row


def gap(row: Logits, K: int) -> float:
    """How far the K-th largest lies below the largest, of finite ones."""
    finite = np.sort(row[np.isfinite(row)])[::-1][:K]
    return float(finite[0] - finite[-1])


def deep(rng: np.random.Generator, _K: int, least: float) -> Logits:
    """All logits below so much under zero, and as far apart as lets no sum be rounded."""
    return (-least * rng.uniform(1.0, 2.0, (1, SHORT))).astype(np.float32)


def depth(row: Logits, _K: int) -> float:
    """How far the largest lies below zero; -1 where logits lie close together."""
    finite = row[np.isfinite(row)]
    top = float(-finite.max()) if len(finite) else -1.0
    return top if len(finite) and np.ptp(finite) > 0.5 * top else -1.0


def shifted(sign: float) -> Callable[[np.random.Generator, int, float], Logits]:
    """Plain rows to which an offset is added, times a sign."""
    return lambda rng, K, offset: plain(rng, K) + np.float32(sign * offset)
