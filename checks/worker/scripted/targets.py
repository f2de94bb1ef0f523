"""A scripted target model for tree verification: token ids and an attention mask in, a row per position out.

The row of a position is the row of the tokens that it sees, in the order of their depth,
so that a position which sees its prompt, itself and its ancestors alone gets exactly the
row of that path, and one that sees a sibling gets another one. Masks may be boolean
(either way round), 0 and 1, or additive; over prompt and tree, the tree's rows, or the
tree alone. What it cannot read it refuses: a guess would make right code look wrong.

A call may name the rows that it wants, and a prompt may go in first: what it gives back
then stands for the prompt in the calls after it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .. import arrays
from .models import Model, Row, counted
from .prefixes import Prefix, State

__all__ = ["STYLES", "Output", "Target", "visible"]

if TYPE_CHECKING:
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"

#: How answers are shaped, likeliest first; without a mask ``last`` gives (V,), ``all`` gives (L, V). With
#: ``pair`` every answer comes beside a :class:`State`, with ``prefixed`` those to a prompt alone.
STYLES = (
    "last", "all", "all output", "all pair", "all list", "last list", "last batched", "all batched",
    "last prefixed", "all prefixed", "last pair",
)  # fmt: skip

_TOKENS = re.compile(r"(^|_)(ids?|tokens?|seq\w*|inputs?|x|prompt|prefix|draft\w*|tree)$")
_MASK = re.compile(r"mask|bias")
_POSITIONS = re.compile(r"pos")
_PARENTS = re.compile(r"parent")
_METHODS = re.compile(r"verify|decode|apply|compute|tree|eval|output|prefill|encode|extend")
_ROWS = re.compile(
    r"^(rows?|at|take|select(ed)?|"
    r"(row|query|output|out|logit|gather|need(ed)?|want(ed)?)_?(rows?|indices|index|idx))$"
)


class Output(dict[str, Any]):
    """Logits as an attribute and as a key."""

    @property
    def logits(self) -> Any:
        """The answer."""
        return self["logits"]


class Target(Model):
    """A model that answers for prompt and tree in one call, or for one path at a time."""

    def __init__(self, rows: Any, style: str = "last") -> None:
        super().__init__(rows, style)
        self._batched = "batched" in style.split()
        self._prefixed = "prefixed" in style.split()
        self._prompt = 0

    def told(self, prompt: int) -> None:
        """Note how many tokens the prompt has: where it is one, as many rows as tokens may be wanted."""
        self._prompt = prompt

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and _METHODS.search(name.lower()):
            return self
        return super().__getattr__(name)

    def _answer(self, args: tuple[Any, ...], kwargs: dict[str, Any], probs: bool) -> Any:
        told = _Call(args, kwargs, self._prompt)
        if told.batch and self._prefixed:
            raise TypeError("the scripted target model was given several sequences before a state")
        if told.batch or (told.alone and told.state is None and told.rows is None):
            found = super()._answer(args, kwargs, probs)
            if told.batch or self._form == "pair":
                return found
        else:
            counted()
            tokens = [int(t) for t in told.tokens]
            if told.alone:
                rows = self._positions(Prefix(tokens, [True] * len(tokens), []))
            else:
                rows = self._masked(tokens, told)
            rows = rows[told.wanted()]
            last = told.alone and told.rows is None and not self._all
            rows = np.exp(rows) if probs else rows
            found = self._formed([rows[-1] if last else rows], (1,) * told.leading or None)
        if self._form == "pair":
            return found, State(told.tokens)
        return (found, State(told.tokens)) if self._prefixed and told.state is None else found

    def _masked(self, tokens: list[int], told: _Call) -> Row:
        seen, places = told.seen, told.positions
        depth = seen.sum(axis=1)
        rows = np.empty((len(seen), self.vocab_size))
        for index, row in enumerate(seen):
            path = sorted(
                np.flatnonzero(row).tolist(), key=lambda i: (depth[i] if places is None else places[i], i)
            )
            # A token at another place than its depth is another token to a model that knows places.
            off = [0 if places is None else int(places[i]) - place for place, i in enumerate(path)]
            key = [tokens[i] + 100_003 * (gap % 997) for i, gap in zip(path, off, strict=True)]
            rows[index] = self._rows.row(key)
        return rows

    def _formed(self, found: list[Row], leading: tuple[int, ...] | None) -> Any:
        if self._form == "output":
            form, self._form = self._form, "array"
            try:
                return Output(logits=super()._formed(found, leading))
            finally:
                self._form = form
        whole = super()._formed(found, leading)
        return whole[None] if self._batched and leading is None else whole


class _Call:
    """What a call says.

    Args:
        args: Its positional arguments.
        kwargs: Its keyword arguments.
        prompt: How many tokens the prompt has; 0 where that is not known.

    Attributes:
        alone: Whether it is about sequences alone, without tree or mask.
        batch: Whether it is about several of them.
        tokens: Prompt and tree, (L,).
        leading: Axes of length one before it.
        seen: What each position sees, (L, L).
        positions: Place of each position, (L,), when the call says so.
        state: What stands for tokens of an earlier call; they are the first of ``tokens``.
        rows: Positions whose rows are asked for, (R,); those of all that come now, when left out.

    Raises:
        TypeError: It cannot be read.
    """

    def __init__(self, args: Sequence[Any], kwargs: dict[str, Any], prompt: int = 0) -> None:
        self._prompt = prompt
        self.alone = self.batch = False
        self.leading = 0
        self.tokens: Array = np.zeros(0, np.int64)
        self.positions: Array | None = None
        self.state: State | None = None
        self.rows: Array | None = None
        self._series: list[Array] = []
        self._mask: Array | None = None
        self._parents: list[Any] | None = None
        args, kwargs = [arrays.hosted(value) for value in args], arrays.hosted(kwargs)
        named = sorted(kwargs.items(), key=lambda item: not _TOKENS.search(item[0].lower()))
        values = [("", value) for value in args] + [(name.lower(), value) for name, value in named]
        for name, value in values:
            if isinstance(value, Model):
                continue
            if (state := State.of(value)) is not None:
                self.state = state
                continue
            if not self._series and _ragged(value):
                self.alone = self.batch = True
                return
            if not (value is None or isinstance(value, (bool, int, float, str, np.generic))):
                self._add(name, value)
            if self._series and self._series[0].ndim > 1 and self._series[0].shape[0] > 1:
                self.alone = self.batch = True
                return
        if not self._series:
            raise TypeError("the scripted target model was called without token ids")
        self.leading = self._series[0].ndim - 1
        self._series = [series.reshape(-1) for series in self._series]
        self._read_state()
        self.alone = self._mask is None and self._parents is None and len(self._series) == 1
        self.tokens = self._series[0]
        if self.alone:
            return
        if self._mask is None:
            self._read_parents()
        else:
            self._read_mask(visible(self._mask))
        if self.positions is not None and self.positions.size != self.tokens.size:
            raise TypeError(f"the scripted target model was given {self.positions.size} positions")

    def wanted(self) -> Array:
        """Which of all rows are answered: those that are named, else those of what comes now.

        Raises:
            TypeError: Behind a state, numbers may count from it or from the start.
        """
        before, size = len(self.state) if self.state is not None else 0, self.tokens.size
        if self.rows is None:
            return np.arange(before, size)
        if self.rows.size and not 0 <= self.rows.min() <= self.rows.max() < size:
            raise TypeError(f"the scripted target model was asked for rows of {size}: {self.rows.tolist()}")
        if before and self.rows.size:
            from_start = self.rows.min() >= before - 1
            from_state = self.rows.max() < size - before
            if from_start == from_state:
                raise TypeError("the scripted target model cannot tell where the rows are counted from")
            return np.asarray(self.rows + before * from_state)
        return self.rows

    def _read_state(self) -> None:
        """Put the tokens of an earlier call in front, at places of their own."""
        if self.state is None:
            return
        if len(self.state.rows) > 1:
            raise TypeError("the scripted target model was given a tree behind several sequences")
        new, before = self._series[0].size, np.array(self.state.rows[0], np.int64)
        self._series[0] = np.concatenate([before, self._series[0]])
        places = [series for series in self._series[1:] if series.size == new and not np.any(series < 0)]
        if self.positions is None and self._mask is not None and len(places) == 1:
            self.positions = places[0]
            self._series = [series for series in self._series if series is not places[0]]
        if self.positions is not None and self.positions.size == new:
            self.positions = np.concatenate([np.arange(before.size), self.positions])

    def _add(self, name: str, value: Any) -> None:
        if _PARENTS.search(name) or (isinstance(value, (list, tuple)) and None in value):
            self._parents = list(np.asarray(value, dtype=object).reshape(-1))
            return
        array = np.asarray(value)
        if array.ndim == 0 and array.dtype.kind in "iubf":
            return
        if array.dtype.kind not in "iubf":
            raise TypeError(f"the scripted target model cannot read a {type(value).__name__}")
        if _ROWS.search(name):
            flags = array.dtype.kind == "b"
            self.rows = np.flatnonzero(array) if flags else array.reshape(-1).astype(np.int64)
        elif _POSITIONS.search(name):
            self.positions = array.reshape(-1)
        elif _MASK.search(name) or (self._series and array.ndim > 1 and _is_mask(array)):
            self._add_mask(array)
        elif array.dtype.kind in "iu" or array.size == 0:
            self._series.append(array.astype(np.int64))
        else:
            raise TypeError(f"the scripted target model cannot read an array of shape {array.shape}")

    def _add_mask(self, array: Array) -> None:
        while array.ndim > 2 and array.shape[0] == 1:
            array = array[0]
        if array.ndim == 1 or (array.size > 1 and self._series and array.shape == self._series[0].shape):
            # A flag per token; of ones: nothing is padded.
            if not np.all(array == 1):
                raise TypeError("the scripted target model was given a mask of one row")
            return
        if array.ndim != 2 or self._mask is not None:
            raise TypeError(f"the scripted target model cannot read a mask of shape {array.shape}")
        self._mask = array

    def _read_mask(self, seen: Array) -> None:
        """Join prompt and tree, where they came apart, and fill up a mask of the tree's rows."""
        rows, columns = seen.shape
        more = [series for series in self._series[1:] if series.size]
        if more:
            size = more[0].size
            apart = columns == self.tokens.size + size or rows == columns == size
            if apart and not (columns == self.tokens.size and _are_places(more[0], columns)):
                self.tokens = np.concatenate([self.tokens, more.pop(0)])
        length = self.tokens.size
        for series in more:
            if self._prompt == 1 and np.array_equal(series, np.arange(length)):
                # The rows of the last prompt token and of every node: all there are.
                self.rows = series
            elif series.size == length and not np.any(series < 0) and self.positions is None:
                self.positions = series
            elif _are_rows(series, length) and self.rows is None:
                self.rows = series
            elif not np.any(series < 0):
                raise TypeError(f"the scripted target model cannot read {series.size} further integers")
        prompt = length - rows
        self.seen = np.tri(length, dtype=bool)
        if prompt >= 0 and columns == length:
            self.seen[prompt:] = seen
        elif prompt >= 0 and columns == rows:
            self.seen[prompt:, prompt:] = seen
        else:
            raise TypeError(f"the scripted target model was given a mask {seen.shape} for {length} tokens")

    def _read_parents(self) -> None:
        """Take the mask from parents, after prompt and tree together or apart."""
        more = self._series[1:]
        if self._parents is None and more and (len(more) > 1 or not more[0].size or np.any(more[-1] < 0)):
            self._parents = list(more.pop())
        if self._parents is None or (more and more[0].size != len(self._parents)):
            raise TypeError("the scripted target model was given two sequences and no mask")
        self.tokens = np.concatenate([self.tokens, *more[:1]])
        self.seen = _from_parents(self.tokens.size - len(self._parents), self._parents)


