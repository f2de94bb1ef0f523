"""The mean and the standard deviation of each row as y has them, and what they are taken over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.backwards.passes import draw, eps_of, forward
from judge_tui.checks.tasks.backwards.reference import Batch

__all__ = ["Rows", "fitting", "lengths_of", "means", "near", "telling", "wrong_statistics"]

Array = npt.NDArray[np.float64]
_SAME = 1e-7
#: Shapes that are read, the most numbers of one, and features at least.
_MOST, _NUMBERS, _FEATURES = 3, 60_000, 4
#: The eps that is told, less than others that may be used whatever it is.
_EPS = 1e-7
_UNITS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows and what y says of them.

    Attributes:
        x: (R, D) the rows.
        eps: Of the call.
        mean: (R,) what is taken off.
        square: (R,) the square of what they are divided by.
        integers: Numbers of the source that may be lengths of blocks.
    """

    x: Array
    eps: float
    mean: Array
    square: Array
    integers: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        """D."""
        return int(self.x.shape[1])


def wrong_statistics(bench: Bench, shapes: Sequence[tuple[int, ...]]) -> str:
    """What the mean or the variance of a row is taken over, as a clause; for a y that was seen wrong.

    Args:
        bench: Where it is judged.
        shapes: (B, T, D) of draws that were wrong.
    """
    read: list[Rows] = []
    for at, shape in enumerate(telling(shapes)):
        batch = draw(bench.rng("statistics", at), shape, eps_of(bench, _EPS))  # type: ignore[arg-type]
        try:
            one = _of(bench, batch)
        except Fault:
            return ""
        if one is None:
            return ""
        read.append(replace(one, integers=lengths_of(bench)))
    with np.errstate(all="ignore"):
        return _told(read) if read else ""


def lengths_of(bench: Bench) -> tuple[int, ...]:
    """Numbers of the source that may be lengths of blocks."""
    return tuple(sorted({one.value for one in bench.integers if one.value > 1} - set(_UNITS)))


