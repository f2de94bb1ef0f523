"""Whether an answer is the gradients at all, before a property of their computing says anything."""

from __future__ import annotations

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.tasks.flash_attention.cases import heads
from judge_tui.checks.tasks.flash_attention.gate import FAR
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import NAMES, Gradients, gradients, posed
from judge_tui.checks.tolerance import relative_error

__all__ = ["sound", "wholly_wrong"]


def sound(bench: Bench, attention: Attention, found: Findings) -> bool:
    """Hold one mild call against the truth, over whole heads; beyond the limit the check has failed.

    Args:
        bench: For the draw.
        attention: What is called.
        found: Where the figure goes.
    """
    sizes = bench.sizes("gate")
    shape, tile = heads(sizes, (24, 48), (12, 24)), sizes.between(5, 12)
    problem = posed(bench.rng("gate"), shape, tile, attention.causal[0])
    error = wholly_wrong(gradients(problem), attention(problem))
    return found.limit(
        "gradients of a mild call, relative error per head",
        error,
        FAR,
        note="Coarse: that there is an answer which the figures below are about.",
        **({} if error <= FAR else attention.place),
    )


def wholly_wrong(truth: Gradients, made: Gradients) -> float:
    """The largest relative error of a gradient of a head; zeros are 1 off, rows in another order more."""
    errors = [relative_error(made[name], truth[name], axis=(-2, -1)) for name in NAMES]
    return max(errors, key=lambda error: float("inf") if error != error else error)
