"""Whether a layer norm is right but for a lower precision, by one mild batch and one of small integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault
from judge_tui.checks.precision import Formula, Lowered, Rounding, lowered, same
from judge_tui.checks.tasks.backwards import reference
from judge_tui.checks.tasks.backwards.passes import Array, backward, draw, eps_of, forward
from judge_tui.checks.tasks.backwards.reference import Batch

__all__ = ["lower_precision"]

_SHAPE = (2, 5, 12)
#: Rows of as many pairs ±1 and ±1 have a variance of 1; with an eps of 3 their standard deviation is 2.
_EPS = 3.0


def lower_precision(bench: Bench, *, gradients: bool) -> Lowered | None:
    """What a deviation is, where it is that of a lower precision; for what was seen wrong.

    Args:
        bench: Where it is called.
        gradients: Whether dx, dgamma and dbeta are looked at, or y.
    """
    batch = draw(bench.rng("lower precision"), _SHAPE, eps_of(bench, 1e-5))
    try:
        made = _made(bench, batch, gradients)
        return lowered(made, _in_steps(batch, gradients), exact=_exact(bench, gradients))
    except Fault:
        return None


def _made(bench: Bench, batch: Batch, gradients: bool) -> dict[str, Array]:
    run = forward(bench, batch)
    if not gradients:
        return {"y": run.y}
    answer = backward(bench, run)
    return {name: np.asarray(getattr(answer, name), np.float64) for name in ("dx", "dgamma", "dbeta")}


def _in_steps(batch: Batch, gradients: bool) -> Formula:
    def formula(by: Rounding) -> Mapping[str, Array]:
        x, gamma = by("x", batch.x), by("gamma", batch.gamma)
        centred = by("x − mean", x - by("the mean", x.mean(axis=-1, keepdims=True)))
        var = by("the variance", (centred * centred).mean(axis=-1, keepdims=True))
        rstd = by("rstd", 1.0 / by("the standard deviation", np.sqrt(var + batch.eps)))
        xhat = by("x̂", centred * rstd)
        if not gradients:
            return {"y": by("y", by("gamma·x̂", gamma * xhat) + by("beta", batch.beta))}
        dy = by("dy", batch.dy)
        g = by("dy·gamma", dy * gamma)
        mean = by("mean(dy·gamma)", g.mean(axis=-1, keepdims=True))
        along = by("mean(dy·gamma·x̂)", (g * xhat).mean(axis=-1, keepdims=True))
        return {
            "dx": by("dx", rstd * by("dx/rstd", g - mean - by("the projection", xhat * along))),
            "dgamma": by("dgamma", by("dy·x̂", dy * xhat).sum(axis=(0, 1))),
            "dbeta": by("dbeta", dy.sum(axis=(0, 1))),
        }

    return formula


def _exact(bench: Bench, gradients: bool) -> Callable[[float], bool]:
    def exact(share: float) -> bool:
        rng = bench.rng("integers")
        shape = (2, 3, 8)
        x = rng.permuted(np.tile([1.0, -1.0], (*shape[:2], shape[2] // 2)), axis=-1)
        gamma, beta = (rng.integers(1, 4, shape[2]).astype(float) for _ in range(2))
        dy = 8.0 * rng.integers(-2, 3, shape)
        batch = Batch(x, gamma, beta, eps_of(bench, _EPS), dy)
        right = reference.gradients(batch)
        truth = {name: getattr(right, name) for name in ("dx", "dgamma", "dbeta")}
        truth = truth if gradients else {"y": reference.forward(batch)}
        return same(_made(bench, batch, gradients), truth, share)

    return exact
