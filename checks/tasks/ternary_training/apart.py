"""Two layers side by side: what the forward of one keeps is not the other's."""

from __future__ import annotations

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.ternary_training.draws import exact_inputs, mixed
from judge_tui.checks.tasks.ternary_training.layer import Layer
from judge_tui.checks.tasks.ternary_training.roles import GROUP
from judge_tui.checks.tolerance import relative_error

__all__ = ["APART", "hold_apart"]

APART = "dweight of a layer behind another layer's forward"
_ROWS = 6
_RIGHT = "that of its own input"
#: Rounding of float32 stays far below it, another input's gradient far above.
_LIMIT = 1e-3


def hold_apart(bench: Bench, found: Findings, layer: Layer, out: int) -> str:
    """Hold the backward of a layer where another one of its class ran forward in between.

    Args:
        bench: Where it is called.
        found: What is found.
        layer: The layer.
        out: How many outputs leave it no ragged group.

    Returns:
        What comes instead, as a clause; empty where it is right, or no layer holds anything.
    """
    if layer.binding.init is None or layer.binding.on:
        return ""
    rng = bench.rng("apart")
    weights = [mixed(rng, (out, GROUP)) for _ in range(2)]
    inputs = [exact_inputs(rng, _ROWS, GROUP) for _ in range(2)]
    dy = rng.standard_normal((_ROWS, out))
    try:
        one, other = (layer.forward(weight, x) for weight, x in zip(weights, inputs, strict=True))
        if one.returned.instance is None or other.returned.instance is None:
            return ""
        given = np.array(layer.backward(one, dy).dweight)
    except Fault:
        return ""
    own, others = (relative_error(given, dy.T @ x) <= _LIMIT for x in inputs)
    told = "" if own or not others else "that of the other layer's input: layers share what a forward keeps"
    if told:
        binding = bench.binding("backward")
        found.claim(
            APART, False, measured=told, limit=_RIGHT, file=binding.file, line=binding.line or None,
            note="forward of one layer, forward of another, backward of the first",
        )  # fmt: skip
    return told
