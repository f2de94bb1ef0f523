"""Decoders that give the keys and values of the new tokens alone: their caller joins them to those before."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import Returned
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.tasks.kv.faces.leaves import leaves

__all__ = ["JOINED", "Joined", "joins"]

Array = npt.NDArray[Any]
#: What keys and values are called that were joined: a pair, a pair under the number of each layer, a list of
#: pairs, or the two apart.
JOINED = ("joined", "joined_by_layer", "joined_list", "joined_k", "joined_v")


def joins(binding: Binding) -> bool:
    """Whether a call is handed keys and values that its caller has joined."""
    return any(binding.takes(name) for name in JOINED)


class Joined:
    """Keys and values of all tokens so far, a pair for each layer.

    Args:
        worker: Where the decoder is.
    """

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._pairs: list[tuple[Array, Array]] = []
        self._axis = -2
        self._last = 0

    @property
    def empty(self) -> bool:
        """Whether no call gave any."""
        return not self._pairs

    def inputs(self) -> dict[str, Any]:
        """What is handed over, by the names of :data:`JOINED`; nothing before the first tokens."""
        if not self._pairs:
            return {**dict.fromkeys(JOINED), "joined_by_layer": {}}
        first = self._pairs[0]
        return {
            "joined": tuple(first), "joined_by_layer": dict(enumerate(map(tuple, self._pairs))),
            "joined_list": [tuple(pair) for pair in self._pairs], "joined_k": first[0], "joined_v": first[1],
        }  # fmt: skip

    def take(self, returned: Returned, tokens: int) -> None:
        """Join what a call gave beside its answer: pairs of arrays of one shape, the last of them all."""
        new = self._given(returned)
        if not new:
            return
        if self._pairs and len(self._pairs) == len(new):
            self._axis = self._token_axis(self._pairs[0][0], new[0][0], tokens)
            self._pairs = [
                (np.concatenate([k, more_k], self._axis), np.concatenate([v, more_v], self._axis))
                for (k, v), (more_k, more_v) in zip(self._pairs, new, strict=True)
            ]
        else:
            self._pairs, self._last = new, tokens

    def _token_axis(self, held: Array, new: Array, tokens: int) -> int:
        """The axis in which the two differ; the one before the last where none does."""
        if held.ndim != new.ndim:
            return self._axis
        apart = [axis for axis, (a, b) in enumerate(zip(held.shape, new.shape, strict=True)) if a != b]
        alike = [axis for axis in range(held.ndim - 1) if new.shape[axis] == tokens]
        return apart[0] if len(apart) == 1 else (self._axis if self._axis >= 0 or not alike else alike[-1])

    def _given(self, returned: Returned) -> list[tuple[Array, Array]]:
        root = returned.result.handle
        held = [leaf for leaf in leaves(self._worker, root) if leaf.kind == "array" and leaf.path]
        shapes = [leaf.shape for leaf in held]
        # The answer itself comes first or last; keys and values are as many arrays of one shape.
        alike = [leaf for leaf in held if shapes.count(leaf.shape) > 1]
        if len(alike) % 2 or not alike:
            alike = alike[-2:] if len(alike) > 2 else []
        arrays = [self._worker.fetch(leaf.handle, leaf.shape, np.dtype(leaf.dtype)) for leaf in alike]
        return list(zip(arrays[::2], arrays[1::2], strict=True))
