"""Identities that every right gradient of a layer norm obeys; none of them needs the gradient's formula."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.tasks.backwards import reference
from judge_tui.checks.tasks.backwards.limits import Held, coarse, hold
from judge_tui.checks.tasks.backwards.lowered import lower_precision
from judge_tui.checks.tasks.backwards.passes import backward, draw, eps_of, forward
from judge_tui.checks.tasks.backwards.reference import Batch, Gradients, statistics
from judge_tui.checks.tasks.backwards.source import place
from judge_tui.checks.verdict import Verdict

__all__ = ["gradient_identities"]

Array = npt.NDArray[Any]

#: Shapes, and eps of each.
_EPS = (1e-5, 1e-2, 1e-3)
_TEXT = {
    "sum": "Σ_j dx = 0, residual over Σ|dx|, per row",
    "along": "Σ dx·x̂ = rstd·Σ(g·x̂)·eps/(var + eps), residual over rstd·‖g‖·‖x̂‖, per row",
    "scale": "gamma·dgamma + beta·dbeta = Σ dy·y, residual over Σ|dy·y|, per feature",
    "linear": "linearity in dy, relative error of the worst gradient",
}


@check(
    "gradient_identities",
    "identities of the gradients",
    establishes="Σ dx = 0, Σ dx·x̂ has its share eps/(var + eps), homogeneity of y and linearity in dy hold.",
    roles=("forward", "backward"),
    version=3,
)
def gradient_identities(bench: Bench, found: Findings) -> str:
    """Measure the residuals of four identities on rows with var ≈ eps, where the second is far from zero."""
    held = {name: Held(text) for name, text in _TEXT.items()}
    for index, eps in enumerate(_EPS):
        rng, sizes = bench.rng(index), bench.sizes(index)
        shape = sizes.between(1, 4), sizes.between(2, 6), sizes.between(4, 24)
        batch = draw(rng, shape, eps_of(bench, eps))
        other, weights = rng.standard_normal(batch.shape), rng.uniform(0.5, 2.0, 2) * rng.choice([-1, 1], 2)
        ours = _residuals(batch, *_runs(bench, batch, other, weights), weights)
        low = batch.as_type(np.float32)
        plain = _residuals(batch, *_plain_runs(batch, other, weights), weights)
        single = _residuals(batch, *_plain_runs(low, other.astype(np.float32), weights), weights)
        for name, figures in held.items():
            note = f"worst at {batch.shape}, eps {batch.eps:g}"
            figures.add(ours[name], plain[name], single=single[name], note=note)
    for name, figures in held.items():
        file, line = place(bench, "backward", "dgamma" if name == "scale" else "dx")
        hold(found, figures, file=file, line=line)
    wrong = [figures for figures in held.values() if not figures.error <= figures.limit]
    if wrong:
        return (
            f"{wrong[0].quantity.partition(',')[0]} is violated by {wrong[0].error:.2g} "
            f"(limit {wrong[0].limit:.1e})"
            + (f": {coarse(wrong[0].error)}" if found.verdict is Verdict.WARN else _why(bench, wrong))
        )
    worst = max(held.values(), key=lambda h: h.error / h.limit)
    return f"four identities hold, the worst residual {worst.error:.1e} (limit {worst.limit:.1e})"


def _why(bench: Bench, wrong: Sequence[Held]) -> str:
    """What rounding it is that identities are violated by, as the end of a sentence."""
    lower = lower_precision(bench, gradients=True)
    errors = [figures.error for figures in wrong]
    return f"; {lower.text}" if lower is not None and lower.explains(errors, len(errors)) else ""


def _runs(bench: Bench, batch: Batch, other: Array, weights: Array) -> tuple[Array, list[Gradients]]:
    mixed = weights[0] * batch.dy + weights[1] * other
    # A forward for each: what a backward does to its cache is another check's business.
    runs = [forward(bench, batch) for _ in range(3)]
    return runs[0].y, [
        backward(bench, run, dy=dy) for run, dy in zip(runs, (batch.dy, other, mixed), strict=True)
    ]


def _plain_runs(batch: Batch, other: Array, weights: Array) -> tuple[Array, list[Gradients]]:
    dtype = batch.x.dtype
    mixed = (weights[0] * batch.dy + weights[1] * other).astype(dtype)
    y = reference.plain(batch)[0]
    found = []
    for dy in (batch.dy, other, mixed):
        found.append(reference.plain(Batch(batch.x, batch.gamma, batch.beta, batch.eps, dy))[1])
    return y, found


def _residuals(batch: Batch, y: Array, runs: list[Gradients], weights: Array) -> dict[str, float]:
    """The largest residual of each identity; NaN anywhere gives NaN."""
    row, first = statistics(batch), runs[0]
    g = batch.dy * batch.gamma
    share = batch.eps * row.rstd**2
    expected = row.rstd[..., 0] * (g * row.xhat).sum(axis=-1) * share[..., 0]
    size = row.rstd[..., 0] * np.linalg.norm(g, axis=-1) * np.linalg.norm(row.xhat, axis=-1)
    dy_y = batch.dy * y
    homogeneous = batch.gamma * first.dgamma + batch.beta * first.dbeta - dy_y.sum(axis=(0, 1))
    return {
        # A row of zeros is no 0/0 here; the second identity sees it.
        "sum": _largest(first.dx.sum(axis=-1), np.maximum(np.abs(first.dx).sum(axis=-1), 1e-300)),
        "along": _largest((first.dx * row.xhat).sum(axis=-1) - expected, size),
        "scale": _largest(homogeneous, np.abs(dy_y).sum(axis=(0, 1))),
        "linear": _linearity(runs, weights),
    }


def _linearity(runs: list[Gradients], weights: Array) -> float:
    errors = []
    for name in ("dx", "dgamma", "dbeta"):
        one, two, mixed = (np.asarray(getattr(run, name), dtype=np.float64) for run in runs)
        parts = np.abs(weights[0] * one) + np.abs(weights[1] * two)
        errors.append(
            _largest(
                mixed - weights[0] * one - weights[1] * two,
                np.maximum(parts.max(axis=-1, keepdims=True), 1e-300),
            )
        )
    return max(errors, key=lambda e: np.inf if np.isnan(e) else e)


def _largest(residual: Array, size: Array) -> float:
    return float(np.max(np.abs(residual) / size, initial=0.0))
