"""Which way an update moves the latent weights, and from where: against its gradient, from what they were."""

from __future__ import annotations

import numpy as np

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.ternary_training.partly import wrong_part
from judge_tui.checks.tasks.ternary_training.updates import Update, Written, needs_no_gradients
from judge_tui.checks.tasks.ternary_training.updating import Array, Untried, Updating

__all__ = ["MOVED", "hold_direction"]

MOVED = "latent weights after an update"
_RIGHT = "moved against their gradient"
#: How near to 1 the share of the projected weights in what was taken must be, and what may be left over.
_SAME = 1e-3
#: Cosine between a change and the gradient from which on the change goes along it.
_ALONG = 0.5
#: How a part that gets no gradient is told, and the share of themselves from which on weights grow.
_NONE = " are wrong: they get none"
_GROWS = 1e-6


def hold_direction(updating: Updating, found: Findings, update: Update) -> None:
    """Hold what an update by a layer's own gradients changes against these gradients.

    Args:
        updating: Brings the layer there.
        found: What is found.
        update: How the layer is updated.
    """
    layer = updating.layer
    if isinstance(update, Written) or needs_no_gradients(update) or "backward" not in updating.bench.bindings:
        return
    try:
        run, paths = updating.begun("moving")
        projected = layer.effective(run.weight)
        updating.step(update, run, paths, "moving")
        latent = updating.moved(run, paths, run.weight)
    except (Untried, Fault):
        return
    gradient = updating.dy("moving").T @ run.x
    change = latent - run.weight
    told = _told(change, gradient, projected - run.weight)
    told = told or _otherwise(change, gradient, run.weight, layer.transposed)
    found.claim(
        MOVED, not told, measured=told or _RIGHT, limit=_RIGHT,
        note=f"{update.target}; forward, backward, update on one layer",
        file=update.file, line=update.line or None,
    )  # fmt: skip


def _told(change: Array, gradient: Array, projecting: Array) -> str:
    """What is wrong with a change of the latent weights, in words; empty for nothing."""
    for step in (gradient, np.sign(gradient)):
        parts = np.stack([step.ravel(), projecting.ravel()], axis=1)
        shares = np.linalg.lstsq(parts, change.ravel(), rcond=None)[0]
        left = float(np.linalg.norm(parts @ shares - change.ravel()))
        if abs(shares[1] - 1.0) <= _SAME and left <= _SAME * float(np.linalg.norm(projecting)):
            return "moved from the projected weights on: what they held beyond those is lost"
    size = float(np.linalg.norm(change) * np.linalg.norm(gradient))
    if size > 0 and float((change * gradient).sum()) >= _ALONG * size:
        return "moved along their gradient, not against it: the loss rises"
    return ""


def _otherwise(change: Array, gradient: Array, weight: Array, transposed: bool) -> str:
    """What else than an optimiser's work a change is, in words; empty for nothing that is known.

    Optimisers scale a gradient, cut it or take its signs, and let weights decay; none leaves a part of the
    weights as they are, mixes their places up or makes them grow.
    """
    still = (change == 0) & (np.abs(gradient) > _SAME * float(np.abs(gradient).max()))
    if still.any() and not still.all():
        part = wrong_part(np.where(change == 0, 0.0, gradient), gradient, weight, transposed)
        if part.endswith(_NONE):
            return f"{part.removesuffix(_NONE)} stay as they are"
    if not still.any() and np.ptp(change, axis=1).max() <= _SAME * float(np.abs(change).max()):
        return "all weights of an output moved alike, whatever their inputs were"
    factor = float(np.linalg.norm(change) / max(float(np.linalg.norm(gradient)), 1e-300))
    near = _SAME * float(np.abs(change).max())
    if np.abs(change + factor * gradient).max() > near:
        ordered = np.sort(change, axis=None) - np.sort(-factor * gradient, axis=None)
        if np.abs(ordered).max() <= near:
            return "moved against their gradient in another order of its entries"
    parts = np.stack([gradient.ravel(), weight.ravel()], axis=1)
    shares = np.linalg.lstsq(parts, change.ravel(), rcond=None)[0]
    left = float(np.abs(parts @ shares - change.ravel()).max())
    if left <= _SAME * abs(shares[1]) * float(np.abs(weight).max()) and shares[1] > _GROWS:
        return f"{shares[1]:.3g} times themselves is added with each update: a decay of the wrong sign"
    return ""
