"""What a step of training leaves behind: how it scales with the gradient, its bias, and its precision.

Adam's first step is the same for a gradient and for 64 times it; a bias that gets a gradient is moved by it;
and latent weights keep more digits than half precision has, or small updates never add up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from judge_tui.checks.bfloat16 import rounded
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.ternary_training.bias_uses import BiasUses
from judge_tui.checks.tasks.ternary_training.optimisers import optimisers
from judge_tui.checks.tasks.ternary_training.stepping import ByOptimiser, ByUpdate, Stepped, Way
from judge_tui.checks.tasks.ternary_training.updates import Update
from judge_tui.checks.tasks.ternary_training.updating import Array, Untried, Updating
from judge_tui.checks.verdict import Verdict

__all__ = ["STEPS", "hold_optimisers", "hold_step"]

_ADAM = re.compile(r"(?i)adam(?!ax|ini|_?mini)")
#: How much smaller the second gradient is, and from which size on its entries count.
_SMALLER, _COUNTS = 64.0, 1e-2
#: Powers of the gradient that a first step goes by where it is not Adam's; how near one is told.
_POWERS = {
    0.5: "its second moment takes g where g² is meant",
    1.0: "it is not divided by the root of a second moment",
    -1.0: "it is divided by its second moment, and not by the root of it",
}
_NEAR = 0.02
_LAW = "first step of Adam by a gradient, and by 1/64 of it"
_FINITE = "latent weights after one step"
_BIAS = "bias after an update"
_HALF = "precision of the latent weights after an update"
#: Every quantity of these, as it is told.
STEPS = (_LAW, _FINITE, _BIAS, _HALF)


def hold_step(updating: Updating, found: Findings, update: Update, owner: str, *, bias: bool) -> None:
    """Hold a step by a layer's own update.

    Args:
        updating: Brings the layer there.
        found: What is found.
        update: How the layer is updated.
        owner: Its class.
        bias: Whether what is written from outside shows that nothing writes to the bias, if nothing does.
    """
    _hold(found, [ByUpdate(updating, update, bias)], owner)


def hold_optimisers(updating: Updating, found: Findings, owner: str) -> None:
    """Hold a step of each optimiser that moves the layer; see :func:`hold_step`."""
    if "backward" in updating.bench.bindings:
        for ways in optimisers(updating.bench, owner):
            _hold(found, [ByOptimiser(updating, each) for each in ways], owner)


def _hold(found: Findings, ways: Sequence[ByUpdate] | Sequence[ByOptimiser], owner: str) -> None:
    """Hold the first way that moves the latent weights."""
    for way in ways:
        try:
            one = way.take("stepped", 1.0)
            told = f"{way.target}; forward, backward, step"
            place: dict[str, Any] = {"note": told, "file": way.place[0], "line": way.place[1]}
            _precision(found, one, place)
            _bias(found, one, BiasUses.of(way.updating.bench, owner, one.still), place)
            if _ADAM.search(way.name):
                _adam(found, way, one, place)
        except (Untried, Fault):
            continue
        return


def _precision(found: Findings, one: Stepped, place: dict[str, Any]) -> None:
    """Latent weights that all are numbers of half precision, behind a step that gives others."""
    if not np.isfinite(one.latent).all():
        return
    with np.errstate(over="ignore"):
        forms = {
            "float16": one.latent.astype(np.float16).astype(np.float64),
            "bfloat16": np.asarray(rounded(one.latent), np.float64),
        }
    moved = one.latent != one.before
    for name, digits in (("float16", 11), ("bfloat16", 8)):
        if moved.mean() > 0.5 and (forms[name] == one.latent).all():
            lost = f"what moves a weight by less than 2^-{digits + 1} of it is lost"
            told = f"all are numbers of {name}: {lost}"
            found.claim(_HALF, False, measured=told, limit="more digits than half precision has", **place)


def _bias(found: Findings, one: Stepped, uses: BiasUses, place: dict[str, Any]) -> None:
    """A bias that stays as it is, though the layer gives a gradient for it and its weights move."""
    if one.dbias is None or not one.still or not one.dbias.any() or uses.stored:
        return
    told = f"what it was, though its gradient is not 0 and the weights moved: nothing updates .{one.still}"
    otherwise = Verdict.WARN if uses.elsewhere else Verdict.FAIL
    found.claim(_BIAS, False, measured=told, limit="moved by its gradient", otherwise=otherwise, **place)


def _adam(found: Findings, way: Way, one: Stepped, place: dict[str, Any]) -> None:
    """What is called Adam divides by the root of a mean of squares: their size does not matter."""
    change = one.latent - one.before
    lost = ~np.isfinite(change)
    if lost.any():
        falls = bool((one.gradient[lost] < 0).all() and (one.gradient[~lost] >= 0).all())
        why = ", those alone whose gradient is below 0: its second moment takes g where g² is meant"
        told = f"{int(lost.sum())} of {lost.size} are not finite{why if falls else ''}"
        found.claim(_FINITE, False, measured=told, limit="finite", **place)
        return
    other = way.take("stepped", 1.0 / _SMALLER)
    power, where = _power(change, other.latent - other.before, other.gradient)
    told = next((words for known, words in _POWERS.items() if abs(power - known) <= _NEAR), "")
    if told:
        told = f"goes by the gradient to the power {power:.2g}{where}: {told}"
        found.claim(_LAW, False, measured=told, limit="the same", **place)


def _power(change: Array, other: Array, gradient: Array) -> tuple[float, str]:
    """To which power of the gradient steps go, where it is above 0; and whether it is so there alone."""
    counts = np.abs(gradient) > _COUNTS
    powers = []
    for side in (counts & (gradient > 0), counts & (gradient < 0)):
        with np.errstate(all="ignore"):
            ratios = np.abs(change[side]) / np.abs(other[side])
        ratio = float(np.median(ratios)) if ratios.size else np.nan
        powers.append(float(np.log(ratio) / np.log(_SMALLER)) if ratio > 0 else np.nan)
    alike = abs(powers[0] - powers[1]) <= _NEAR
    return powers[0], "" if alike else " where that is above 0"
