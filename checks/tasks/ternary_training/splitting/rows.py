"""What is known of a value: of which whole it is a part, in which orders that stood, and where it was cut."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

__all__ = [
    "Drawn",
    "Empty",
    "Group",
    "Key",
    "Mask",
    "Noise",
    "Number",
    "Place",
    "Rows",
    "Step",
    "Value",
    "indices",
    "is_heavy",
    "key_of",
    "size_of",
]

Key: TypeAlias = Hashable
#: Parts of a key that is kept.
_MOST = 300


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, 1-based."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """A random order.

    Attributes:
        source: What it was drawn from: of one seed come the same orders.
        count: How often that was drawn from before.
        generator: Number of the object that it was drawn from.
    """

    source: tuple[str, Key]
    count: int
    generator: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Step:
    """One step from a whole to a part of it.

    Attributes:
        kind: ``order`` (put into another one), ``cut`` (a part of it taken), ``drawn`` (elements picked at
            random, again and again) or ``through`` (picked by places among another number of them).
        key: Equal ones do the same.
        told: What it is, in words.
        place: Where it stands.
        sure: Whether it is known to have been done to this value, and not to a copy of it.
    """

    kind: Literal["order", "cut", "drawn", "through"]
    key: Key
    told: str = field(default="", compare=False)
    place: Place = field(default=Place("", 0), compare=False)
    sure: bool = field(default=True, compare=False)


@dataclass(frozen=True, slots=True)
class Rows:
    """A sequence, or an element of it.

    Attributes:
        of: The whole.
        steps: From that to this one.
        length: Of how many elements; its own key where that is ``None``.
        listed: Whether it is a list, whose slices are copies; ``None`` where that is not known.
        memory: Equal numbers may share memory.
    """

    of: Key
    steps: tuple[Step, ...] = ()
    length: Key = field(default=None, compare=False)
    listed: bool | None = field(default=None, compare=False)
    memory: int = field(default=0, compare=False)

    @property
    def size(self) -> Key:
        """The key of its length."""
        return self.length if self.length is not None else ("len", self.of, self.steps)

    @property
    def is_part(self) -> bool:
        """Whether anything of its whole was left out."""
        return any(step.kind in ("cut", "drawn") for step in self.steps)

    def then(self, *steps: Step, length: Key = None) -> Rows:
        """What further steps make of it."""
        return replace(self, steps=(*self.steps, *steps), length=length)

    def picked(self, places: Rows) -> Rows:
        """Its elements at the places that are told."""
        size = (
            places.of[1]
            if isinstance(places.of, tuple) and places.of[:1] == ("indices",)
            else key_of(Rows(places.of))
        )
        through = () if size == self.size else (Step("through", size),)
        return Rows(self.of, (*self.steps, *through, *places.steps), places.length, None, places.memory)


@dataclass(frozen=True, slots=True)
class Number:
    """A size, a place, or a constant."""

    key: Key


@dataclass(frozen=True, slots=True)
class Noise:
    """So many random numbers, of which comparing makes a mask, and sorting an order."""

    drawn: Drawn
    place: Place
    size: Key = None


@dataclass(frozen=True, slots=True)
class Mask:
    """Booleans that pick elements: by comparing noise, or set at places."""

    by: Noise | Rows
    positive: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """Values under keys: of a tuple by number, of a dict by text."""

    items: Mapping[int | str, Value]


@dataclass(frozen=True, slots=True)
class Empty:
    """A list to append to (``""``), or a mask with nothing set."""

    mask: bool = False


Value: TypeAlias = Rows | Number | Noise | Mask | Group | Empty | object | None


def indices(size: Key) -> Rows:
    """All places of so many."""
    return Rows(("indices", size), (), size)


def size_of(value: Value) -> Key:
    """A value as a whole number; what is not known to be one may be one."""
    return value.key if isinstance(value, Number) else key_of(value)


def key_of(value: Value) -> Key:
    """What is equal where values are."""
    if isinstance(value, Rows):
        return value.of if not value.steps else ("rows", value.of, value.steps)
    if isinstance(value, Group):
        return tuple((name, key_of(item)) for name, item in value.items.items())
    return value.key if isinstance(value, Number) else value


def is_heavy(key: Key) -> bool:
    """Whether a key is so large that to compare it takes long: of what is computed from itself it doubles."""
    todo, seen = [key], 0
    while todo and seen <= _MOST:
        seen += 1
        one = todo.pop()
        if isinstance(one, Step | Drawn):
            todo += [one.key] if isinstance(one, Step) else [one.source]
        elif isinstance(one, tuple):
            todo += one
    return seen > _MOST
