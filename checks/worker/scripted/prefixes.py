"""The prefixes that a call to a scripted model is about: its token ids, and how they are meant.

Prefixes may be one or many, as lists or arrays, padded on either side with a mask, lengths or last places
beside them, one behind the other with their bounds, or behind a :class:`State` that an earlier call gave.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import arrays

__all__ = ["Prefix", "Prefixes", "State"]

#: Attributes by which a cache says how many tokens it holds.
_HELD = re.compile(r"^(n|size|pos|position|offset|count|(\w+_)?len(gth)?|(n|num)_tokens|seen_tokens)$")
_KEYWORDS = (
    "input_ids",
    "token_ids",
    "ids",
    "tokens",
    "sequences",
    "sequence",
    "seq",
    "prefix",
    "x",
    "inputs",
)
_LENGTHS = re.compile(r"len|count|size|split")
#: What a single token is called.
_ONE = ("token", "tok", "token_id", "next_token", "new_token", "last_token", "id", "new_id", "last_id")


@dataclass(frozen=True, slots=True)
class Prefix:
    """One of them.

    Attributes:
        ids: The token ids of the call, padding and all.
        real: Which of them are no padding.
        before: What was read before.
    """

    ids: list[int]
    real: list[bool]
    before: list[int]

    @property
    def whole(self) -> list[int]:
        """All its tokens."""
        return [*self.before, *(token for token, real in zip(self.ids, self.real, strict=True) if real)]


@dataclass(frozen=True, slots=True)
class Prefixes:
    """All that a call is about.

    Attributes:
        each: One after another.
        leading: Axes of the batch; ``None`` for a prefix without one.
    """

    each: list[Prefix]
    leading: tuple[int, ...] | None

    @classmethod
    def read(cls, args: Sequence[Any], kwargs: dict[str, Any], *, places: bool = False) -> Prefixes:
        """What the arguments of a call say.

        Args:
            args: Positional ones.
            kwargs: By name; what is called after token ids comes first.
            places: Whether a whole number per prefix is the place of its last token, and not its length.

        Raises:
            TypeError: There are no token ids, or it cannot be told which they are.
        """
        named = [("", value) for value in args]
        named += [(key, kwargs.pop(key)) for key in _KEYWORDS if key in kwargs]
        given = [(name.lower(), arrays.hosted(value)) for name, value in (*named, *kwargs.items())]
        state = next((each for _name, value in given if (each := State.of(value)) is not None), None)
        told = [(name, value) for name, value in given if _is_ids(value)]
        if state is not None:
            told = _behind(state, given, told)
        if not told:
            raise TypeError("the scripted model was called without token ids")
        pieces = _unpacked(told[0][1], told[1:])
        batch, leading = _sequences(pieces or told[0][1])
        beside = [] if pieces else [value for _name, value in told[1:]]
        single = leading is None
        real = [_kept(ids, index, beside, places, single) for index, ids in enumerate(batch)]
        before = _spread(state.rows, len(batch)) if state is not None else [[]] * len(batch)
        return cls([Prefix(*parts) for parts in zip(batch, real, before, strict=True)], leading)

    def after(self) -> State:
        """What stands for them in a later call."""
        read = [each.whole for each in self.each]
        return State(read[0] if self.leading is None and len(read) == 1 else _padded(read))


class State(dict[str, Any]):
    """What a model keeps of the tokens that it has read: a cache, to the submission.

    It is a dict of one array with a row per sequence, so that whoever indexes, repeats, joins or copies the
    rows of every array of a cache does with the sequences what is meant.

    Args:
        tokens: (L,) of one sequence, or (R, L) of several, -1 behind the shorter ones.
    """

    def __init__(self, tokens: Any) -> None:
        super().__init__(tokens=arrays.moved(np.asarray(tokens, np.int64)))

    @classmethod
    def of(cls, value: Any) -> State | None:
        """One that a submission has kept as it was, or made anew of its parts; ``None`` for anything else."""
        if isinstance(value, dict) and list(value) == ["tokens"]:
            array = arrays.hosted(value["tokens"])
            return cls(array) if isinstance(array, np.ndarray) and 0 < array.ndim < 3 else None
        return None

    @property
    def rows(self) -> list[list[int]]:
        """The tokens of every sequence."""
        return [[int(t) for t in row if t >= 0] for row in np.atleast_2d(arrays.hosted(self["tokens"]))]

    def __len__(self) -> int:
        """How many tokens the longest sequence has."""
        return max(map(len, self.rows), default=0)

    def __getattr__(self, name: str) -> int:
        if not _HELD.search(name):
            raise AttributeError(f"the scripted model's cache has no '{name}'")
        return len(self)


def _padded(rows: Sequence[Sequence[int]]) -> Any:
    whole = np.full((len(rows), max(map(len, rows), default=0)), -1, np.int64)
    for place, row in zip(whole, rows, strict=True):
        place[: len(row)] = row
    return whole


def _is_ids(value: Any) -> bool:
    """Whether a value is a sequence of whole numbers or of such sequences, possibly empty."""
    if isinstance(value, np.ndarray):
        # a hidden state is no prefix
        whole = value.dtype.kind in "iub" or (
            value.dtype.kind == "f" and bool(np.all(value == np.rint(value)))
        )
        return value.ndim > 0 and whole
    if not isinstance(value, (list, tuple)):
        return False
    return all(isinstance(item, (int, np.integer)) or _is_ids(item) for item in value)


def _sequences(value: Any) -> tuple[list[list[int]], tuple[int, ...] | None]:
    """Sequences and the leading axes of a batch; ``None`` for one sequence."""
    if isinstance(value, np.ndarray):
        whole = value.reshape(int(np.prod(value.shape[:-1])), value.shape[-1])
        return [[int(t) for t in row] for row in whole], value.shape[:-1] if value.ndim > 1 else None
    if any(not isinstance(item, (int, np.integer)) for item in value):
        parts = [_sequences(item) for item in value]
        inner = parts[0][1] or ()
        return [ids for part, _axes in parts for ids in part], (len(value), *inner)
    return [[int(t) for t in value]], None


def _unpacked(ids: Any, others: Sequence[tuple[str, Any]]) -> list[list[int]]:
    """Sequences of which one stands behind the other, told apart by bounds or by lengths; else none."""
    flat = _flat(ids)
    for name, value in others if flat is not None else ():
        told = _flat(value)
        if flat is None or told is None or not told.size:
            continue
        ends = np.cumsum(told)
        lengths = _LENGTHS.search(name) or (told.size > 1 and np.any(told > 1))
        if told.size > 1 and told[0] == 0 and np.all(np.diff(told) > 0):
            ends, lengths = told[1:], True
        if lengths and np.all(np.diff(ends, prepend=0) > 0) and ends[-1] == flat.size:
            return [[int(t) for t in piece] for piece in np.split(flat, ends[:-1])]
    return []


def _flat(value: Any) -> Any:
    """Whole numbers in one row, (L,); ``None`` for anything else."""
    listed = isinstance(value, (list, tuple)) and all(isinstance(t, (int, np.integer)) for t in value)
    array = np.asarray(value, np.int64) if listed else value
    return array if isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "iu" else None


def _behind(
    state: State, given: Sequence[tuple[str, Any]], told: Sequence[tuple[str, Any]]
) -> list[tuple[str, Any]]:
    """What comes behind what was read, tokens first: some of each sequence, or one of a single one.

    Raises:
        TypeError: There are no tokens, or more than one number may be them.
    """
    single = state["tokens"].ndim == 1
    if not told:
        kinds = (int, np.integer)
        told_of = [(n, int(v)) for n, v in given if isinstance(v, kinds) and not isinstance(v, bool)]
        named = [number for name, number in told_of if name in _ONE or name in _KEYWORDS]
        numbers = named or [number for _name, number in told_of]
        if not single or len(numbers) != 1:
            raise TypeError("the scripted model cannot tell which token comes behind its state")
        return [("", [numbers[0]])]
    ids = np.asarray(told[0][1])
    return [("", ids[:, None] if not single and ids.ndim == 1 else ids), *told[1:]]


def _spread(rows: list[list[int]], count: int) -> list[list[int]]:
    """The tokens of every sequence; those of a single one once for each of several.

    Raises:
        TypeError: There are others than that.
    """
    if len(rows) not in (1, count):
        raise TypeError(f"the scripted model has read {len(rows)} sequences, and is asked for {count}")
    return rows if len(rows) == count else rows * count


def _kept(ids: list[int], index: int, others: list[Any], places: bool, single: bool) -> list[bool]:
    """Which positions of a sequence are real: no negative id, and what a mask, lengths or places say."""
    real = [token >= 0 for token in ids]
    for other in others:
        told = np.asarray(other) if not isinstance(other, np.ndarray) else other
        if single and told.shape == (len(ids),) and set(np.unique(told).tolist()) <= {0, 1}:
            told = told[None]
        if told.ndim == 2 and index < len(told) and told.shape[1] == len(ids):
            if set(np.unique(told).tolist()) <= {0, 1} and told[index].any():
                return [keep and bool(flag) for keep, flag in zip(real, told[index], strict=True)]
        elif told.ndim == 1 and index < len(told) and 0 < told[index] + places <= len(ids):
            return [keep and place < int(told[index]) + places for place, keep in enumerate(real)]
        elif told.ndim == 1 and places and index < len(told):
            raise TypeError("the scripted model was given a place behind the last token")
    return real
