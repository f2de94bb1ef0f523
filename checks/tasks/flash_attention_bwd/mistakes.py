"""Which mistake a wrong gradient is: the formula is evaluated with each of the known ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention_bwd.reference import NAMES, Gradients, Problem, logsumexp

__all__ = ["NOTHING", "causes", "common"]

NOTHING = "it is 0"

#: An answer is taken for a mistake's when it is this close.
_SAME = 1e-7


@dataclass(frozen=True, slots=True)
class _Variant:
    """How a wrong backward differs from the right one."""

    weighted: bool = True
    row: str = "whole"
    power: float = -0.5
    masked: bool = True
    divided: bool = False
    transposed: bool = True
    weights: str = ""


_VARIANTS: dict[str, dict[str, _Variant]] = {
    "dQ": {
        "without P in dS = P ∘ (dP − rowsum)": _Variant(weighted=False),
        "with the row sum over the wrong axis": _Variant(row="columns"),
        "with the row sum of each tile alone": _Variant(row="tile"),
        "with the row sum of the last tile alone": _Variant(row="last"),
        "without the row sum": _Variant(row="none"),
        "with dP divided by P": _Variant(divided=True),
        "without the scale 1/√D": _Variant(power=0.0),
        "with the scale 1/√D twice": _Variant(power=-1.0),
        "without the causal mask": _Variant(masked=False),
    },
    "dV": {
        "without the causal mask": _Variant(masked=False),
        "with P for Pᵀ": _Variant(transposed=False),
    },
}
#: What P is instead of exp(S − L), and how that is told; the row sum is that of it, or dO ∘ O.
_WEIGHTS = {
    "natural in base two": "with the natural L in base two, P = 2^(S·log₂e − L)",
    "base two in natural": "with an L in base two, P = exp(S − L·log₂e)",
    "exp of base two": "with scores and L in base two, P = exp(log₂e·(S − L))",
    "all in base two": "with scores and L in base two as they are, P = 2^(S − L)",
    "maximum": "with the maximum for L, P = exp(S − m)",
    "none": "without L, P = exp(S)",
}
_VARIANTS["dK"] = {**_VARIANTS["dQ"], "with dS for dSᵀ": _Variant(transposed=False)}


def causes(made: Gradients, truth: Gradients, problem: Problem) -> dict[str, tuple[str, ...]]:
    """Wrong gradient → the mistakes that give it, as the end of "it is what …"."""
    found: dict[str, tuple[str, ...]] = {}
    for name in NAMES:
        out = made[name]
        if not np.isfinite(out).all() or _near(out, truth[name], 1e-4):
            continue
        if not out.any():
            # whatever leaves nothing gives this
            found[name] = (NOTHING,)
            continue
        variants = [*_VARIANTS[name].items(), *_of_weights(name)]
        told = [f"it is what the formula gives {t}" for t, v in variants
                if _near(out, _made(problem, v)[name], _SAME)]  # fmt: skip
        told += [f"it is {other}" for other in NAMES if other != name and _near(out, truth[other], _SAME)]
        told += [
            f"it is what {words} gives"
            for words, given in (*_products(problem, name), *_of_dp(problem, name))
            if not _near(given, truth[name], 1e-4) and _near(out, given, _SAME)
        ]
        if _near(out, -truth[name], _SAME):
            told.append("its sign is turned")
        found[name] = tuple(told)
    return found


def _products(problem: Problem, name: str) -> Iterator[tuple[str, Array]]:
    """Products of another factor than the formula's, in words."""
    case = problem.case
    with np.errstate(all="ignore"):
        scores = case.q @ case.k.swapaxes(-1, -2) / np.sqrt(case.q.shape[-1])
        if case.causal:
            scores[..., np.triu(np.ones(scores.shape[-2:], dtype=bool), 1)] = -np.inf
        p = np.exp(scores - logsumexp(case)[..., None])
        d_p = problem.d_out @ case.v.swapaxes(-1, -2)
        d_s = p * (d_p - (p * d_p).sum(-1, keepdims=True))
    scale = case.q.shape[-1] ** -0.5
    left = {"P": p, "dS": d_s, "dP": d_p, "P ∘ dP": p * d_p, "dS / √D": d_s * scale, "P / √D": p * scale}
    right = {"dO": problem.d_out, "V": case.v, "O": case.truth, "K": case.k, "Q": case.q}
    turned = "" if name == "dQ" else "ᵀ"
    for one, first in left.items():
        for other, second in right.items():
            words = f"({one}){turned} {other}" if " " in one else f"{one}{turned} {other}"
            yield words, (first.swapaxes(-1, -2) if turned else first) @ second


