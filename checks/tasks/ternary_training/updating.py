"""One layer through its own update: forward, backward, update, and what it holds and multiplies by then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Steps
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.ternary_training.comparison import Comparison
from judge_tui.checks.tasks.ternary_training.draws import mixed
from judge_tui.checks.tasks.ternary_training.held import Held, instance
from judge_tui.checks.tasks.ternary_training.layer import Gradients, Layer, Run
from judge_tui.checks.tasks.ternary_training.roles import GROUP
from judge_tui.checks.tasks.ternary_training.updates import Change, Update, apply, is_rate, needs_no_gradients

__all__ = ["Array", "Untried", "Updated", "Updating"]

Array = npt.NDArray[Any]

#: Seconds for one call of an update: it is a sum of two small matrices.
_SECONDS = 5.0


class Untried(Exception):
    """Why an update shows nothing, as a clause."""


@dataclass(frozen=True, slots=True)
class Updated:
    """A layer after an update: its latent weights by then, and the weights that it multiplies by."""

    run: Run
    before: Array
    latent: Array
    effective: Array


@dataclass(frozen=True, slots=True)
class Updating:
    """Brings a layer through an update.

    Attributes:
        bench: Where it is called.
        layer: The layer.
        out: How many outputs leave it no ragged group.
        compared: How it projects fresh weights.
    """

    bench: Bench
    layer: Layer
    out: int
    compared: Comparison

    def begun(self, name: str) -> tuple[Run, list[Steps]]:
        """A new layer with latent weights of two groups after a forward, and where it holds them.

        Raises:
            Untried: They cannot be read.
            Fault: It raised, hung or ended the process.
        """
        weight = mixed(self.bench.rng("latent", name), (self.out, 2 * GROUP))
        bias = self.bench.rng("bias").standard_normal(self.out)
        run = self.layer.forward(weight, self.x(), bias=bias)
        paths = Held(self.layer).paths(run)
        if not paths:
            raise Untried("its latent weights cannot be read")
        self._learns_fast(run)
        return run, paths

    def updated(self, update: Update) -> Updated:
        """A new layer, a forward, a backward, the update, and what it multiplies by then.

        Raises:
            Untried: Its weights cannot be read, or did not change enough to show anything.
            Fault: A call raised, hung or ended the process.
        """
        run, paths = self.begun("before")
        return self.again(update, run, paths, run.weight, "first")

    def again(self, update: Update, run: Run, paths: Sequence[Steps], before: Array, name: str) -> Updated:
        """Backward and update after a forward, and what the layer multiplies by then."""
        self.step(update, run, paths, name)
        effective = self.layer.effective(before, on=run)
        return Updated(run, before, self.moved(run, paths, before), effective)

    def step(
        self, update: Update, run: Run, paths: Sequence[Steps], name: str, size: float = 1.0
    ) -> Gradients | None:
        """Backward and update after a forward, by gradients of a size; what the backward gave, if it can."""
        given = None
        if "backward" in self.bench.bindings:
            try:
                given = self.layer.backward(run, size * self.dy(name))
            except Fault:
                if not needs_no_gradients(update):
                    raise
        budget = min(_SECONDS, self.bench.left)
        apply(run.returned.worker, update, instance(run), self._change(name, run, paths, size), budget=budget)
        return given

    def gradient(self, update: Update, run: Run, name: str) -> Array:
        """What an update by gradients of size 1 goes by, (out, in): what it is handed, else its own."""
        if needs_no_gradients(update) or "backward" not in self.bench.bindings:
            return self._handed(name)
        return np.asarray(self.dy(name).T @ run.x)

    def moved(self, run: Run, paths: Sequence[Steps], before: Array) -> Array:
        """The latent weights after an update.

        Raises:
            Untried: They are as before, or too little else to show anything.
        """
        latent = Held(self.layer).moved(run, paths, before)
        if latent is None:
            alone = "" if "backward" in self.bench.bindings else ", and no backward was found"
            raise Untried(f"it does not change the latent weights{alone}")
        if not np.isfinite(latent).all():
            raise Untried("the latent weights are not finite after it")
        if not self.compared.apart(before, latent):
            raise Untried("it changes the latent weights too little to show anything")
        return latent

    def x(self) -> Array:
        """An input, (6, 2 · 128)."""
        return self.bench.rng("x").integers(-126, 127, (6, 2 * GROUP)) / 64.0

    def dy(self, name: str) -> Array:
        """A gradient of its answer, (6, out)."""
        return self.bench.rng("dy", name).standard_normal((6, self.out))

    def _handed(self, name: str) -> Array:
        return mixed(self.bench.rng("change", name), (self.out, 2 * GROUP))

    def _change(self, name: str, run: Run, paths: Sequence[Steps], size: float) -> Change:
        weight = size * self._handed(name)
        bias = size * self.bench.rng("bias change", name).standard_normal(self.out)
        handed = np.ascontiguousarray(weight.T) if self.layer.transposed else weight
        shaped = bias.reshape(-1, 1) if self.layer.binding.takes("bias_c") else bias
        named = {str(path[-1][1]): handed for path in paths}
        named.update((str(path[-1][1]), shaped) for path in Held(self.layer).equals(run, run.bias))
        given: dict[str, Array] = {}
        if "backward" in self.bench.bindings:
            returns = self.bench.binding("backward").returns
            for one, gives in ((handed, ("dweight", "dweight_t")), (shaped, ("dbias",))):
                given.update(
                    (str(returns[g].steps[-1][1]), one) for g in gives if g in returns and returns[g].steps
                )
        return Change(handed, shaped, named, given, paths)

    def _learns_fast(self, run: Run) -> None:
        """A learning rate that the layer keeps, set so high that weights pass s/2."""
        worker, layer = run.returned.worker, instance(run)
        for kind, name, part in worker.describe(layer).get("parts", ()):
            if kind == "a" and is_rate(str(name)) and part.get("kind") == "float":
                worker.set(layer, str(name), 1.0)
