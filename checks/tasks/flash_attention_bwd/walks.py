"""How often the backward walks over keys and values: counted matrix products per pair of tiles."""

from __future__ import annotations

from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Skipped
from judge_tui.checks.tasks.flash_attention.cases import Case
from judge_tui.checks.tasks.flash_attention_bwd.gate import sound
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import posed

__all__ = ["kv_passes"]

#: Rows of a tile, which are whole, and D.
_TILES, _COUNT, _WIDTHS = (24, 40), 4, (12, 24)
#: Products that every walk makes (S = QKᵀ and dP = dO Vᵀ) and those that are made once (dV, dK, dQ).
_PER_WALK, _ONCE = 2, 3
#: A product of other shapes or a stray one moves the count by less than this.
_STRAY = 0.5


@check(
    "kv_passes",
    "walks over K and V",
    establishes="Tells how often the backward walks over K and V: once with D = rowsum(dO ∘ O), twice where "
    "rowsum(P ∘ dP) is gathered first. Both are right.",
    roles=("forward", "backward"),
    version=2,
)
def kv_passes(bench: Bench, found: Findings) -> str:
    """Count the multiply-adds of one backward, in units of one product of all pairs that are visited."""
    attention = Attention(bench)
    if not sound(bench, attention, found):
        return "what it computes are not the gradients, so its work says nothing"
    # Without the mask every pair is visited, whatever a submission skips.
    causal = attention.causal[-1]
    sizes = bench.sizes("work")
    tile, width = sizes.between(*_TILES), sizes.between(*_WIDTHS)
    problem = posed(bench.rng("work"), (1, 1, _COUNT * tile, width), tile, causal)
    plain = attention(problem)
    # Counted from the forward on, so that the arrays of the cache count as well.
    run = attention.run(problem, count=True)
    returned = attention.returned(run, count=True)
    counted = attention.read(run, returned)
    if any(counted[name].tobytes() != plain[name].tobytes() for name in plain):
        raise Skipped("it gives other bits while its work is counted, so the counts say nothing")
    unit = _visited(attention, run.problem.case, causal) * width
    products = _number(returned.result.counters, "multiply_adds") / unit
    if products < _ONCE + _PER_WALK - _STRAY:
        raise Skipped("its products do not go through NumPy's arrays, so there is nothing to count")
    walks = (products - _ONCE) / _PER_WALK
    where = attention.forward.located(_busiest(returned.result.counters))
    found.note("matrix products per pair of tiles", products, note=_made_of(walks), **where)
    found.claim("walks over K and V in the backward", True, measured=round(walks, 2), unit="walks")
    found.note("calls of a matrix product", int(_number(returned.result.counters, "products")))
    return f"{_times(walks)} over K and V: {products:.3g} products per pair of tiles ({_made_of(walks)})"


def _visited(attention: Attention, case: Case, causal: bool) -> float:
    """Pairs of rows for which scores are made: all of them, or under a mask as many as its forward visits."""
    length, width = case.q.shape[2:]
    pairs = float(length * length)
    if not causal:
        return pairs
    # S = QKᵀ and PV: two products per pair that the forward visits.
    work = _number(attention.forward.counters(case), "multiply_adds") / (2 * width)
    return min(work, pairs) if work >= pairs / 2 else pairs


def _made_of(walks: float) -> str:
    if abs(walks - 1) <= _STRAY / _PER_WALK:
        return "S and dP once, then dV, dK and dQ"
    if abs(walks - 2) <= _STRAY / _PER_WALK:
        return "S and dP twice, dV, dK and dQ once"
    return "5 are one walk, 7 are two"


def _times(walks: float) -> str:
    words = {1: "one walk", 2: "two walks", 3: "three walks"}
    whole = round(walks)
    return words.get(whole, f"{whole} walks") if abs(walks - whole) <= 0.25 else f"{walks:.2f} walks"


def _busiest(counters: Any) -> Any:
    work = counters.get("work")
    return work[0][:2] if isinstance(work, list) and work and isinstance(work[0], list) else None


def _number(counts: Any, key: str) -> float:
    value = counts.get(key, 0)
    return float(value) if isinstance(value, (int, float)) else 0.0