def _of_dp(problem: Problem, name: str) -> Iterator[tuple[str, Array]]:
    """The formula with another product for dP, in words."""
    if name == "dV":
        return
    case = problem.case
    with np.errstate(all="ignore"):
        scores = case.q @ case.k.swapaxes(-1, -2) / np.sqrt(case.q.shape[-1])
        if case.causal:
            scores[..., np.triu(np.ones(scores.shape[-2:], dtype=bool), 1)] = -np.inf
        p = np.exp(scores - logsumexp(case)[..., None])
        right = (problem.d_out * case.truth).sum(axis=-1, keepdims=True)
    arrays = {"dO": problem.d_out, "O": case.truth, "Q": case.q, "K": case.k, "V": case.v}
    for (one, first), (other, second) in itertools.product(arrays.items(), arrays.items()):
        d_p = first @ second.swapaxes(-1, -2)
        for row in (right, (p * d_p).sum(axis=-1, keepdims=True)):
            d_s = p * (d_p - row) / np.sqrt(case.q.shape[-1])
            made = d_s @ case.k if name == "dQ" else d_s.swapaxes(-1, -2) @ case.q
            if (one, other) != ("dO", "V"):
                yield f"dP = {one} {other}ᵀ for dO Vᵀ", made


def _of_weights(name: str) -> Iterator[tuple[str, _Variant]]:
    for weights, text in _WEIGHTS.items():
        for row in ("whole", "output")[: 1 if name == "dV" else 2]:
            yield text, _Variant(weights=weights, row=row)


def common(told: Sequence[tuple[str, ...]]) -> str:
    """The first mistake that explains every wrong call; empty when none does."""
    return next((text for text in told[0] if all(text in other for other in told)), "") if told else ""


def _near(out: Array, wanted: Array, limit: float) -> bool:
    with np.errstate(all="ignore"):
        return bool(np.linalg.norm(out - wanted) <= limit * np.linalg.norm(wanted))


def _made(problem: Problem, variant: _Variant) -> Gradients:
    case = problem.case
    q, k, v, d_o = case.q, case.k, case.v, problem.d_out
    width = q.shape[-1]
    with np.errstate(all="ignore"):
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(width)
        if case.causal and variant.masked:
            scores[..., np.triu(np.ones(scores.shape[-2:], dtype=bool), 1)] = -np.inf
        right = np.exp(scores - logsumexp(case)[..., None])
        p = np.exp(_exponents(scores, logsumexp(case)[..., None], variant.weights))
        d_p = d_o @ v.swapaxes(-1, -2)
        # The row sum by dO ∘ O knows the mask even where P has lost it.
        row = _row(right if variant.row == "output" else p, d_p, variant.row, problem.tile)
        if case.causal and not variant.masked:
            seen = np.tril(np.ones(p.shape[-2:], dtype=bool))
            row = (np.where(seen, p, 0.0) * d_p).sum(-1, keepdims=True)
        d_s = d_p - row if not variant.divided else (d_p - row) / p
        d_s = (p * d_s if variant.weighted and not variant.divided else d_s) * width**variant.power
        d_s = np.where(np.isfinite(d_s), d_s, 0.0) if variant.divided else d_s
        p_t, s_t = (a.swapaxes(-1, -2) if variant.transposed else a for a in (p, d_s))
        return {"dQ": d_s @ k, "dK": s_t @ q, "dV": p_t @ d_o}


def _exponents(scores: Array, natural: Array, weights: str) -> Array:
    """Logarithms of P, as it is or as a mistake makes it."""
    match weights:
        case "natural in base two":
            return np.asarray(scores - natural * np.log(2))
        case "base two in natural":
            return np.asarray(scores - natural / np.log(2))
        case "exp of base two":
            return np.asarray((scores - natural) / np.log(2))
        case "all in base two":
            return np.asarray((scores - natural) * np.log(2))
        case "maximum":
            return np.asarray(scores - scores.max(axis=-1, keepdims=True))
        case "none":
            return scores
    return np.asarray(scores - natural)


def _row(p: Array, d_p: Array, kind: str, tile: int) -> Array:
    product = p * d_p
    if kind == "none":
        return np.zeros_like(product[..., :1])
    if kind == "columns":
        return np.asarray(product.sum(axis=-2, keepdims=True))
    if kind in {"whole", "output"}:
        return np.asarray(product.sum(axis=-1, keepdims=True))
    out = np.zeros_like(product)
    for start in range(0, product.shape[-1], tile):
        part = product[..., start : start + tile].sum(axis=-1, keepdims=True)
        out[..., start : start + tile] = part
        if kind == "last":
            out[...] = part
    return out
