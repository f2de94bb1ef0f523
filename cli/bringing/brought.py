"""What a source comes to: files, and what was left out of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from judge_tui.checks.errors import UsageError
from judge_tui.checks.unlisted import Unlisted, sentence

__all__ = ["MOST_BYTES", "MOST_FILES", "Brought", "Refused", "listed"]

#: Bytes, unpacked, and files of one submission at most.
MOST_BYTES = 100_000_000
MOST_FILES = 2_000
_NAMED = 4


class Refused(UsageError):
    """A source is damaged, holds too much, or is not what it is taken for; who named it says which."""


@dataclass(frozen=True, slots=True)
class Brought:
    """The files of one submission that is brought in.

    Attributes:
        files: Relative POSIX path → content.
        left_out: What of the source is no part of it, and could be taken for one.
        told: What else whoever brings it has to know, a sentence each.
    """

    files: Mapping[str, bytes]
    left_out: tuple[Unlisted, ...] = ()
    told: tuple[str, ...] = field(default=())

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that is told, what was left out first."""
        return tuple(filter(None, (sentence(self.left_out), *self.told)))


def listed(names: Collection[str]) -> str:
    """The first of some names, and how many there are more."""
    more = len(names) - _NAMED
    return ", ".join(list(names)[:_NAMED]) + (f" and {more} more" if more > 0 else "")
