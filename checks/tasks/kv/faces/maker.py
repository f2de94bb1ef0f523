"""Decoders with the same weights, as many as a comparison needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.tasks.kv.faces.decoding import FEW_IDS, IDS, Decoder, ModelSizes
from judge_tui.checks.tasks.kv.faces.lone import is_lone
from judge_tui.checks.tolerance import same_bits

__all__ = ["Maker"]

_MAKES = ("decoder", "state", "states")
#: Ids that are tried of a decoder which does not take as many as it answers numbers.
_FEWER = (FEW_IDS, 16, 10, 5)


class Maker:
    """Makes decoders with the same weights over and over.

    A decoder that draws other weights each time is made once and copied.

    Args:
        worker: Where the submission is.
        bound: Role → binding.
        left: Tells the seconds that remain.
        dtype: Of weights and vectors.
        sizes: Fields of :class:`ModelSizes` that are not as usual.
    """

    def __init__(
        self,
        worker: Worker,
        bound: Mapping[str, Binding],
        left: Callable[[], float],
        *,
        dtype: str = "float32",
        sizes: Mapping[str, Any] | None = None,
    ) -> None:
        self.worker, self.bound, self.left = worker, bound, left
        self.sizes = {"dtype": dtype, **(sizes or {})}
        self._pristine: Handle | None = None
        if self._own_vocabulary():
            self.sizes["vocab"] = self._vocabulary()
        if not self._repeats():
            self._pristine = self._new(1).model

    def _new(self, batch: int, bound: Mapping[str, Binding] | None = None, **sizes: Any) -> Decoder:
        made_for = ModelSizes(batch=batch, **{**self.sizes, **sizes})
        return Decoder(self.worker, bound or self.bound, made_for, self.left)

    def _own_vocabulary(self) -> bool:
        """Whether token ids go into a decoder that nobody told how many there are."""
        calls = [self.bound[name] for name in ("prefill", "decode") if name in self.bound]
        ids = any(call.takes(name) for call in calls for name in IDS)
        return ids and not any(binding.takes("vocab") for binding in self.bound.values())

    def _vocabulary(self) -> int:
        """As many ids as it has logits, where it takes the last of them; else as many as it takes."""
        width = int(self._new(1).prefill(np.array([[1, 2]])).shape[-1])
        # what it answers may be hidden states
        for many in (width, *(few for few in _FEWER if few < width)):
            try:
                self._new(1).prefill(np.array([[1, many - 1]]))
            except Raised:
                continue
            return many
        return min(width, 3)

    def _repeats(self) -> bool:
        one, other = self._new(1), self._new(1)
        given = one.draw(np.random.default_rng(3), 2)
        return same_bits(one.prefill(given), other.prefill(given))

    @property
    def any_batch(self) -> bool:
        """Whether batches of several sizes go through decoders of the same weights."""
        if is_lone(self.bound.values()) or self.refused:
            return False
        decoder = self.bound.get("decoder")
        return self._pristine is None or decoder is None or not decoder.takes("batch")

    @cached_property
    def refused(self) -> str:
        """How a prompt of two sequences fails in a decoder told of no batch; empty when it does not."""
        if any(self.bound[name].takes("batch") for name in _MAKES if name in self.bound):
            return ""
        try:
            two = self(2)
            two.prefill(two.draw(np.random.default_rng(3), 3))
        except (Raised, BadResult) as fault:
            return fault.message
        return ""

    def __call__(self, batch: int, bound: Mapping[str, Binding] | None = None, **sizes: Any) -> Decoder:
        """A decoder with an empty cache.

        Args:
            batch: Sequences.
            bound: Other callables that play its roles.
            sizes: Fields of :class:`ModelSizes` that the weights do not depend on.
        """
        made = self._new(batch, bound, **sizes)
        if self._pristine is not None:
            made.model = self.worker.copied(self._pristine)
        return made
