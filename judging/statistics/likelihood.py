"""The likelihood of wins, losses and ties as a multinomial logit, plain and penalised, and its maximum.

The model is Davidson's: with strengths λ and d = λ_i − λ_j the logits of win, loss and tie are d/2, −d/2
and τ, up to what they share, so that P(tie)² / (P(win) P(loss)) is e^{2τ} = ν² for every pair.

The penalty is Jeffreys' prior, half the logarithm of the determinant of the information (Firth 1993): it is
of the order of one observation, takes the bias of the first order away, and keeps every figure finite where
somebody has won all there was to win.

Source: Davidson (1970), On extending the Bradley-Terry model to accommodate ties, JASA 65, 317-328;
Firth (1993), Bias reduction of maximum likelihood estimates, Biometrika 80, 27-38.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "Design", "Point", "contributions", "evaluated", "maximised"]

Array = npt.NDArray[np.float64]

#: Newton decrement, in units of the logarithm, below which a maximum is reached.
_REACHED = 1e-16
_MOST_STEPS = 200
#: A step changes no parameter by more.
_LONGEST = 4.0
_MOST_HALVINGS = 40
#: What a value may fall by in a step that leads up but for rounding, relative to it.
_ROUNDING = 1e-13


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """What logits are made of, and what was seen.

    Attributes:
        rows: (K, O, P), for each of K pairs of models and O outcomes the weights of P parameters.
        counts: (K, O), how often.
    """

    rows: Array
    counts: Array


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """The likelihood at some parameters.

    Attributes:
        theta: (P,), the parameters.
        value: Logarithm of the likelihood, penalised where that was asked for.
        gradient: (P,), of the value.
        information: (P, P), Fisher's, of the plain likelihood.
    """

    theta: Array
    value: float
    gradient: Array
    information: Array


def evaluated(design: Design, theta: Array, *, penalised: bool) -> Point:
    """The likelihood, its gradient and its information at some parameters.

    Args:
        design: What was seen.
        theta: (P,).
        penalised: With Jeffreys' prior.
    """
    logits = design.rows @ theta
    top = logits.max(axis=1, keepdims=True)
    odds = np.exp(logits - top)
    total = odds.sum(axis=1, keepdims=True)
    chances = odds / total
    n = design.counts.sum(axis=1)
    value = float((design.counts * (logits - top - np.log(total))).sum())
    centred = design.rows - np.einsum("ko,kop->kp", chances, design.rows)[:, None, :]
    gradient = np.einsum("ko,kop->p", design.counts, centred)
    weights = n[:, None] * chances
    flat = centred.reshape(-1, len(theta))
    information = (flat * weights.reshape(-1, 1)).T @ flat
    if penalised:
        sign, logarithm = np.linalg.slogdet(information)
        if sign <= 0:
            return Point(theta, -np.inf, gradient, information)
        value += logarithm / 2
        leverage = ((flat @ np.linalg.inv(information)) * flat).sum(axis=1)
        gradient = gradient + (weights.reshape(-1) * leverage) @ flat / 2
    return Point(theta, value, gradient, information)


def maximised(
    design: Design, start: Array, *, penalised: bool, fixed: int = 0, reached: float = _REACHED
) -> Point:
    """The parameters under which what was seen is likeliest.

    Args:
        design: What was seen, with a maximum that is finite.
        start: (P,), where the search begins.
        penalised: With Jeffreys' prior.
        fixed: The first so many parameters stay as they are.
        reached: Newton decrement, in units of the logarithm, below which it is the maximum.
    """
    at = evaluated(design, start, penalised=penalised)
    if fixed >= len(start):
        return at
    for _ in range(_MOST_STEPS):
        step = np.zeros_like(start)
        step[fixed:] = np.linalg.solve(at.information[fixed:, fixed:], at.gradient[fixed:])
        if abs(float(step @ at.gradient)) < reached:
            break
        step *= min(1.0, _LONGEST / float(np.abs(step).max()))
        following = _uphill(design, at, step, penalised=penalised)
        if following is None:
            break
        at = following
    return at


def _uphill(design: Design, at: Point, step: Array, *, penalised: bool) -> Point | None:
    """The point after a step, halved until it leads up; ``None`` where none does any more."""
    least = at.value - _ROUNDING * (1 + abs(at.value))
    for halving in range(_MOST_HALVINGS):
        following = evaluated(design, at.theta + step / 2**halving, penalised=penalised)
        if following.value >= least:
            return following
    return None


def contributions(design: Design, theta: Array) -> Array:
    """What one observation of each outcome adds to the score: (K, O, P)."""
    logits = design.rows @ theta
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances = odds / odds.sum(axis=1, keepdims=True)
    centred: Array = design.rows - np.einsum("ko,kop->kp", chances, design.rows)[:, None, :]
    return centred
