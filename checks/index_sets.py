"""What the places of a few arrays have in common that are wrong or left out, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["places_told"]

Places = npt.NDArray[np.bool_]
_UNITS = (
    *(2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 50, 64, 96, 100, 128, 192, 256, 384, 512, 768),
    *(1000, 1024, 2048, 4096),
)

#: An integer of the source from which on it says more than that a place is the last one.
_LARGE = 8


def places_told(sets: Sequence[Places], what: str, integers: Iterable[int] = ()) -> str:
    """Places of several lengths as one clause, such as "rows behind the last multiple of 16".

    Args:
        sets: Of each array, which of its places.
        what: What a place is, in the plural.
        integers: Of the source, which places may hang on; they are tried first.

    Returns:
        Empty where they are all places, none, or have no simple rule.
    """
    if not sets or all(places.all() for places in sets) or not any(places.any() for places in sets):
        return ""
    own = [unit for unit in integers if 1 < unit < 1_000_000]
    units = dict.fromkeys((*own, *_UNITS))
    large = [(f"{what} behind the last multiple of {unit}", _behind(unit)) for unit in own if unit >= _LARGE]
    for words, rule in (*large, *_rules(what, units)):
        if all(np.array_equal(rule(len(places)), places) for places in sets):
            return words
    return _span(sets[0], what)


def _rules(what: str, units: Iterable[int]) -> Iterator[tuple[str, Callable[[int], Places]]]:
    one = what.removesuffix("s")
    yield f"the last {one}", lambda n: np.arange(n) == n - 1
    yield f"the first {one}", lambda n: np.arange(n) == 0
    yield f"all {what} but the first", lambda n: np.arange(n) > 0
    yield f"all {what} but the last", lambda n: np.arange(n) < n - 1
    for unit in units:
        yield f"{what} behind the last multiple of {unit}", _behind(unit)
    for unit in units:
        yield f"{what} from {unit} on", _from(unit)
        yield f"the first {unit} {what}", _up_to(unit)
        yield f"{what} from the last multiple of {unit} before the end on", _last_part(unit)
    for unit in units:
        yield (
            f"{what} that a last tile of {unit}, pulled back to be whole, shares with the one before",
            _shared(unit),
        )
    for unit in units:
        yield f"every second block of {unit} {what}", _second(unit, 1)
        yield f"the first of every two blocks of {unit} {what}", _second(unit, 0)
    yield f"{what} of odd number", lambda n: np.arange(n) % 2 == 1
    yield f"{what} of even number", lambda n: np.arange(n) % 2 == 0
    yield f"the first half of {what}", lambda n: np.arange(n) < n // 2
    yield f"the second half of {what}", lambda n: np.arange(n) >= n // 2


def _behind(unit: int) -> Callable[[int], Places]:
    return lambda n: np.arange(n) >= n // unit * unit


def _from(unit: int) -> Callable[[int], Places]:
    return lambda n: np.arange(n) >= unit


def _up_to(unit: int) -> Callable[[int], Places]:
    return lambda n: np.arange(n) < unit


def _second(unit: int, which: int) -> Callable[[int], Places]:
    return lambda n: np.asarray(np.arange(n) // unit % 2 == which)


def _last_part(unit: int) -> Callable[[int], Places]:
    return lambda n: np.arange(n) >= (n - 1) // unit * unit


def _shared(unit: int) -> Callable[[int], Places]:
    return lambda n: (np.arange(n) >= n - unit) & (np.arange(n) < n // unit * unit) & (n > unit)


def _span(places: Places, what: str) -> str:
    which = np.flatnonzero(places)
    if not len(which) or places.all() or len(which) < which[-1] - which[0] + 1:
        return ""
    span = f"{which[0]}" if len(which) == 1 else f"{which[0]} to {which[-1]}"
    return f"{what if len(which) > 1 else what.removesuffix('s')} {span} of {len(places)}"
