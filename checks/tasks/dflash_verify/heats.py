"""Temperatures that go wrong: what is emitted where logits meet another one in some of the places that draw.

A verifier draws in three places: it accepts what is drafted, replaces what it refused, and goes on behind a
whole path. Each may have a temperature of its own by mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from judge_tui.checks.tasks.dflash_verify.drawn import Array, tried

__all__ = ["HEATS", "heated"]

#: (p, drafted siblings in the order in which they are tried, the temperature of p) → what is emitted.
_Emitted = Callable[[Array, Sequence[int], float], Array]

#: What logits meet → the power of p that this is, by the temperature.
_POWERS: Mapping[str, Callable[[float], float]] = {
    "the temperature is 1": lambda t: t,
    "logits are divided by the temperature twice": lambda t: 1.0 / t,
    "logits are multiplied by the temperature": lambda t: t * t,
    "logits are divided by the square root of the temperature": lambda t: float(np.sqrt(t)),
    "the temperature is 1 where it is higher": lambda t: max(t, 1.0),
    "the temperature is 1 where it is lower": lambda t: min(t, 1.0),
}
#: Where → whether that is so in acceptance, in what replaces refused siblings, and behind a whole path.
_PLACES: Mapping[str, tuple[bool, bool, bool]] = {
    "": (True, True, True),
    " in acceptance alone": (True, False, False),
    " in what replaces refused siblings alone": (False, True, False),
    " after a whole path alone": (False, False, True),
    " in all that is drawn, and not in acceptance": (False, True, True),
    " but after a whole path": (True, True, False),
    " but in what replaces refused siblings": (True, False, True),
}


def heated(p: Array, power: float) -> Array:
    """The distribution of which logits are so many times those of p.

    Args:
        p: A distribution, (V,).
        power: How many times.
    """
    weights = p**power
    return np.asarray(weights / weights.sum())


def _apart(accepting: Array, replacing: Array, siblings: Sequence[int]) -> Array:
    """Siblings are accepted by one distribution, and what replaces them is drawn from another."""
    emitted, left = tried(accepting, siblings)
    rest = replacing.copy()
    rest[list(siblings)] = 0.0
    return np.asarray(emitted + left.sum() * rest / max(rest.sum(), 1e-300))


def _way(power: Callable[[float], float], places: tuple[bool, bool, bool]) -> _Emitted:
    accepts, replaces, behind = places

    def emitted(p: Array, siblings: Sequence[int], temperature: float) -> Array:
        other = heated(p, power(temperature))
        if not siblings:
            return other if behind else p
        return _apart(other if accepts else p, other if replaces else p, siblings)

    return emitted


def _all() -> Iterator[tuple[str, _Emitted]]:
    for what, power in _POWERS.items():
        for where, places in _PLACES.items():
            yield f"{what}{where or ' throughout'}", _way(power, places)


#: Words for a mistake, behind "as where" → what is emitted.
HEATS: Mapping[str, _Emitted] = dict(_all())
