"""A scripted target model for tree verification: token ids and an attention mask in, a row per position out.

The row of a position is the row of the tokens that it sees, in the order of their depth,
so that a position which sees its prompt, itself and its ancestors alone gets exactly the
row of that path, and one that sees a sibling gets another one. Masks may be boolean
(either way round), 0 and 1, or additive; over prompt and tree, the tree's rows, or the
tree alone. What it cannot read it refuses: a guess would make right code look wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .models import Model, Row, counted

__all__ = ["STYLES", "Output", "Target", "visible"]

Array = npt.NDArray[Any]

#: How answers are shaped, likeliest first; without a mask ``last`` gives (V,), ``all`` gives (L, V).
STYLES = ("last", "all", "all output", "all pair", "all list", "last list", "last batched", "all batched")

_TOKENS = re.compile(r"(^|_)(ids?|tokens?|seq\w*|inputs?|x|prompt|prefix|draft\w*|tree)$")
_MASK = re.compile(r"mask|bias")
_POSITIONS = re.compile(r"pos")
_PARENTS = re.compile(r"parent")
_METHODS = re.compile(r"verify|decode|apply|compute|tree|eval|output")


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

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and _METHODS.search(name.lower()):
            return self
        return super().__getattr__(name)

    def _answer(self, args: tuple[Any, ...], kwargs: dict[str, Any], probs: bool) -> Any:
        told = _sorted(args, dict(kwargs))
        if not told.ids:
            raise TypeError("the scripted target model was called without token ids")
        if told.mask is None and not told.parents:
            if len(told.ids) > 1:
                raise TypeError("the scripted target model was given two sequences and no mask")
            return super()._answer((told.ids[0],), {}, probs)
        counted()
        tokens = [int(t) for part in told.ids for t in np.asarray(part).reshape(-1)]
        rows = self._masked(tokens, told)
        leading = max((np.asarray(part).ndim for part in told.ids), default=1) - 1
        return self._formed([np.exp(rows) if probs else rows], (1,) * leading or None)

    def _masked(self, tokens: list[int], told: Arguments) -> Row:
        seen = told.visibility(len(tokens))
        depth = seen.sum(axis=1)
        positions = told.positions
        rows = np.empty((len(seen), self.vocab_size))
        for index, row in enumerate(seen):
            path = [int(i) for i in np.flatnonzero(row)]
            if positions is None:
                path.sort(key=lambda i: (depth[i], i))
                key = [tokens[i] for i in path]
            else:
                path.sort(key=lambda i: (positions[i], i))
                # A token at another place than its depth is another token to a model that knows places.
                off = [int(positions[i]) - place for place, i in enumerate(path)]
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


class Arguments:
    """What a call says: token ids, a mask, positions, parents."""

    def __init__(self) -> None:
        self.ids: list[Any] = []
        self.mask: Array | None = None
        self.positions: Array | None = None
        self.parents: list[Any] = []

    def add(self, name: str, value: Any) -> None:
        """Take one argument in, by its name or by what it looks like.

        Raises:
            TypeError: It is none of what the model knows.
        """
        if value is None or isinstance(value, (bool, int, float, str, np.generic)):
            return
        if _PARENTS.search(name) or (isinstance(value, (list, tuple)) and None in value):
            self.parents = list(np.asarray(value, dtype=object).reshape(-1))
            return
        array = np.asarray(value)
        if array.dtype.kind not in "iubf":
            raise TypeError(f"the scripted target model cannot read a {type(value).__name__}")
        lean = array.reshape([n for n in array.shape if n != 1] or [array.size])
        if _POSITIONS.search(name):
            self.positions = lean
        elif _MASK.search(name) or (self.ids and array.ndim >= 2 and _is_mask(array)):
            self._add_mask(array)
        elif array.dtype.kind in "iu" and (lean.ndim == 1 or not self.ids):
            self._add_ids(name, value, lean)
        elif array.size == 0 and len(self.ids) < 2:
            self.ids.append(value)
        else:
            raise TypeError(f"the scripted target model cannot read an array of shape {array.shape}")

    def _add_mask(self, array: Array) -> None:
        while array.ndim > 2 and array.shape[0] == 1:
            array = array[0]
        if array.ndim == 1 or (array.ndim == 2 and array.shape[0] == 1 and array.shape[1] > 1):
            if not np.all(array == 1):
                raise TypeError("the scripted target model was given a mask with one row")
            return
        if array.ndim != 2 or self.mask is not None:
            raise TypeError(f"the scripted target model cannot read a mask of shape {array.shape}")
        self.mask = array

    def _add_ids(self, name: str, value: Any, lean: Array) -> None:
        told_ids = sum(np.asarray(part).size for part in self.ids)
        whole = self.mask is not None and told_ids == self.mask.shape[1]
        if _TOKENS.search(name) or len(self.ids) == 0 or (len(self.ids) == 1 and not whole):
            self.ids.append(value)
        elif lean.size == told_ids:
            self.positions = lean
        elif len(self.ids) == 2 and lean.size == np.asarray(self.ids[1]).size:
            self.parents = list(lean)
        else:
            raise TypeError(f"the scripted target model cannot read an array of shape {lean.shape}")

    def settle(self) -> None:
        """Take a second sequence for positions where prompt and tree came as one."""
        if len(self.ids) != 2 or self.mask is None:
            return
        first, second = (np.asarray(part).reshape(-1) for part in self.ids)
        if first.size == second.size == self.mask.shape[1]:
            self.ids, self.positions = self.ids[:1], second

    def visibility(self, length: int) -> Array:
        """(R, L): what each row sees.

        Args:
            length: L, prompt and tree.

        Raises:
            TypeError: The mask fits no part of it.
        """
        if self.positions is not None and self.positions.size != length:
            raise TypeError(f"the scripted target model was given {self.positions.size} positions")
        if self.mask is None:
            return _from_parents(length - len(self.parents), self.parents)
        seen = visible(self.mask)
        rows, columns = seen.shape
        if columns == length and rows == length:
            return seen
        prompt = length - rows
        whole = np.tri(length, dtype=bool)
        if prompt >= 0 and columns == length:
            whole[prompt:] = seen
        elif prompt >= 0 and columns == rows:
            whole[prompt:, prompt:] = seen
        else:
            raise TypeError(f"the scripted target model was given a mask {seen.shape} for {length} tokens")
        return whole


def _sorted(args: Sequence[Any], kwargs: dict[str, Any]) -> Arguments:
    told = Arguments()
    named = sorted(kwargs.items(), key=lambda item: not _TOKENS.search(item[0].lower()))
    for name, value in [*(("", value) for value in args), *named]:
        told.add(name.lower(), value)
    told.settle()
    return told


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
