"""Backward runs on changed copies of what the forward kept: which entries it reads, and which matter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from judge_tui.checks.calling.remote import Handle, Nested
from judge_tui.checks.faults import BadResult, Died, Fault, Raised, Skipped, TimedOut
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention_bwd.cached import Entry, carried
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention, Run
from judge_tui.checks.tasks.flash_attention_bwd.reference import Gradients

__all__ = ["Probe"]

_BUDGET = 5.0
#: A gradient that moves by less than this share of its largest entry has not moved.
_MOVED = 1e-12


class Probe:
    """A forward whose cache is changed entry by entry.

    Args:
        attention: What is called.
        run: The forward.

    Attributes:
        baseline: The gradients from an unchanged copy.
        given: Whether the backward is given Q, K and V beside the cache.

    Raises:
        Skipped: What the forward keeps cannot be copied.
    """

    def __init__(self, attention: Attention, run: Run) -> None:
        self.attention = attention
        self.worker = attention.bench.worker
        self._start(run)
        try:
            copies = {name: self.worker.copied(handle) for name, handle in self.handles.items()}
        except (Raised, BadResult) as fault:
            raise Skipped(
                f"what its forward keeps cannot be copied to change it: it {fault.message}"
            ) from fault
        self.baseline: Gradients = attention.backward(self.run, carried=copies)
        self.given = any(attention.binding.takes(name) for name in "qkv")

    def _start(self, run: Run) -> None:
        self.run = run
        self.handles = carried(self.attention, run)

    def read(self, entry: Entry) -> bool:
        """Whether NaN in its place shows."""
        return self._moved(entry, lambda: self.worker.poisoned(self.handles[entry.handle], entry.path))

    def used(self, entry: Entry) -> bool:
        """Whether other finite numbers in its place show: scaled and shifted, or noise."""
        handle = self.handles[entry.handle]
        if entry.kind == "list" or not entry.path:
            noise: Any = self.attention.bench.rng("noise").standard_normal(entry.shape)
            noise = Nested(noise) if entry.kind == "list" else noise
            return self._moved(entry, lambda: self.worker.substituted(handle, entry.path, noise))
        if entry.kind == "bool":
            other = not bool(entry.value)
            return self._moved(entry, lambda: self.worker.substituted(handle, entry.path, other))
        if entry.kind == "int":
            # A size or a tile stays a whole number.
            more = int(entry.value if entry.value is not None else 0) + 3
            return self._moved(entry, lambda: self.worker.substituted(handle, entry.path, more))
        return self._moved(entry, lambda: self.worker.perturbed(handle, entry.path, scale=1.37, shift=0.21))

    def scratch(self, entry: Entry) -> bool:
        """Whether the backward writes to an entry that it does not read: room to work in."""
        changed = self.worker.poisoned(self.handles[entry.handle], entry.path)
        try:
            self.attention.backward(self.run, carried={entry.handle: changed}, budget=_BUDGET)
            return not np.isnan(self.worker.fetch(changed.part(*entry.path), entry.shape)).all()
        except Fault:
            return False
        finally:
            if self.worker.alive:
                self.worker.drop(changed)

    def _moved(self, entry: Entry, change: Callable[[], Handle]) -> bool:
        try:
            changed = change()
        except Fault:
            return False
        try:
            made = self.attention.backward(self.run, carried={entry.handle: changed}, budget=_BUDGET)
        except (Raised, BadResult):
            return True
        except (Died, TimedOut):
            self.worker = self.attention.bench.worker
            self._start(self.attention.run(self.run.problem))
            return True
        finally:
            if self.worker.alive:
                self.worker.drop(changed)
        return any(_differs(made[name], self.baseline[name]) for name in made)


def _differs(one: Array, other: Array) -> bool:
    largest = float(np.max(np.abs(other), initial=0.0))
    return not bool(np.all(np.abs(one - other) <= _MOVED * largest))
