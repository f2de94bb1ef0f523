"""A layer that knows training and evaluation: the other mode has to work on the projected weights as well.

Evaluating it must not cost the latent weights either.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Fault
from judge_tui.checks.tasks.ternary_training.comparison import Comparison
from judge_tui.checks.tasks.ternary_training.draws import mixed
from judge_tui.checks.tasks.ternary_training.layer import Layer
from judge_tui.checks.tasks.ternary_training.levels import Rule
from judge_tui.checks.tasks.ternary_training.modes import Mode, modes
from judge_tui.checks.tasks.ternary_training.roles import GROUP
from judge_tui.checks.verdict import Verdict

__all__ = ["EVALUATED", "evaluated", "in_other_modes"]

EVALUATED = "latent weights after an evaluation, trained again"

Array = npt.NDArray[np.float64]

#: Norm of a difference over that of the weights, up to which they are the same ones in a lower precision.
_SAME = 0.02
#: Correlation below which weights are not about those that were set on the layer.
_ALIKE = 0.5


def evaluated(found: Findings, layer: Layer, weight: Array, x: Array) -> None:
    """Forward, evaluate the same object, go back to training, and look at its latent weights.

    Only a layer with both ways is asked: one that is frozen for good may give its latent weights up.

    Args:
        found: Is told.
        layer: The layer.
        weight: (out, in) latent weights.
        x: (B, in).

    Raises:
        Fault: A method that has no more to do than to turn the layer went wrong.
    """
    run = layer.forward(weight, x)
    if run.returned.instance is None or layer.latent(run) is None:
        return
    mode = next((mode for mode in modes(layer, run) if mode.evaluates and mode.returns), None)
    if mode is None:
        return
    try:
        mode.turn(layer, run).forward(weight, x, on=run)
        mode.turn_back(layer, run)
    except Fault:
        if mode.by_methods:
            raise
        return
    held = layer.latent(run)
    same = held is not None and bool(np.allclose(held, weight, rtol=1e-3, atol=1e-6))
    told = "as they were" if same else "overwritten"
    found.claim(EVALUATED, same, measured=told, limit="as they were", **({} if same else layer.place))


def in_other_modes(bench: Bench, found: Findings, layer: Layer, out: int, rule: Rule) -> str:
    """Hold a layer to its projected weights in the modes that it has besides the one it is made in.

    Args:
        bench: Where it is called.
        found: What is found.
        layer: The layer.
        out: How many outputs leave it no ragged group.
        rule: How it projects in the mode that it is made in.

    Returns:
        What is wrong, as a clause; empty when nothing is.
    """
    weight = mixed(bench.rng("modes"), (out, 2 * GROUP))
    compared = Comparison(rule, layer.transposed)
    tried = modes(layer, layer.forward(weight, np.eye(2 * GROUP)[:4]))
    wrong = [clause for mode in tried if (clause := _in_mode(found, layer, mode, weight, compared))]
    return wrong[0] if wrong else ""


def _in_mode(found: Findings, layer: Layer, mode: Mode, weight: Array, compared: Comparison) -> str:
    quantity = f"weights in {mode.name} mode ({mode.told})"
    try:
        run = layer.forward(weight, np.eye(weight.shape[1])[:4])
        on = run if run.returned.instance is not None else None
        usual, turned = layer.effective(weight, on=on), mode.turn(layer, run)
        try:
            made = turned.effective(weight, on=on)
        except BadResult:
            # evaluation may give its answer without a cache
            turned = turned.alone()
            made = turned.effective(weight, on=on)
        again, why = turned.effective(weight, on=on), turned.unsuited(weight, on=on)
    except Fault as fault:
        found.note(quantity, "not tried", note=fault.message)
        return ""
    if _off(made, usual) <= _SAME or compared.gained(weight, made):
        found.claim(quantity, True, measured="the projected weights", limit="the projected weights")
        return ""
    latent = _off(made, weight) <= _SAME
    if not latent and (why := why or _untold(mode, weight, made, again)):
        found.note(quantity, "not tried", note=why)
        return ""
    told = "the latent weights" if latent else "others than the projected weights"
    found.claim(
        quantity, False, measured=told, limit="the projected weights", otherwise=Verdict.FAIL,
        note=f"norm of the difference over that of the projected weights: {_off(made, usual):.2g}",
        **layer.place,
    )  # fmt: skip
    return f"in {mode.name} mode it multiplies by {told} ({mode.told})"


def _untold(mode: Mode, weight: Array, made: Array, again: Array) -> str:
    """Why a mode's answers say nothing of what it makes of the weights, as a clause."""
    if not np.isfinite(made).all():
        return ""
    if not np.allclose(made, again, rtol=1e-6, atol=1e-9):
        return "two answers differ"
    if not mode.evaluates:
        return "training may do more than to project"
    with np.errstate(all="ignore"):
        alike = float(np.corrcoef(made.ravel(), weight.ravel())[0, 1])
    return "" if alike > _ALIKE else "its weights are not those which were set on the layer"


def _off(one: Array, other: Array) -> float:
    """Norm of the difference over that of the other; infinite for NaN."""
    off = float(np.linalg.norm(one - other) / max(float(np.linalg.norm(other)), 1e-300))
    return off if np.isfinite(off) else float("inf")
