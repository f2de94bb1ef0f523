"""What came of one trial of a challenge."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

__all__ = ["SEEDS", "Doing", "Tried"]

#: Told what is tried, and by which check or in which case.
Doing = Callable[[str, str], None]
SEEDS = (1, 2, 3)


class Tried(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of one trial.

    Attributes:
        kind: ``names``, ``reference``, ``right``, ``wrong`` or ``lazy``.
        name: Which.
        fine: Whether the challenge did what it must.
        told: What killed it, or what it passed; a clause.
        same: Whether a lazy answer is the right one, bit for bit, in every case: it is none then.
    """

    kind: str
    name: str
    fine: bool
    told: str
    same: bool = False
