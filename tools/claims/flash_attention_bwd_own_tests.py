"""Flash attention, backward: what the programs' own tests measure and print, and what it can tell."""

from __future__ import annotations

from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from tools.claims.claim import PARTLY, Finding, whether
from tools.claims.figures import each, rounded, under
from tools.claims.flash_attention_bwd import ALL, BACKWARD, TASK, inputs, program_of
from tools.claims.programs import quiet
from tools.claims.runs import Runs

__all__ = ["MATRIX_MB", "PUBLISHED_DQ", "PUBLISHED_DV", "noise", "peaks", "printed_errors", "subtests"]

#: What the analyses give of each model: errors of dV and dQ, peaks in MB of a million bytes.
PUBLISHED_DV = dict(zip(ALL, (3.4e-9, 1.2e-7, 7.2e-7, 8.5e-6), strict=True))
PUBLISHED_DQ = dict(zip(ALL, (1.7e-11, 0.0, 1.1e-10, 2.7e-5), strict=True))
PUBLISHED_MB = dict(zip(ALL, (13.4, 12.5, 6.3, 9.4), strict=True))
#: One N × N matrix of float32 at N = 4096.
MATRIX_MB = 4096 * 4096 * 4 / 1e6
Array = npt.NDArray[Any]


def printed_errors(runs: Runs, name: str) -> dict[str, float]:
    """What the programs' own tests print of a gradient against differences: model → relative error."""
    patterns = {
        "kimi-k2.6": rf"  {name} \([^)]*\): max rel error (\S+)",
        "glm5": rf"  {name} \(\d+ elements\): max rel err (\S+)",
        "qwen36": rf"  {name}, [a-z ]+: +relative error (\S+)",
        "glm5.1": rf"{name} (?:full|spot) check[^=]*= (\S+)",
    }
    return {m: float(runs.printed(TASK, m, pattern)[0]) for m, pattern in patterns.items()}


@BACKWARD.claim("C144", "all", "dV, dQ and dK are within 1e-5 of differences", "gradients, own_tests")
def _(runs: Runs) -> Finding:
    printed = [f for name in ("dV", "dQ", "dK") for f in printed_errors(runs, name).values()]
    ours = [f for m in ALL for f in runs.figures(TASK, m, "gradients", "against central differences")]
    found = f"by their own tests {under(printed)}; by ours, over the sum of terms, {under(ours)}"
    return whether(max(printed) < 1e-5 and runs.passes(TASK, ALL, "gradients"), found)


@BACKWARD.claim(
    "C145", "all", "dV errors 3.4e-9, 1.2e-7, 7.2e-7, 8.5e-6, to an order of magnitude", "own_tests"
)
def _(runs: Runs) -> Finding:
    printed = printed_errors(runs, "dV")
    near = all(0.1 < printed[m] / PUBLISHED_DV[m] < 10 for m in ALL)
    return whether(near, each((m, rounded(f)) for m, f in printed.items()) + "; see X42 for what they mean")


@BACKWARD.claim("C146", "all", "dQ against the full backward 1.7e-11, 0.0, 1.1e-10, 2.7e-5", "own_tests")
def _(runs: Runs) -> Finding:
    patterns = {
        "kimi-k2.6": r"dQ vs naive: max rel error (\S+)",
        "glm5": r"dQ: rel err (\S+)",
        "qwen36": r"  dQ: relative error (\S+)",
        "glm5.1": r"dQ max relative error = (\S+)",
    }
    printed = {m: float(runs.printed(TASK, m, pattern)[0]) for m, pattern in patterns.items()}
    near = all(
        printed[m] == p or 0.1 < printed[m] / p < 10 for m, p in PUBLISHED_DQ.items() if p or printed[m] == 0
    )
    return whether(near and max(printed.values()) < 1e-4, each((m, rounded(f)) for m, f in printed.items()))


def peaks(runs: Runs) -> dict[str, float]:
    """The peaks that the programs' own tests print, in MB."""
    patterns = {
        "kimi-k2.6": r"peak: ([\d.]+) MB",
        "glm5": r"  peak ([\d.]+) MB",
        "qwen36": r"peak memory: +([\d.]+) MB",
        "glm5.1": r"Peak memory: +([\d.]+) MB",
    }
    return {m: float(runs.printed(TASK, m, pattern)[0]) for m, pattern in patterns.items()}


