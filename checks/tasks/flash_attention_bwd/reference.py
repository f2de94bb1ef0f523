"""The gradients of attention by their formula, what plain code reaches of them, and their terms.

Source: Dao et al., FlashAttention (2022), Algorithm 4 and appendix B.2: with P = exp(S − L),
dV = Pᵀ dO, dP = dO Vᵀ, dS = P ∘ (dP − rowsum(P ∘ dP)), dQ = dS K / √D, dK = dSᵀ Q / √D.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.flash_attention.cases import Case, drawn
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tolerance import relative_error

__all__ = ["NAMES", "Gradients", "Problem", "close", "gradients", "logsumexp", "plain", "posed", "terms"]

NAMES = ("dQ", "dK", "dV")
#: dQ, dK and dV by name, (B, H, N, D) each.
Gradients = Mapping[str, Array]
#: Another reading of an answer is taken only when it is right.
_CLOSE = 1e-3


@dataclass(frozen=True, slots=True)
class Problem:
    """A forward case with an upstream gradient.

    Attributes:
        case: Inputs and how the forward cuts them.
        d_out: Upstream gradient (B, H, N, D).
        tile: Rows per tile of the backward.
    """

    case: Case
    d_out: Array
    tile: int

    def __str__(self) -> str:
        cut = f", backward T={self.tile}" if self.tile != self.case.tile else ""
        return f"{self.case}{cut}"

    @property
    def sizes(self) -> dict[str, int]:
        """Those of its case, and the backward's tiles."""
        told, names = self.case.sizes, ("T", "the number of tiles")
        back = replace(self.case, tile=self.tile).sizes
        told |= {f"{name} of the forward": told.pop(name) for name in names}
        return told | {f"{name} of the backward": back[name] for name in names}

    @property
    def double(self) -> bool:
        """Whether its arrays are float64."""
        return bool(self.case.q.dtype == np.float64)

    def as_type(self, dtype: npt.DTypeLike) -> Problem:
        """The same problem with its arrays in ``dtype``."""
        q, k, v, d_o = (a.astype(dtype) for a in (self.case.q, self.case.k, self.case.v, self.d_out))
        return replace(self, case=replace(self.case, q=q, k=k, v=v), d_out=d_o)


def posed(
    rng: np.random.Generator,
    shape: tuple[int, int, int, int],
    tile: int,
    causal: bool,
    *,
    back: int = 0,
    spread: float = 1.0,
    dtype: npt.DTypeLike = np.float64,
    name: str = "",
) -> Problem:
    """Normal q, k, v and dO; ``spread`` multiplies the scores, ``back`` is the backward's tile."""
    case = drawn(rng, shape, tile, causal, spread=spread, dtype=dtype, name=name)
    return Problem(case, rng.standard_normal(shape).astype(dtype), back or tile)


def _future(length: int) -> npt.NDArray[np.bool_]:
    return np.triu(np.ones((length, length), dtype=bool), 1)


def _scores(case: Case, dtype: npt.DTypeLike) -> Array:
    kind = np.dtype(dtype).type
    scores: Array = (case.q.astype(kind) @ case.k.astype(kind).swapaxes(-1, -2)) * kind(
        case.q.shape[-1] ** -0.5
    )
    if case.causal:
        scores[..., _future(case.q.shape[-2])] = -np.inf
    return scores


def _lse(scores: Array) -> Array:
    """(…, N, 1) log-sum-exp; −inf where a row sees nothing."""
    top = scores.max(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        finite = np.where(np.isfinite(top), top, scores.dtype.type(0))
        return np.asarray(finite + np.log(np.exp(scores - finite).sum(axis=-1, keepdims=True)))


def logsumexp(case: Case) -> Array:
    """L (B, H, N) in float64: the log-sum-exp of every row's scores; −inf where a row sees no key."""
    with np.errstate(all="ignore"):
        return _lse(_scores(case, np.float64))[..., 0]


def gradients(problem: Problem) -> Gradients:
    """The gradients of ``sum(O * dO)`` in float64; rows that see no key have none."""
    return _gradients(problem, np.float64, identity=False)


def close(found: Gradients, truth: Gradients) -> bool:
    """Whether every gradient of a head is the right one, but for rounding."""
    return all(relative_error(found[name], truth[name], axis=(-2, -1)) < _CLOSE for name in NAMES)


def plain(problem: Problem, dtype: npt.DTypeLike, *, identity: bool) -> Gradients:
    """The same in ``dtype``, P rebuilt from L: what sound code reaches.

    Args:
        problem: What is differentiated.
        dtype: The arithmetic.
        identity: Whether the row sum is taken as rowsum(dO ∘ O) and P in base two with the scale on the
            queries, else the sum as rowsum(P ∘ dP) and P in base e.

    Returns:
        In float64.
    """
    return _gradients(problem, dtype, identity=identity)


def _gradients(problem: Problem, dtype: npt.DTypeLike, *, identity: bool) -> Gradients:
    kind = np.dtype(dtype).type
    q, k, v = (a.astype(kind) for a in (problem.case.q, problem.case.k, problem.case.v))
    d_o = problem.d_out.astype(kind)
    with np.errstate(all="ignore"):
        p = _weights(problem.case, dtype, base_two=identity)
        d_p = d_o @ v.swapaxes(-1, -2)
        row = (d_o * (p @ v)).sum(-1, keepdims=True) if identity else (p * d_p).sum(-1, keepdims=True)
        d_s = p * (d_p - row) * kind(q.shape[-1] ** -0.5)
        found = {"dQ": d_s @ k, "dK": d_s.swapaxes(-1, -2) @ q, "dV": p.swapaxes(-1, -2) @ d_o}
    return {name: np.asarray(value, np.float64) for name, value in found.items()}


def _weights(case: Case, dtype: npt.DTypeLike, *, base_two: bool = False) -> Array:
    scores = _scores(case, dtype)
    lse = _lse(scores)
    finite = np.where(np.isfinite(lse), lse, lse.dtype.type(0))
    if base_two:
        turn = scores.dtype.type(np.log2(math.e))
        return np.exp2(_scores(replace(case, q=case.q.astype(dtype) * turn), dtype) - finite * turn)
    return np.exp(scores - finite)


def terms(problem: Problem) -> Gradients:
    """The sums of the absolute values of the terms that each entry of a gradient adds up, float64.

    Rounding of sound code is a small multiple of eps times these, however much cancels: in causal
    row 0 all of dQ does.
    """
    case = problem.case
    q, k, v, d_o = (np.abs(a.astype(np.float64)) for a in (case.q, case.k, case.v, problem.d_out))
    with np.errstate(all="ignore"):
        p = _weights(case, np.float64)
        d_p = d_o @ v.swapaxes(-1, -2)
        d_s = p * (d_p + (p * d_p).sum(-1, keepdims=True)) / np.sqrt(q.shape[-1])
        return {"dQ": d_s @ k, "dK": d_s.swapaxes(-1, -2) @ q, "dV": p.swapaxes(-1, -2) @ d_o}
