"""The submission's layer, in whatever layout it is written: (out, in) and (B, in) outside."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.binding import Binding, Source, parse_path
from judge_tui.checks.calling.calls import Returned, invoke
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.faults import BadResult, Fault, Raised
from judge_tui.checks.sizes import Sizes
from judge_tui.checks.tasks.ternary_training.layers import claims_ternary
from judge_tui.checks.tasks.ternary_training.roles import GROUP, inputs_of, shapes_of

__all__ = ["Gradients", "Layer", "Run", "few"]

Array = npt.NDArray[Any]

#: Outputs of a layer that is tried at little cost, in fours: what packs weights into bytes takes no others.
_FEW, _UNIT = (8, 40), 4


def few(rng: np.random.Generator) -> int:
    """A drawn number of outputs that costs little."""
    return Sizes(rng).multiple(_UNIT, *_FEW)


@dataclass(frozen=True, slots=True)
class Run:
    """A forward that was run: latent weights (out, in), bias (out,), input (B, in), answer (B, out)."""

    weight: Array
    bias: Array
    x: Array
    y: Array
    returned: Returned


@dataclass(frozen=True, slots=True)
class Gradients:
    """dx (B, in), dweight (out, in), dbias (out,); ``None`` where the layer gives none."""

    dx: Array | None
    dweight: Array
    dbias: Array | None


class Layer:
    """The callable that plays ``forward``, and the one that plays ``backward`` if it is asked for.

    Args:
        bench: Where they are called.

    Attributes:
        transposed: Whether it stores (in, out).
        biased: Whether it can be told a bias.

    Raises:
        Unbound: There is none.
    """

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.binding = bench.binding("forward")
        self.transposed = self.binding.takes("weight_t")
        self.biased = self.binding.takes("bias") or self.binding.takes("bias_c")

    def called(self, binding: Binding) -> Layer:
        """The same layer, its forward called in another way."""
        layer = copy(self)
        layer.binding = binding
        return layer

    def alone(self) -> Layer:
        """The same layer where its forward gives y, and nothing beside it."""
        y = next(name for name in ("y3", "y_c", "y") if name in self.binding.returns)
        return self.called(replace(self.binding, returns={y: Source()}))

    @property
    def place(self) -> Mapping[str, Any]:
        """File and line of the forward."""
        return {"file": self.binding.file, "line": self.binding.line or None}

    @property
    def projects(self) -> bool:
        """Whether its name says that it projects; a plain product may be given projected weights."""
        return claims_ternary(self.binding.name)

    def forward(
        self,
        weight: Array,
        x: Array,
        *,
        bias: Array | None = None,
        worker: Worker | None = None,
        on: Run | None = None,
    ) -> Run:
        """Y = x @ projected(weight).T + bias, as the submission has it.

        Args:
            weight: (out, in); its shape alone counts with ``on``.
            x: (B, in).
            bias: (out,).
            worker: Another worker than the shared one.
            on: An earlier forward, whose object is called again as it is now, with what it holds by now.

        Raises:
            Fault: It raised, hung or died, or y has another shape than (B, out).
        """
        out, width = weight.shape
        given = np.zeros(out) if bias is None else bias
        inputs = inputs_of(weight, given, x, np.zeros((len(x), out)))
        if on is None:
            returned = invoke(worker or self.bench.worker, self.binding, inputs, budget=self.bench.left)
        else:
            again = replace(self.binding, on="layer", init=None, attributes={})
            called = {**inputs, "layer": on.returned.instance}
            returned = invoke(on.returned.worker, again, called, budget=self.bench.left)
        name = next((name for name in ("y3", "y_c") if returned.has(name)), "y")
        y = returned.array(name, shapes_of(len(x), out, width)[name])
        return Run(weight, given, x, y.T if name == "y_c" else y.reshape(len(x), out), returned)

    def effective(self, weight: Array, *, worker: Worker | None = None, on: Run | None = None) -> Array:
        """The weights that the layer multiplies by, (out, in), bit for bit: its answers to unit vectors.

        Args:
            weight: As in :meth:`forward`.
            worker: As in :meth:`forward`.
            on: As in :meth:`forward`.

        Raises:
            Fault: As :meth:`forward`.
        """
        width = weight.shape[1]
        # A row of zeros shows a bias that the layer has of its own.
        units = np.concatenate([np.eye(width), np.zeros((1, width))])
        y = self.forward(weight, units, worker=worker, on=on).y
        return np.asarray(y[:-1].T - y[-1:].T if y[-1].any() else y[:-1].T)

    def latent(self, run: Run) -> Array | None:
        """What the layer holds as its latent weights after a call; ``None`` where that cannot be seen."""
        name = "weight_t" if self.transposed else "weight"
        path = next((path for path, source in self.binding.attributes.items() if source == name), None)
        if path is None or run.returned.instance is None:
            return None
        handle = run.returned.instance.part(*parse_path(f"self.{path}").steps)
        shape = run.weight.shape[::-1] if self.transposed else run.weight.shape
        try:
            held = (run.returned.worker).fetch(handle, shape)
        except BadResult:
            return np.full(run.weight.shape, np.nan)
        return held.T if self.transposed else held

    def backward(
        self, run: Run, dy: Array, *, worker: Worker | None = None, binding: Binding | None = None
    ) -> Gradients:
        """Run the submission's backward on a forward's cache; ``binding`` calls it in another way.

        Raises:
            Fault: It raised, hung or died, or a gradient has a wrong shape.
        """
        handles: dict[str, Handle] = {
            name: run.returned.handle(name) for name in ("cache", "layer") if run.returned.has(name)
        }
        inputs = {**inputs_of(run.weight, run.bias, run.x, dy), **handles}
        if binding is None:
            returned = self.bench.call("backward", inputs, worker=worker)
        else:
            returned = invoke(worker or self.bench.worker, binding, inputs, budget=self.bench.left)
        out, width = run.weight.shape
        shapes = shapes_of(len(dy), out, width)

        def given(*names: str) -> Array | None:
            name = next((name for name in names if returned.has(name)), None)
            return None if name is None else returned.array(name, shapes[name])

        dx, dweight, dbias = given("dx", "dx3"), given("dweight"), None
        if dx is None and (turned := given("dx_c")) is not None:
            dx = turned.T
        if dweight is None and (turned := given("dweight_t")) is not None:
            dweight = turned.T
        if dweight is None:
            raise BadResult("gives no gradient for the weights")
        try:
            dbias = given("dbias")
        except BadResult:
            # A layer without a bias may still have a place for its gradient.
            if self.biased:
                raise
        return Gradients(None if dx is None else dx.reshape(run.x.shape), dweight, dbias)

    def whole(self, rng: np.random.Generator) -> int:
        """How many outputs leave it no ragged group: drawn and few, which is cheap, unless it will have 128.

        Raises:
            Fault: It hung or died.
        """
        out = few(rng)
        try:
            self.forward(rng.standard_normal((out, GROUP)), np.zeros((1, GROUP)))
        except (Raised, BadResult):
            return GROUP
        return out

    def unsuited(self, weight: Array, *, on: Run | None = None) -> str:
        """Why its answers do not show the weights that it multiplies by, as a clause; empty when they do."""
        x = np.eye(weight.shape[1])[:8]
        one, two, none = (self.forward(weight, times * x, on=on).y for times in (1.0, 2.0, 0.0))
        if not np.allclose(two - none, 2.0 * (one - none), rtol=1e-3, atol=1e-6, equal_nan=True):
            return "is not linear in its input, so that its answers do not show its weights"
        return ""

    def follows(self, weight: Array, other: Array) -> bool:
        """Whether its answers are about the latent weights that it is given: other weights, other answers."""
        try:
            first, again, second = (self.effective(w) for w in (weight, weight, other))
        except Fault:
            return True
        related = float(np.mean(np.sign(first) == np.sign(weight)))
        return related > 0.75 or (np.array_equal(first, again) and not np.array_equal(first, second))