def telling(shapes: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Some of the shapes of wrong draws, of several widths."""
    suited = [s for s in set(shapes) if s[2] >= _FEATURES and np.prod(s) <= _NUMBERS]
    widths = {s[2]: s for s in sorted(suited, key=lambda s: -int(np.prod(s)))}
    return [widths[width] for width in sorted(widths)[:: max(1, len(widths) // _MOST)][:_MOST]]


def _of(bench: Bench, batch: Batch) -> Rows | None:
    """What y says of its rows; ``None`` where a row is not x less a number, over a number."""
    x = batch.x.reshape(-1, batch.width)
    given = ((forward(bench, batch).y - batch.beta) / batch.gamma).reshape(x.shape)
    centred = x - x.mean(axis=-1, keepdims=True)
    slope = (given * centred).sum(-1) / (centred * centred).sum(-1)
    mean = (x - given / slope[:, None]).mean(-1)
    made = (x - mean[:, None]) * slope[:, None]
    if not (np.abs(made - given).max(-1) <= _SAME * np.abs(given).max(-1)).all():
        return None
    return Rows(x, batch.eps, mean, slope**-2)


def _told(read: Sequence[Rows]) -> str:
    right = all(near(one.mean, one.x.mean(-1), one) for one in read)
    mean = "" if right else next(fitting(read, means(read), lambda one: one.mean), "")
    if not right and not mean:
        return ""
    follows = all(
        near(one.square, one.x.var(-1) + one.eps, one)
        or near(one.square, ((one.x - one.mean[:, None]) ** 2).mean(-1) + one.eps, one)
        for one in read
    )
    variance = "" if follows else _another_eps(read)
    variance = variance or (
        "" if follows else next(fitting(read, _variances(read), lambda one: one.square), "")
    )
    told = [f"the mean of a row is {mean}"] if mean else []
    told += [f"{'its variance' if mean else 'the variance of a row'} is {variance}"] if variance else []
    return " and ".join(told)


def _another_eps(read: Sequence[Rows]) -> str:
    """Whether what is added to the variance is another number than the eps that is told."""
    more = np.concatenate([one.square - one.x.var(-1) for one in read])
    size = float(max(one.x.var(-1).max() for one in read))
    eps = float(np.median(more))
    if eps <= 0 or abs(eps - read[0].eps) <= 1e-3 * eps or np.abs(more - eps).max() > _SAME * size:
        return ""
    return f"right but for its eps, {eps:.3g} where {read[0].eps:g} is told"


_Given = Callable[[Rows], Array]
_Over = Callable[[Rows], npt.NDArray[np.bool_]]
#: A place in a row, of D and a unit.
_Place = Callable[[int, int], int]


def fitting(read: Sequence[Rows], ways: Iterator[tuple[str, _Given]], of: _Given) -> Iterator[str]:
    """Ways that give a number of every row, in words."""
    for words, gives in ways:
        if all(near(of(one), gives(one), one) for one in read):
            yield words


def near(made: Array, wanted: Array, one: Rows) -> bool:
    """Whether one number of each row is another, but for rounding."""
    if wanted.shape != made.shape or not np.isfinite(wanted).all():
        return False
    size = np.maximum(np.abs(wanted), _SAME * np.abs(one.x).max(-1))
    return bool((np.abs(made - wanted) <= 10 * _SAME * size).all())


def _parts(read: Sequence[Rows]) -> Iterator[tuple[str, _Over]]:
    """Which features may be taken, in words."""
    yield "all features but the last", partial(_below, lambda width, u: width - u, 1)
    yield "all features but the first", partial(_from, lambda width, u: u, 1)
    yield "the first half of the features", partial(_below, lambda width, u: width // u, 2)
    yield "the second half of the features", partial(_from, lambda width, u: width // u, 2)
    yield "every second feature", _even
    for unit in (*reversed(read[0].integers), *_UNITS):
        yield f"features up to the last multiple of {unit}", partial(_below, _last_multiple, unit)
        yield f"features behind the last multiple of {unit}", partial(_from, _last_multiple, unit)
        yield f"features of the last block of {unit}", partial(_from, lambda w, u: (w - 1) // u * u, unit)
    for unit in range(1, min(one.width for one in read)):
        yield f"the first {unit} features", partial(_below, lambda width, u: u, unit)
        yield f"the last {unit} features", partial(_from, lambda width, u: width - u, unit)


def _last_multiple(width: int, unit: int) -> int:
    return width // unit * unit


def _below(place: _Place, unit: int, one: Rows) -> npt.NDArray[np.bool_]:
    return np.arange(one.width) < place(one.width, unit)


def _from(place: _Place, unit: int, one: Rows) -> npt.NDArray[np.bool_]:
    return np.arange(one.width) >= place(one.width, unit)


def _even(one: Rows) -> npt.NDArray[np.bool_]:
    return np.asarray(np.arange(one.width) % 2 == 0)


def _divisors() -> Iterator[tuple[str, Callable[[int], int]]]:
    """What sums may be divided by in place of D."""
    yield "D + 1", lambda width: width + 1
    yield "D − 1", lambda width: width - 1
    yield "D rounded up to a power of two", lambda width: width + _lanes(1, width)
    for unit in _UNITS[1:]:
        yield f"D rounded up to a multiple of {unit}", partial(_up, unit)
        yield f"D rounded down to a multiple of {unit}", partial(_down, unit)
        yield str(unit), partial(_just, unit)


def _up(unit: int, width: int) -> int:
    return -(-width // unit) * unit


def _down(unit: int, width: int) -> int:
    return width // unit * unit


def _just(unit: int, width: int) -> int:
    return unit


def _lanes(unit: int, width: int) -> int:
    """How many lanes pad a row; to a power of two where the unit is 1."""
    return (1 << (width - 1).bit_length()) - width if unit == 1 else -width % unit


def means(read: Sequence[Rows]) -> Iterator[tuple[str, _Given]]:
    """What may stand for the mean of a row, in words."""
    yield "0: none is taken off", lambda one: np.zeros(len(one.x))
    for words, over in _parts(read):
        yield f"that of {words} alone", partial(_mean, over, False)
        yield f"the sum of {words} alone, over D", partial(_mean, over, True)
    for words, divisor in _divisors():
        yield f"its sum over {words}, not over D", partial(_mean_over, divisor)


def _mean(over: _Over, of_all: bool, one: Rows) -> Array:
    some = one.x[:, over(one)]
    if not some.size:
        return np.full(len(some), np.nan)
    return np.asarray(some.sum(-1) / one.width if of_all else some.mean(-1))


def _mean_over(divisor: Callable[[int], int], one: Rows) -> Array:
    return np.asarray(one.x.sum(-1) / divisor(one.width))


def _variances(read: Sequence[Rows]) -> Iterator[tuple[str, _Given]]:
    for about, of in ((False, ""), (True, " about the mean of all")):
        for words, over in _parts(read):
            yield f"that of {words} alone{of}", partial(_square, over, about, False)
            yield f"the sum of squares of {words} alone{of}, over D", partial(_square, over, about, True)
        for words, divisor in _divisors():
            yield f"its sum of squares{of} over {words}, not over D", partial(_square_over, divisor, about)
    for unit in _UNITS[1:]:
        yield f"{_PADDED} a multiple of {unit}", partial(_padded, unit)
    yield f"{_PADDED} a power of two", partial(_padded, 1)


_PADDED = "too large by mean² for each lane that pads D to"


def _off(one: Rows, about_all: bool) -> Array:
    """The squares of what is left of a row."""
    return np.asarray((one.x - (one.x.mean(-1) if about_all else one.mean)[:, None]) ** 2)


def _square(over: _Over, about_all: bool, of_all: bool, one: Rows) -> Array:
    some = _off(one, about_all)[:, over(one)]
    if not some.size:
        return np.full(len(some), np.nan)
    return np.asarray((some.sum(-1) / one.width if of_all else some.mean(-1)) + one.eps)


def _square_over(divisor: Callable[[int], int], about_all: bool, one: Rows) -> Array:
    return np.asarray(_off(one, about_all).sum(-1) / divisor(one.width) + one.eps)


def _padded(unit: int, one: Rows) -> Array:
    more = _lanes(unit, one.width) * one.x.mean(-1) ** 2 / one.width
    return np.asarray(one.x.var(-1) + more + one.eps)
