"""One side of the conversation between a test and a submission, as what it is made of knows it."""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol

from .parts import Record
from .table import Table

__all__ = ["Side"]


class Side(Protocol):
    """What :class:`.peer.Peer` is for its parts.

    Attributes:
        epoch: Which process over there.
        dropped: Numbers of objects over there that nobody here has any more, and how often they were told.
        table: The objects that the other side has.
        kinds: The classes that stand for those over there (:class:`.kinds.Kinds`).
        crossing: Writes and reads values (:class:`.crossing.Crossing`).
        rules: What the other side may ask for (:class:`.rules.Rules`).
    """

    epoch: int
    dropped: deque[tuple[int, int]]
    table: Table
    kinds: Any
    crossing: Any
    rules: Any

    def ask(self, op: str, *operands: Any) -> Any:
        """Ask something of an object over there."""

    def special(self, value: Any, name: str, args: tuple[Any, ...]) -> Any:
        """Call a special method of an object over there."""

    def number(self, value: Any) -> int:
        """The number that an object has over there."""

    def number_over_there(self, error: BaseException) -> int | None:
        """The number of an exception that came from the other side."""

    def stand_in(self, number: int, kind: Any) -> Any:
        """The stand-in for an object over there."""

    def made_record(self, record: Record, value: Any) -> Any:
        """A record of a class that is not at hand."""

    def made_of(self, kind: type) -> Any:
        """What tells apart the class over there that a record's class was made after."""

    def unfit(self, clause: str) -> BaseException:
        """What is raised where somebody asks for what cannot be had."""

    def forged(self, clause: str) -> BaseException:
        """The other side said what nobody may say."""
