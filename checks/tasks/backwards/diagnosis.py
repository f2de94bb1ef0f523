"""Which mistake a wrong answer is: the formula is evaluated with each of the known ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.backwards.reference import Batch, forward, statistics
from judge_tui.checks.tolerance import relative_error

__all__ = ["DBETA", "DGAMMA", "DX", "Y", "causes", "common"]

Array = npt.NDArray[Any]
Variant = Callable[[Batch], Array]

#: An answer is taken for a variant's when it is this close.
_SAME = 1e-7


def causes(out: Array, truth: Array, batch: Batch, variants: Mapping[str, Variant]) -> tuple[str, ...]:
    """The mistakes that give ``out``, as the end of "it is what …"; on one draw several may do.

    Args:
        out: The wrong answer.
        truth: The right one; a variant that this batch cannot tell from it is not named.
        batch: The input.
        variants: What to try.
    """
    axis = -1 if out.ndim > 1 else 0
    found = []
    for text, variant in variants.items():
        with np.errstate(all="ignore"):
            wrong = variant(batch)
        if wrong.shape == out.shape and relative_error(out, wrong, axis=axis) < _SAME:
            if not relative_error(wrong, truth, axis=axis) < _SAME:
                found.append(f"it is what the formula gives {text}")
    return tuple(found)


def common(told: Sequence[tuple[str, ...]]) -> str:
    """The first mistake that explains every wrong draw; empty when none does."""
    return next((text for text in told[0] if all(text in other for other in told)), "") if told else ""


def _y(batch: Batch, *, axis: int | tuple[int, ...] = -1, ddof: int = 0, how: str = "") -> Array:
    x = batch.x
    mean = x.mean(axis=axis, keepdims=True)
    var = x.var(axis=axis, ddof=ddof, keepdims=True)
    if how == "naive":
        var = (x * x).mean(axis=-1, keepdims=True) - mean * mean
    std = {"outside": np.sqrt(var) + batch.eps, "none": np.sqrt(var), "variance": var + batch.eps}.get(
        how, np.sqrt(var + batch.eps)
    )
    return np.asarray(batch.gamma * (x - mean) / std + batch.beta)


def _over(batch: Batch, std: Array) -> Array:
    """Y with another standard deviation."""
    return np.asarray(batch.gamma * statistics(batch).centred / std + batch.beta)


def _default_eps(value: float) -> Variant:
    def variant(batch: Batch) -> Array:
        row = statistics(batch)
        return np.asarray(batch.gamma * row.centred / np.sqrt(row.var + value) + batch.beta)

    return variant


#: Mistakes of the forward.
Y: Mapping[str, Variant] = {
    "with the variance over D − 1 (ddof = 1)": lambda b: _y(b, ddof=1),
    "with eps added outside the square root": lambda b: _y(b, how="outside"),
    "without eps": lambda b: _y(b, how="none"),
    "with the variance for the standard deviation": lambda b: _y(b, how="variance"),
    "with the statistics over T instead of D": lambda b: _y(b, axis=1),
    "with the statistics over B instead of D": lambda b: _y(b, axis=0),
    "with the statistics over T and D": lambda b: _y(b, axis=(1, 2)),
    "without beta": lambda b: _y(b) - b.beta,
    "without gamma": lambda b: statistics(b).xhat + b.beta,
    "with 1 + gamma for gamma": lambda b: (1 + b.gamma) * statistics(b).xhat + b.beta,
    "with eps added to D and not to the variance": lambda b: _over(
        b, np.sqrt(statistics(b).var * b.width / (b.width + b.eps))
    ),
    "with eps added to the sum of squares before it is divided by D": lambda b: _over(
        b, np.sqrt(statistics(b).var + b.eps / b.width)
    ),
    "with eps·D added to the variance": lambda b: _over(b, np.sqrt(statistics(b).var + b.eps * b.width)),
    "with eps² in place of eps": lambda b: _over(b, np.sqrt(statistics(b).var + b.eps**2)),
    "with √eps in place of eps": lambda b: _over(b, np.sqrt(statistics(b).var + np.sqrt(b.eps))),
    "with eps taken off the variance": lambda b: _over(b, np.sqrt(np.abs(statistics(b).var - b.eps))),
    "with the larger of variance and eps": lambda b: _over(b, np.sqrt(np.maximum(statistics(b).var, b.eps))),
    "with the larger of standard deviation and eps": lambda b: _over(
        b, np.maximum(np.sqrt(statistics(b).var), b.eps)
    ),
    "with the standard deviation over D − 1 and eps outside the square root": lambda b: _over(
        b, np.sqrt(b.x.var(axis=-1, ddof=1, keepdims=True)) + b.eps
    ),
    "with the mean square for the variance": lambda b: _over(
        b, np.sqrt((b.x * b.x).mean(axis=-1, keepdims=True) + b.eps)
    ),
    "with the mean not taken off (RMS norm)": lambda b: np.asarray(
        b.gamma * b.x / np.sqrt((b.x * b.x).mean(axis=-1, keepdims=True) + b.eps) + b.beta
    ),
    "with x for x − mean": lambda b: np.asarray(b.gamma * b.x * statistics(b).rstd + b.beta),
    "with the sum of squares for the variance": lambda b: _over(
        b, np.sqrt(statistics(b).var * b.width + b.eps)
    ),
    "with beta multiplied by gamma": lambda b: np.asarray(b.gamma * (statistics(b).xhat + b.beta)),
    "with beta taken off": lambda b: np.asarray(b.gamma * statistics(b).xhat - b.beta),
    "with gamma and beta exchanged": lambda b: np.asarray(b.beta * statistics(b).xhat + b.gamma),
    "with eps = 1e-5 whatever it is given": _default_eps(1e-5),
    "with eps = 1e-6 whatever it is given": _default_eps(1e-6),
    "with eps = 1e-8 whatever it is given": _default_eps(1e-8),
}


def _dx(
    batch: Batch,
    *,
    gamma: bool = True,
    mean: float = 1.0,
    along: float | Array = 1.0,
    power: int = 1,
    sums: bool = False,
    rows: Array | None = None,
) -> Array:
    row = statistics(batch)
    g = batch.dy * batch.gamma if gamma else batch.dy
    xhat = row.xhat if rows is None else rows
    share = float(batch.width) if sums else 1.0
    average = g.mean(axis=-1, keepdims=True) * share * mean
    projected = (g * xhat).mean(axis=-1, keepdims=True) * share * along
    return np.asarray(row.rstd**power * (g - average - xhat * projected))


def _dx_of(batch: Batch, g: Array, averaged: Array, projected: Array) -> Array:
    """Dx with another g in each of its three places."""
    row = statistics(batch)
    along = (projected * row.xhat).mean(axis=-1, keepdims=True)
    return np.asarray(row.rstd * (g - averaged.mean(axis=-1, keepdims=True) - row.xhat * along))


def _dx_over(batch: Batch, axes: tuple[int, ...]) -> Array:
    """Dx with both means over other axes."""
    row, g = statistics(batch), batch.dy * batch.gamma
    along = (g * row.xhat).mean(axis=axes, keepdims=True)
    return np.asarray(row.rstd * (g - g.mean(axis=axes, keepdims=True) - row.xhat * along))


def _bare(batch: Batch) -> Array:
    """How much larger 1/std is without eps."""
    row = statistics(batch)
    return np.asarray(1.0 / (np.sqrt(row.var) * row.rstd))


#: Mistakes of dx.
DX: Mapping[str, Variant] = {
    "without the mean term mean(g)": lambda b: _dx(b, mean=0),
    "without the projection x̂·mean(g·x̂)": lambda b: _dx(b, along=0),
    "without either of mean(g) and x̂·mean(g·x̂)": lambda b: _dx(b, mean=0, along=0),
    "without gamma in g = dy·gamma": lambda b: _dx(b, gamma=False),
    "without rstd": lambda b: _dx(b, power=0),
    "with rstd twice": lambda b: _dx(b, power=2),
    "with sums where the means over D belong": lambda b: _dx(b, sums=True),
    "with the sum of g where its mean belongs": lambda b: _dx(b, mean=b.width),
    "with the sum of g·x̂ where its mean belongs": lambda b: _dx(b, along=b.width),
    "with the projection over D − 1": lambda b: _dx(b, along=b.width / max(b.width - 1, 1)),
    "with half the projection": lambda b: _dx(b, along=0.5),
    "with twice the projection": lambda b: _dx(b, along=2.0),
    "with the sign of the projection turned": lambda b: _dx(b, along=-1.0),
    "with the sign of the mean term turned": lambda b: _dx(b, mean=-1.0),
    "with x − mean for x̂": lambda b: _dx(b, rows=statistics(b).centred),
    "with x for x̂": lambda b: _dx(b, rows=b.x),
    "with gamma·x̂ for x̂": lambda b: _dx(b, rows=b.gamma * statistics(b).xhat),
    "with y for x̂": lambda b: _dx(b, rows=forward(b)),
    "with rstd three times": lambda b: _dx(b, power=3),
    "with 1/rstd for rstd": lambda b: _dx(b, power=-1),
    "with both means over D − 1": lambda b: _dx(
        b, mean=b.width / max(b.width - 1, 1), along=b.width / max(b.width - 1, 1)
    ),
    "with the projection divided by the variance without eps": lambda b: _dx(b, along=_bare(b) ** 2),
    "with the projection divided by a standard deviation without eps": lambda b: _dx(b, along=_bare(b)),
    "with rstd taken without eps": lambda b: _dx(b) * _bare(b),
    "with x̂ and rstd taken without eps": lambda b: np.asarray(
        _dx(b, rows=statistics(b).xhat * _bare(b)) * _bare(b)
    ),
    "with x̂ taken without eps": lambda b: _dx(b, rows=statistics(b).xhat * _bare(b)),
    "with the mean of g over D − 1": lambda b: _dx(b, mean=b.width / max(b.width - 1, 1)),
    "with dy for g in the projection": lambda b: _dx_of(b, b.dy * b.gamma, b.dy * b.gamma, b.dy),
    "with dy for g in the mean": lambda b: _dx_of(b, b.dy * b.gamma, b.dy, b.dy * b.gamma),
    "with dy for g in both means": lambda b: _dx_of(b, b.dy * b.gamma, b.dy, b.dy),
    "with dy for g outside the means": lambda b: _dx_of(b, b.dy, b.dy * b.gamma, b.dy * b.gamma),
    "with gamma in reverse order": lambda b: _dx(_with_dy(b, b.dy * b.gamma[::-1] / b.gamma)),
    "with gamma moved by one feature": lambda b: _dx(_with_dy(b, b.dy * np.roll(b.gamma, 1) / b.gamma)),
    "with gamma moved back by one feature": lambda b: _dx(_with_dy(b, b.dy * np.roll(b.gamma, -1) / b.gamma)),
    "with the first gamma for every feature": lambda b: _dx(_with_dy(b, b.dy * b.gamma[0] / b.gamma)),
    "with the mean of gamma for gamma": lambda b: _dx(_with_dy(b, b.dy * b.gamma.mean() / b.gamma)),
    "with 1 + gamma for gamma": lambda b: _dx(_with_dy(b, b.dy * (1 + b.gamma) / b.gamma)),
    "with beta for gamma": lambda b: _dx(_with_dy(b, b.dy * b.beta / b.gamma)),
    "with means over T": lambda b: _dx_over(b, (1,)),
    "with means over B": lambda b: _dx_over(b, (0,)),
    "with means over B and T": lambda b: _dx_over(b, (0, 1)),
    "with means over T and D": lambda b: _dx_over(b, (1, 2)),
    "with means over B, T and D": lambda b: _dx_over(b, (0, 1, 2)),
    "with gamma twice in g": lambda b: _dx(_with_dy(b, b.dy * b.gamma)),
    "with dy divided by gamma in g": lambda b: _dx(_with_dy(b, b.dy / b.gamma**2)),
    "times D, which nothing is divided by": lambda b: _dx(b) * b.width,
    "divided by D once more": lambda b: _dx(b) / b.width,
    "divided by B·T": lambda b: _dx(b) / (b.shape[0] * b.shape[1]),
    "divided by B": lambda b: _dx(b) / b.shape[0],
    "divided by T": lambda b: _dx(b) / b.shape[1],
    "times −1": lambda b: -_dx(b),
}


def _with_dy(batch: Batch, dy: Array) -> Batch:
    return replace(batch, dy=dy)


def _taken_off(batch: Batch) -> Array:
    """What dx takes off g: x̂·mean(g·x̂) + mean(g)."""
    row, g = statistics(batch), batch.dy * batch.gamma
    return np.asarray(row.xhat * (g * row.xhat).mean(-1, keepdims=True) + g.mean(-1, keepdims=True))


def _projected(batch: Batch) -> Array:
    row, g = statistics(batch), batch.dy * batch.gamma
    return np.asarray(row.xhat * (g * row.xhat).mean(-1, keepdims=True))


#: What is summed over the rows → it, for what may stand in the place of x̂ and of dy.
_BESIDE: Mapping[str, Variant] = {
    "x − mean": lambda b: statistics(b).centred,
    "x": lambda b: b.x,
    "y": forward,
    "gamma·x̂": lambda b: b.gamma * statistics(b).xhat,
    "x̂·rstd": lambda b: statistics(b).xhat * statistics(b).rstd,
    "x̂²": lambda b: statistics(b).xhat ** 2,
    "rstd": lambda b: np.broadcast_to(statistics(b).rstd, b.shape),
    "what dx takes off g, x̂·mean(g·x̂) + mean(g),": _taken_off,
    "x̂·mean(g·x̂)": _projected,
    "dx": _dx,
}
_UPSTREAM: Mapping[str, Variant] = {
    "g = dy·gamma": lambda b: b.dy * b.gamma,
    "dy·rstd": lambda b: b.dy * statistics(b).rstd,
    "dx": _dx,
    "dy²": lambda b: b.dy**2,
    "1": lambda b: np.ones(b.shape),
}


def _summed(dy: Variant, beside: Variant, batch: Batch) -> Array:
    return np.asarray((dy(batch) * beside(batch)).sum(axis=(0, 1)))


def _xhat(batch: Batch) -> Array:
    return statistics(batch).xhat


def _dy(batch: Batch) -> Array:
    return batch.dy


def _ones(batch: Batch) -> Array:
    return np.ones(batch.shape)


#: Mistakes of dgamma.
DGAMMA: Mapping[str, Variant] = {
    "with gamma multiplied in": lambda b: (b.dy * b.gamma * statistics(b).xhat).sum(axis=(0, 1)),
    "with a mean over B and T for the sum": lambda b: (b.dy * statistics(b).xhat).mean(axis=(0, 1)),
    "of dbeta": lambda b: b.dy.sum(axis=(0, 1)),
    "times −1": lambda b: -(b.dy * statistics(b).xhat).sum(axis=(0, 1)),
    **{f"with {words} for x̂": partial(_summed, _dy, other) for words, other in _BESIDE.items()},
    **{f"with {words} for dy": partial(_summed, other, _xhat) for words, other in _UPSTREAM.items()},
}
#: Mistakes of dbeta.
DBETA: Mapping[str, Variant] = {
    "with gamma multiplied in": lambda b: (b.dy * b.gamma).sum(axis=(0, 1)),
    "with a mean over B and T for the sum": lambda b: b.dy.mean(axis=(0, 1)),
    "of dgamma": lambda b: (b.dy * statistics(b).xhat).sum(axis=(0, 1)),
    "times −1": lambda b: -b.dy.sum(axis=(0, 1)),
    **{f"with {words} for dy": partial(_summed, other, _ones) for words, other in _UPSTREAM.items()},
    **{f"with {words} multiplied in": partial(_summed, _dy, other) for words, other in _BESIDE.items()},
}
