"""Identities that every right gradient of attention obeys; none of them needs the gradient's formula."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.gradients import Estimate, Independence, projection
from judge_tui.checks.sizes import Sizes
from judge_tui.checks.tasks.flash_attention.cases import Shape, heads
from judge_tui.checks.tasks.flash_attention.reference import Array, largest_score
from judge_tui.checks.tasks.flash_attention_bwd.differenced import as_function
from judge_tui.checks.tasks.flash_attention_bwd.gradients import places
from judge_tui.checks.tasks.flash_attention_bwd.lowered import lower_precision
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import Gradients, Problem, plain, posed, terms
from judge_tui.checks.tolerance import SLACK
from judge_tui.checks.verdict import Verdict

__all__ = ["gradient_identities"]

_DRAWS = 3
_PER_TERM = 8.0
#: An estimate by differences whose own error is larger than this share shows nothing.
_ROUGH = 1e-3
_HEADS = Independence("q", ((0, 0), (1, 1)))


@dataclass(frozen=True, slots=True)
class _Identity:
    """One identity.

    Attributes:
        text: As a formula.
        gradient: Whose line is pointed at.
        why: What it follows from.
    """

    text: str
    gradient: str
    why: str


_IDENTITIES = {
    "keys": _Identity("Σ_j dK_j = 0", "dK", "a shift common to all keys leaves softmax as it is"),
    "values": _Identity("Σ_j dV_j = Σ_i dO_i", "dV", "the weights of a row add up to 1"),
    "scaling": _Identity("⟨dQ, Q⟩ = ⟨dK, K⟩", "dQ", "scaling Q by a and K by 1/a changes no score"),
    "output": _Identity("⟨dV, V⟩ = ⟨dO, O⟩", "dV", "O is linear in V"),
    "first": _Identity("causal row 0 has dQ = 0", "dQ", "its softmax has one entry"),
    "slope": _Identity(
        "⟨dQ, Q⟩ = d/da ⟨dO, O(aQ)⟩ at a = 1",
        "dQ",
        "the chain rule, by five-point differences of the forward",
    ),
    "linear": _Identity("the gradients are linear in dO", "dQ", "dO enters by products alone"),
}


@check(
    "gradient_identities",
    "identities of the gradients",
    establishes="Σ dK = 0, Σ dV = Σ dO, ⟨dQ,Q⟩ = ⟨dK,K⟩ = the slope of ⟨dO,O⟩ along Q, ⟨dV,V⟩ = ⟨dO,O⟩, "
    "causal row 0 has dQ = 0, linearity in dO.",
    roles=("forward", "backward"),
    spared=("forward",),
    version=4,
)
def gradient_identities(bench: Bench, found: Findings) -> str:
    """Measure the residual of each identity, head by head, over the sum of its absolute terms."""
    attention = Attention(bench, alone=True)
    worst: dict[str, _Residual] = {}
    for causal in attention.causal:
        for index in range(_DRAWS):
            shape, tile, back = _drawn(bench.sizes("draw", index, causal), index)
            problem = posed(bench.rng("draw", index, causal), shape, tile, causal, back=back)
            for name, residual in _measured(bench, attention, problem).items():
                if name not in worst or residual.share > worst[name].share:
                    worst[name] = residual
    where = places(bench, {})
    for name, residual in worst.items():
        identity = _IDENTITIES[name]
        place = {} if residual.verdict is Verdict.PASS else where[identity.gradient]
        found.limit(
            f"{identity.text}: residual over the sum of its absolute terms, per head",
            residual.error,
            residual.most if residual.verdict is Verdict.FAIL else residual.own,
            otherwise=residual.verdict if residual.verdict is not Verdict.PASS else Verdict.FAIL,
            **{**place, "note": f"{identity.why}; worst at [{residual.problem}]"},
        )
    most = max(worst.items(), key=lambda item: (item[1].verdict is Verdict.FAIL, item[1].share))
    identity, residual = _IDENTITIES[most[0]], most[1]
    if residual.verdict is Verdict.FAIL:
        broken = sum(r.verdict is Verdict.FAIL for r in worst.values())
        lower = lower_precision(attention)
        why = f"; {lower.text}" if lower is not None and lower.explains([residual.error], 1) else ""
        return (
            f"{broken} of {len(worst)} identities are violated: {identity.text} by {residual.error:.2g} "
            f"of its terms (limit {residual.most:.1g}){why}"
        )
    if residual.verdict is Verdict.WARN:
        return f"{identity.text} holds to {residual.error:.1e}, where float64 reaches {residual.own:.1e}"
    return f"{len(worst)} identities hold, the worst residual {residual.error:.1e} (limit {residual.own:.1e})"


def _drawn(sizes: Sizes, index: int) -> tuple[Shape, int, int]:
    """(B, H, N, D), T forward and backward: a last tile of one row, tiles of two sizes, T > N forward."""
    back = sizes.between(2, 6)
    length = back * sizes.between(2, 4) + (1 if index == 0 else sizes.between(0, back - 1))
    tile = (back, sizes.between(2, 8), length + sizes.between(1, 8))[index]
    return heads(sizes, length, (3, 12)), tile, back


@dataclass(frozen=True, slots=True)
class _Residual:
    error: float
    own: float
    most: float
    problem: Problem

    @property
    def share(self) -> float:
        return self.error / self.own if np.isfinite(self.error) else float("inf")

    @property
    def verdict(self) -> Verdict:
        if self.error <= self.own:
            return Verdict.PASS
        return Verdict.WARN if self.error <= self.most else Verdict.FAIL


def _measured(bench: Bench, attention: Attention, problem: Problem) -> dict[str, _Residual]:
    run = attention.run(problem)
    made = attention.backward(run)
    other = bench.rng("other", str(problem)).standard_normal(problem.d_out.shape)
    # A forward for each: what a backward does to its cache is another check's business.
    mixed = [
        attention.backward(attention.run(problem), d_o=d_o) for d_o in (other, 2.0 * problem.d_out - other)
    ]
    with np.errstate(all="ignore"):
        sizes = terms(problem)
        residuals = _residuals(problem, made, run.out, sizes)
        residuals["linear"] = _linearity(made, mixed, sizes)
    found = {name: _held(problem, name, error) for name, error in residuals.items()}
    found["slope"] = _slope(attention, problem, made, sizes)
    return found


def _held(problem: Problem, name: str, error: float) -> _Residual:
    score = largest_score(problem.case.q, problem.case.k, problem.case.causal)
    limits = []
    for dtype in (np.float64, np.float32):
        sound = [plain(problem, dtype, identity=way) for way in (True, False)]
        with np.errstate(all="ignore"):
            plain_errors = [
                _residuals(problem, made, _output(problem), terms(problem)).get(name, 0.0) for made in sound
            ]
        reached = max(e if np.isfinite(e) else 0.0 for e in plain_errors)
        limits.append(max(SLACK * reached, _PER_TERM * float(np.finfo(dtype).eps) * (1 + score)))
    return _Residual(error, limits[0], limits[1], problem)


def _output(problem: Problem) -> Array:
    return problem.case.truth


def _residuals(problem: Problem, made: Gradients, out: Array, sizes: Gradients) -> dict[str, float]:
    """The largest residual of each identity over heads; NaN anywhere gives NaN."""
    case, d_o = problem.case, problem.d_out
    axes = (-2, -1)
    q_part, k_part = (made["dQ"] * case.q).sum(axes), (made["dK"] * case.k).sum(axes)
    q_size = (sizes["dQ"] * np.abs(case.q)).sum(axes) + (sizes["dK"] * np.abs(case.k)).sum(axes)
    v_size = (sizes["dV"] * np.abs(case.v)).sum(axes) + np.abs(d_o * out).sum(axes)
    found = {
        "keys": _largest(made["dK"].sum(-2), sizes["dK"].sum(-2)),
        "values": _largest(made["dV"].sum(-2) - d_o.sum(-2), sizes["dV"].sum(-2) + np.abs(d_o).sum(-2)),
        "scaling": _largest(q_part - k_part, q_size),
        "output": _largest((made["dV"] * case.v).sum(axes) - (d_o * out).sum(axes), v_size),
    }
    if case.causal:
        found["first"] = _largest(made["dQ"][..., 0, :], sizes["dQ"][..., 0, :])
    return found


def _linearity(made: Gradients, mixed: list[Gradients], sizes: Gradients) -> float:
    """With dO, another dO' and 2 dO − dO': the second and the third gradient add up to twice the first."""
    errors = [
        _largest(
            mixed[0][name] + mixed[1][name] - 2.0 * made[name],
            # Entry by entry small terms meet larger ones of the other dO.
            np.max(sizes[name], axis=(-2, -1), keepdims=True) + np.abs(mixed[0][name]),
        )
        for name in made
    ]
    return max(errors, key=lambda error: np.inf if np.isnan(error) else error)


def _slope(attention: Attention, problem: Problem, made: Gradients, sizes: Gradients) -> _Residual:
    function = as_function(attention, problem)
    at: Mapping[str, Any] = {"q": problem.case.q, "k": problem.case.k, "v": problem.case.v}
    estimate: Estimate = projection(function, at, _HEADS, problem.d_out, problem.case.q)
    axes = (-2, -1)
    with np.errstate(all="ignore"):
        size = (sizes["dQ"] * np.abs(problem.case.q)).sum(axes)
        noise = float(np.max(estimate.noise / size))
        error = _largest((made["dQ"] * problem.case.q).sum(axes) - estimate.value, size)
    limit = min(SLACK * noise + 1e-9, _ROUGH)
    return _Residual(error, limit, max(limit, _PER_TERM * float(np.finfo(np.float32).eps)), problem)


def _largest(residual: Array, size: Array) -> float:
    return float(np.max(np.abs(residual) / np.maximum(size, 1e-300), initial=0.0))
