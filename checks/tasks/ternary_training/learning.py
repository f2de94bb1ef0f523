"""A backward that updates its layer itself: dx must go through the weights that the forward multiplied by."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.binding.signatures import RATE
from judge_tui.checks.calling.binding import Argument, Binding
from judge_tui.checks.check import Findings
from judge_tui.checks.tasks.ternary_training.draws import exact_inputs, mixed
from judge_tui.checks.tasks.ternary_training.layer import Layer
from judge_tui.checks.tasks.ternary_training.roles import GROUP
from judge_tui.checks.tolerance import relative_error

__all__ = ["LEARNING", "hold_learning"]

LEARNING = "dx of a backward that updates its weights itself, relative error per row against dy·W_projected"
#: So fast that levels change, and how near an answer is to what explains it.
_RATE, _SAME = 0.5, 1e-4


def hold_learning(bench: Bench, found: Findings, layer: Layer, out: int, limit: float) -> str:
    """Hold dx where the backward is told to learn, which is told a rate of 0 in all other calls.

    Args:
        bench: Where it is called.
        found: What is found.
        layer: The layer.
        out: How many outputs leave it no ragged group.
        limit: For the error.

    Returns:
        What dx goes through instead, as a clause; empty where it is right, or learns nothing.

    Raises:
        Fault: It raised, hung or died.
    """
    binding = _told(bench)
    if binding is None:
        return ""
    weight, rng = mixed(bench.rng("learning"), (out, GROUP)), bench.rng("learning inputs")
    x, dy = exact_inputs(rng, 6, GROUP), rng.standard_normal((6, out))
    before = layer.effective(weight)
    run = layer.forward(weight, x)
    given = layer.backward(run, dy, binding=binding)
    if given.dx is None:
        return ""
    error = relative_error(given.dx, dy @ before)
    why = ""
    if not error <= limit:
        after = layer.effective(weight, on=run)
        learnt = relative_error(given.dx, dy @ after) <= _SAME
        why = "through the weights that its own update has changed already" if learnt else ""
    place: dict[str, Any] = {"file": binding.file, "line": binding.line or None}
    found.limit(LEARNING, error, limit, note=why, **place)
    return why


def _told(bench: Bench) -> Binding | None:
    """The backward with a learning rate; ``None`` where it takes none."""
    binding = bench.binding("backward")
    names = next((c.params for c in callables(bench.bindings.loaded)
                  if (c.file, c.name) == (binding.file, binding.name)), [])  # fmt: skip
    args = list(binding.args)
    for at, argument in enumerate(args):
        name = argument.keyword or (str(names[at]["name"]) if at < len(names) else "")
        if argument.literal == 0.0 and not argument.sources and RATE.fullmatch(name):
            args[at] = Argument("", argument.keyword, literal=_RATE)
            return replace(binding, args=tuple(args))
    return None
