"""A layer that knows training and evaluation: evaluating it must not cost the latent weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.calling.calls import invoke
from judge_tui.checks.calling.remote import Handle
from judge_tui.checks.check import Findings
from judge_tui.checks.tasks.ternary_training.layer import Layer

__all__ = ["EVALUATED", "MODES", "evaluated", "has_modes", "turn"]

EVALUATED = "latent weights after an evaluation, trained again"
MODES = _THERE, _BACK = "eval", "train"

Array = npt.NDArray[np.float64]


def evaluated(found: Findings, layer: Layer, weight: Array, x: Array) -> None:
    """Forward, evaluate the same object, go back to training, and look at its latent weights.

    Only a layer with both ways is asked: one that is frozen for good may give its latent weights up.

    Args:
        found: Is told.
        layer: The layer.
        weight: (out, in) latent weights.
        x: (B, in).

    Raises:
        Fault: A call went wrong.
    """
    run = layer.forward(weight, x)
    if run.returned.instance is None or layer.latent(run) is None or not has_modes(layer):
        return
    turn(layer, run.returned.instance, training=False)
    layer.forward(weight, x, on=run)
    turn(layer, run.returned.instance, training=True)
    held = layer.latent(run)
    same = held is not None and bool(np.allclose(held, weight, rtol=1e-3, atol=1e-6))
    told = "as they were" if same else "overwritten"
    found.claim(EVALUATED, same, measured=told, limit="as they were", **({} if same else layer.place))


def has_modes(layer: Layer) -> bool:
    """Whether its class can be told both without a word more."""
    owner, _, _method = layer.binding.name.rpartition(".")
    plain = {
        item.name
        for item in callables(layer.bench.bindings.loaded)
        if item.file == layer.binding.file and all("default" in param for param in item.params)
    }
    return {f"{owner}.{_THERE}", f"{owner}.{_BACK}"} <= plain


def turn(layer: Layer, instance: Handle, *, training: bool) -> None:
    """Have a layer that has both modes train, or evaluate.

    Raises:
        Fault: The call went wrong.
    """
    owner, _, _method = layer.binding.name.rpartition(".")
    mode = _BACK if training else _THERE
    told = replace(layer.binding, name=f"{owner}.{mode}", args=(), returns={})
    plain = replace(told, on="layer", init=None, attributes={})
    invoke(layer.bench.worker, plain, {"layer": instance}, budget=layer.bench.left)