def _ragged(value: Any) -> bool:
    """Whether it is sequences of several lengths."""
    if not isinstance(value, (list, tuple)) or not value:
        return False
    return (
        all(isinstance(part, (list, tuple, np.ndarray)) for part in value) and len(set(map(len, value))) > 1
    )


def _are_places(series: Array, length: int) -> bool:
    """Whether integers are positions and no tokens: as many, and from 0 on."""
    return bool(series.size == length and series[0] == 0 and np.all(np.diff(np.unique(series)) == 1))


def _are_rows(series: Array, length: int) -> bool:
    """Whether integers are the last positions, those whose rows a verification needs."""
    return 0 < series.size < length and np.array_equal(series, np.arange(length - series.size, length))


def _is_mask(array: Array) -> bool:
    return array.dtype.kind in "bf" or bool(array.shape[-1] == array.shape[-2] and np.all(array <= 1))


def visible(mask: Array) -> Array:
    """A mask as booleans that are true where a position is seen: additive and inverted ones are read too."""
    if mask.dtype.kind == "f" and bool(np.any(mask < 0)):
        return np.asarray(mask > -1)
    seen = mask != 0
    first = seen[0]
    # The first token sees itself alone; where it sees all but itself, true means hidden.
    if not first[0] and (len(first) == 1 or first[1:].all()):
        seen = ~seen
    return np.asarray(seen)


def _from_parents(prompt: int, parents: Sequence[Any]) -> Array:
    length = prompt + len(parents)
    if prompt < 1:
        raise TypeError("the scripted target model was given more parents than tokens")
    flat = any(p is not None and int(p) >= len(parents) for p in parents) or (
        len(parents) > 0 and all(p is not None and int(p) >= prompt - 1 for p in parents) and prompt > 1
    )
    seen = np.tri(length, dtype=bool)
    for index, told in enumerate(parents):
        parent = -1 if told is None else int(told) - (prompt if flat else 0)
        above = seen[prompt - 1 if parent < 0 else prompt + parent].copy()
        above[prompt + index] = True
        seen[prompt + index] = above
    return seen
