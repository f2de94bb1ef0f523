"""The gradient of a second batch on one layer: its own, or the sum of both, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.ternary_training.draws import exact_inputs, mixed
from judge_tui.checks.tasks.ternary_training.layer import Layer
from judge_tui.checks.tasks.ternary_training.roles import GROUP
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["AGAIN", "hold_again"]

Array = npt.NDArray[Any]

AGAIN = "dweight of a second batch on one layer"
_ROWS = 6
#: Below this an answer is what a mistake gives.
_SAME = 1e-4


def hold_again(bench: Bench, found: Findings, layer: Layer, out: int, limit: float) -> str:
    """Hold the second of two forwards and backwards on one object, with nothing cleared in between.

    What adds up its gradients until they are cleared gives the sum of both, what does not the second's.

    Args:
        bench: Where it is called.
        found: What is found.
        layer: The layer.
        out: How many outputs leave it no ragged group.
        limit: For the error.

    Returns:
        What comes instead, as a clause; empty where it is right, or no layer holds anything.
    """
    if layer.binding.init is None or layer.binding.on:
        return ""
    rng = bench.rng("again")
    weight = mixed(rng, (out, GROUP))
    first, second = ((exact_inputs(rng, _ROWS, GROUP), rng.standard_normal((_ROWS, out))) for _ in range(2))
    try:
        fresh = layer.effective(weight)
        run = layer.forward(weight, first[0])
        if run.returned.instance is None:
            return ""
        one = np.array(layer.backward(run, first[1]).dweight)
        run = layer.forward(weight, second[0], on=run)
        both = np.array(layer.backward(run, second[1]).dweight)
        if not np.array_equal(fresh, layer.effective(weight, on=run)):
            # it learns in its backward
            return ""
    except Fault:
        return ""
    if not relative_error(one, first[1].T @ first[0]) <= limit:
        return ""
    told, sure = _told(both, first, second, limit)
    binding = bench.binding("backward")
    found.claim(
        AGAIN, not told, measured=told or "its own, or the sum of both", limit="its own, or the sum of both",
        otherwise=Verdict.FAIL if sure else Verdict.WARN, file=binding.file, line=binding.line or None,
        note="forward, backward, forward, backward on one layer, nothing cleared in between",
    )  # fmt: skip
    return told


def _told(
    both: Array, first: tuple[Array, Array], second: tuple[Array, Array], limit: float
) -> tuple[str, bool]:
    """What came with the second batch in words, empty where it is right; and whether it must be wrong."""
    one, own = first[1].T @ first[0], second[1].T @ second[0]
    if any(relative_error(both, right) <= limit for right in (own, one + own, (one + own) / 2)):
        return "", False
    kept, turned = second[1].T @ first[0], first[1].T @ second[0]
    for words, value in (
        ("the first batch's once more: what comes later is not added until gradients are cleared", one),
        ("its dy with the first batch's x, which was kept", kept),
        ("its dy with the first batch's x, which was kept, added to the first's", one + kept),
        ("the first batch's dy with its x", turned),
        ("nothing", np.zeros_like(one)),
        ("the first batch's counts twice in the sum", 2 * one + own),
        ("its own counts twice in the sum", one + 2 * own),
        ("the first batch's is taken off its own", own - one),
    ):  # fmt: skip
        if np.abs(both - value).max() <= _SAME * float(np.abs(one).max()):
            return words, True
    parts = np.stack([one.ravel(), own.ravel()], axis=1)
    shares = np.linalg.lstsq(parts, both.ravel(), rcond=None)[0]
    if np.abs(parts @ shares - both.ravel()).max() <= _SAME * float(np.abs(one).max()):
        return f"{shares[0]:.4g} times the first's and {shares[1]:.4g} times its own", False
    return "neither its own nor the sum of both", False
