"""Whether gradients are the formula's with an array of another head or batch entry."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.flash_attention.exchanged import HEADS, moved
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import (
    Gradients,
    Problem,
    gradients,
    logsumexp,
    posed,
)
from judge_tui.checks.tolerance import relative_error

__all__ = ["alike", "arrays_of", "exchanged", "formula"]

#: (B, H, N, D) and T: one tile, and several.
_CUTS = (((2, 4, 6, 5), 8), ((3, 6, 7, 4), 4))
_SAME, _OFF = 1e-6, 1e-4
_ARRAYS = ("Q", "K", "V", "dO", "L", "rowsum(dO ∘ O)")
_MOST = 3


def exchanged(bench: Bench, attention: Attention) -> str:
    """Which arrays of the backward are another head's, as a clause; for gradients that were seen wrong.

    Args:
        bench: Where it is judged.
        attention: What is called.
    """
    problems = [
        posed(bench.rng("exchanged", at), *cut, attention.causal[-1], back=cut[1])
        for at, cut in enumerate(_CUTS)
    ]
    try:
        made = [attention(problem) for problem in problems]
    except Fault:
        return ""
    with np.errstate(all="ignore"):
        truths = [gradients(problem) for problem in problems]
        if all(alike(each, truth, _OFF) for each, truth in zip(made, truths, strict=True)):
            return ""
        for words, taken in HEADS.items():
            for names in _several():
                given = (_with(problem, taken, names) for problem in problems)
                if all(alike(each, other, _SAME) for each, other in zip(made, given, strict=True)):
                    are = "is" if len(names) == 1 else "are"
                    return f"{' and '.join(names)} of every head {are} taken from {words} in the backward"
        for words, gives in _SUMS.items():
            given = (gives(truth) for truth in truths)
            if all(alike(each, other, _SAME) for each, other in zip(made, given, strict=True)):
                return words
    return ""


def _several() -> Sequence[tuple[str, ...]]:
    return [names for count in range(1, _MOST + 1) for names in itertools.combinations(_ARRAYS, count)]


def alike(made: Gradients, wanted: Gradients, most: float) -> bool:
    """Whether gradients are others, head by head, but for so much of their length."""
    return all(relative_error(made[name], wanted[name], axis=(-2, -1)) <= most for name in wanted)


def _with(
    problem: Problem, taken: Callable[[int, int, int, int], tuple[int, int]], names: Sequence[str]
) -> Gradients:
    """The formula with these arrays of other heads."""
    arrays = arrays_of(problem)
    given = {name: moved(a, taken) if name in names else a for name, a in arrays.items()}
    return formula(given, causal=problem.case.causal)


def arrays_of(problem: Problem) -> dict[str, Array]:
    """What gradients are made of: those of ``_ARRAYS``."""
    case = problem.case
    return {
        "Q": case.q, "K": case.k, "V": case.v, "dO": problem.d_out, "L": logsumexp(case),
        "rowsum(dO ∘ O)": (problem.d_out * case.truth).sum(axis=-1),
    }  # fmt: skip


def formula(arrays: Mapping[str, Array], *, causal: bool) -> Gradients:
    """The gradients that the formula gives of these arrays."""
    q, k, v, d_o, lse, row = (arrays[name] for name in _ARRAYS)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if causal:
        scores[..., np.triu(np.ones(scores.shape[-2:], dtype=bool), 1)] = -np.inf
    p = np.exp(scores - lse[..., None])
    d_s = p * (d_o @ v.swapaxes(-1, -2) - row[..., None]) / np.sqrt(q.shape[-1])
    return {"dQ": d_s @ k, "dK": d_s.swapaxes(-1, -2) @ q, "dV": p.swapaxes(-1, -2) @ d_o}


def _over(names: Sequence[str], axis: int, mean: bool, truth: Gradients) -> Gradients:
    made = {}
    for name, value in truth.items():
        total = value.mean(axis=axis, keepdims=True) if mean else value.sum(axis=axis, keepdims=True)
        made[name] = np.broadcast_to(total, value.shape) if name in names else value
    return made


def _sums(axis: int, names: Sequence[str], mean: bool) -> Callable[[Gradients], Gradients]:
    return lambda truth: _over(names, axis, mean, truth)


#: Sums over heads or batch entries in the place of each one's own.
_SUMS: Mapping[str, Callable[[Gradients], Gradients]] = {
    f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} {done} over {what}": _sums(axis, names, mean)
    for names in (("dQ",), ("dK",), ("dV",), ("dK", "dV"), ("dQ", "dK", "dV"))
    for what, axis in (("the heads", 1), ("batch entries", 0))
    for done, mean in (("added up", False), ("averaged", True))
}
