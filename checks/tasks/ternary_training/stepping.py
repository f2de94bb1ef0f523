"""One step of training: the layer's own update by its own gradients, or one of an optimiser that moves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from judge_tui.checks.calling.remote import Steps
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.ternary_training.draws import mixed
from judge_tui.checks.tasks.ternary_training.held import Held
from judge_tui.checks.tasks.ternary_training.layer import Gradients, Run
from judge_tui.checks.tasks.ternary_training.optimisers import Optimiser
from judge_tui.checks.tasks.ternary_training.roles import GROUP
from judge_tui.checks.tasks.ternary_training.updates import Update, Written, needs_no_gradients
from judge_tui.checks.tasks.ternary_training.updating import Array, Untried, Updating

__all__ = ["ByOptimiser", "ByUpdate", "Stepped", "Way"]


@dataclass(frozen=True, slots=True)
class Stepped:
    """What a step did.

    Attributes:
        before: Latent weights (out, in), numbers that float16 holds.
        latent: What they are by then.
        gradient: dL/dW_projected, (out, in).
        dbias: What the layer's backward gave for its bias, (out,), where it goes by that.
        still: Attribute of the bias where it is what it was; empty where it moved, or was not found.
    """

    before: Array
    latent: Array
    gradient: Array
    dbias: Array | None
    still: str


class Way(Protocol):
    """How a layer takes a step."""

    @property
    def target(self) -> str:
        """How it is written."""

    @property
    def place(self) -> tuple[str, int | None]:
        """File and line."""

    @property
    def name(self) -> str:
        """What it is called; empty for an assignment."""

    def take(self, name: str, size: float) -> Stepped:
        """Forward, backward and a step on a new layer, by gradients of a size.

        Raises:
            Untried: Nothing can be read of it.
            Fault: A call raised, hung or ended the process.
        """


@dataclass(frozen=True, slots=True)
class ByUpdate:
    """By the layer's own update, or by what is written to it from outside."""

    updating: Updating
    update: Update
    bias: bool

    @property
    def target(self) -> str:
        """How it is written."""
        return self.update.target

    @property
    def place(self) -> tuple[str, int | None]:
        """File and line."""
        return self.update.file, self.update.line or None

    @property
    def name(self) -> str:
        """What it is called; empty for an assignment."""
        return "" if isinstance(self.update, Written) else self.update.name

    def take(self, name: str, size: float) -> Stepped:
        """As :class:`Way` has it."""
        run, paths, biases = _begun(self.updating)
        given = self.updating.step(self.update, run, paths, name, size)
        own = self.bias if isinstance(self.update, Written) else not needs_no_gradients(self.update)
        gradient = size * self.updating.gradient(self.update, run, name)
        return _after(self.updating, run, paths, biases, gradient, given if own else None)


@dataclass(frozen=True, slots=True)
class ByOptimiser:
    """By an optimiser that is handed the layer, or what it lists."""

    updating: Updating
    optimiser: Optimiser

    @property
    def target(self) -> str:
        """How it is written."""
        return self.optimiser.target

    @property
    def place(self) -> tuple[str, int | None]:
        """File and line."""
        return self.optimiser.file, self.optimiser.line or None

    @property
    def name(self) -> str:
        """What it is called."""
        return self.optimiser.name

    def take(self, name: str, size: float) -> Stepped:
        """As :class:`Way` has it."""
        run, paths, biases = _begun(self.updating)
        started = self.optimiser.begin(run)
        given = self.updating.layer.backward(run, size * self.updating.dy(name))
        started.step(run)
        gradient = size * (self.updating.dy(name).T @ run.x)
        return _after(self.updating, run, paths, biases, gradient, given)


def _begun(updating: Updating) -> tuple[Run, Sequence[Steps], Sequence[Steps]]:
    """A new layer whose own arrays hold weights that float16 holds, after a forward; where, and its bias.

    Raises:
        Untried: Its latent weights cannot be read.
        Fault: It raised, hung or ended the process.
    """
    layer, bench = updating.layer, updating.bench
    weight = _half(mixed(bench.rng("stepped"), (updating.out, 2 * GROUP)))
    bias = _half(bench.rng("stepped bias").standard_normal(updating.out))
    held = Held(layer)
    for binding in (replace(layer.binding, in_place=True), layer.binding):
        try:
            run = layer.called(binding).forward(weight, updating.x(), bias=bias)
        except Fault:
            continue
        if paths := held.paths(run):
            return run, paths, held.equals(run, bias) if layer.biased else ()
    raise Untried("its latent weights cannot be read")


def _half(values: Array) -> Array:
    return values.astype(np.float16).astype(np.float64)


def _after(
    updating: Updating, run: Run, paths: Sequence[Steps], biases: Sequence[Steps], gradient: Array,
    given: Gradients | None,
) -> Stepped:  # fmt: skip
    """What a step did, as the layer holds it.

    Raises:
        Untried: It left the latent weights as they were.
    """
    held = Held(updating.layer)
    changed = held.changed(run, paths, run.weight)
    if not changed:
        raise Untried("it does not change the latent weights")
    left = held.equals(run, run.bias) if biases else ()
    still = str(biases[0][-1][1]) if biases and biases[0] in left else ""
    return Stepped(run.weight, changed[0], gradient, None if given is None else given.dbias, still)