@BACKWARD.claim(
    "C147", "all", "peaks of 13.4, 12.5, 6.3, 9.4 MB, below 20 % of one matrix", "own_tests, peak_memory"
)
def _(runs: Runs) -> Finding:
    traced = peaks(runs)
    ours = {m: max(runs.figures(TASK, m, "peak_memory", "peak over one")) for m in ALL}
    found = (
        each((m, f"{p:.1f}") for m, p in traced.items())
        + " MB by their own tests, each tracing other things; peak beyond inputs and outputs at D = 8: "
        + each((m, f"{100 * o:.1f} %") for m, o in ours.items())
    )
    below = all(p < 0.2 * MATRIX_MB for p in traced.values()) and runs.passes(TASK, ALL, "peak_memory")
    exact = all(abs(traced[m] / p - 1) < 0.03 for m, p in PUBLISHED_MB.items())
    return Finding(found, ("yes" if exact else PARTLY) if below else "**no**")


@cache
def noise(step: float) -> tuple[float, float]:
    """Worst element of a right dV against central differences.

    Args:
        step: Of the differences.

    Returns:
        Its relative error when outputs are subtracted first, and when losses are.
    """
    module = program_of("kimi-k2.6")
    Q, K, V, dO = inputs((1, 1, 64, 32), 7)
    _, kept = module.flash_attention_fwd(Q, K, V, 16, causal=True)
    dV = module.flash_attention_bwd(dO, kept, 16, causal=True)[2]
    found = np.zeros((2, *V.shape))
    for index in np.ndindex(*V.shape):
        out = []
        for sign in (1, -1):
            moved = V.copy()
            moved[index] += sign * step
            out.append(module.flash_attention_fwd(Q, K, moved, 16, causal=True)[0])
        found[0][index] = np.sum((out[0] - out[1]) * dO) / (2 * step)
        found[1][index] = (np.sum(out[0] * dO) - np.sum(out[1] * dO)) / (2 * step)
    floor = np.maximum(np.maximum(np.abs(found), np.abs(dV)), 1e-8)
    first, second = np.max(np.abs(found - dV) / floor, axis=(1, 2, 3, 4))
    return float(first), float(second)


@BACKWARD.claim("C152", "GLM-5.1", "a step of 1e-6 amplifies rounding")
def _(runs: Runs) -> Finding:
    errors = {step: noise(step)[1] for step in (1e-4, 1e-5, 1e-6)}
    found = "one right dV, losses subtracted: " + ", ".join(
        f"step {step:.0e} {rounded(e, 1)}" for step, e in errors.items()
    )
    return whether(errors[1e-6] > 3 * errors[1e-5] > 9 * errors[1e-4], found)


@BACKWARD.claim("C153", "GLM-5.1", "differences of dV are taken twice")
def _(runs: Runs) -> Finding:
    module = program_of("glm5.1")
    asked: list[int] = []
    real = module.flash_attention_fwd

    def spy(Q: Array, K: Array, V: Array, *args: object, **options: object) -> object:
        asked.append(hash(V.tobytes()))
        return real(Q, K, V, *args, **options)

    with patch.object(module, "flash_attention_fwd", spy), quiet():
        module.test_gradient_check()
    base = asked[0]
    moved = [h for h in asked if h != base]
    again = len(moved) - len(set(moved))
    return whether(again > 0, f"{len(moved)} forwards with a moved V, {again} of them for the second time")


def subtests(runs: Runs) -> dict[str, int]:
    """Tests that a program runs, sanity checks in a script included."""
    return {m: runs.own_tests(TASK, m) or len(runs.printed(TASK, m, r"\n +(PASS)\b")) for m in ALL}


@BACKWARD.claim("C154", "all", "tests beyond the three required: 0, 1, 2, 0", "own_tests")
def _(runs: Runs) -> Finding:
    beyond = {m: n - 3 for m, n in subtests(runs).items()}
    return whether(list(beyond.values()) == [0, 1, 2, 0], each((m, str(n)) for m, n in beyond.items()))
