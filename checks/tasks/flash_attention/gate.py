"""Whether an answer is attention at all: what a property of it needs before it says anything.

Zeros are causal, cost no work and need no memory. So a check of such a property also
holds O against the reference, on scores so mild that only a wholly wrong answer is far
off: how exact the answer is, :mod:`.accuracy` decides, and one defect need not fail every check.
"""

from __future__ import annotations

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.tasks.flash_attention.cases import drawn
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tolerance import relative_error

__all__ = ["FAR", "sound"]

#: Zeros are 1 off, rows in another order 1.2 and more.
FAR = 0.9
#: Wide enough that heads differ little in how far a given mistake is off.
_WIDTHS = (24, 40)


def sound(
    found: Findings, forward: Forward, bench: Bench, *, causal: bool, length: int = 40
) -> tuple[float, float]:
    """Hold one mild call against the reference, over whole heads.

    Args:
        found: Where the figure goes.
        forward: What is called.
        bench: For the draw.
        causal: Whether with the mask.
        length: N, give or take a quarter.

    Returns:
        Relative error and its limit; beyond it the check has failed.
    """
    sizes = bench.sizes("gate", length)
    tile, rows = sizes.between(5, 12), sizes.between(length - length // 4, length + length // 4)
    shape = sizes.between(1, 3), sizes.between(2, 4), rows, sizes.between(*_WIDTHS)
    case = drawn(bench.rng("gate", length), shape, tile, causal, spread=0.1)
    error = relative_error(forward(case), case.truth, axis=(-2, -1))
    found.limit(
        "O with nearly even weights, relative error per head",
        error,
        FAR,
        note="Coarse: that there is an answer which the figures below are about.",
        **({} if error <= FAR else forward.place),
    )
    return (error if error == error else float("inf")), FAR
