"""Attention of a quantized cache against attention over the keys and values that it gives back."""

from __future__ import annotations

import numpy as np
from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.tasks.kv.judging import precision
from judge_tui.checks.tasks.kv.quantization.coder import CacheCoder
from judge_tui.checks.tasks.kv.reference import attention, diagnosis, plain
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge_attention"]

_SHAPE = (2, 3, 9, 16)
#: About what keys and the negative of values lie, in standard deviations.
_KINDS = ((0.0, "normal numbers"), (4.0, "numbers about ±4"))


def judge_attention(bench: Bench, found: Findings, coder: CacheCoder, told: int) -> str:
    """Feed nine tokens, attend with the last; once more with keys and values far from zero.

    Args:
        bench: Where it is judged.
        found: Gathers the evidence.
        coder: The cache.
        told: Bits to make it with; 0 when it takes none.

    Returns:
        What is wrong; empty when nothing is, or it does not attend.
    """
    for far, words in _KINDS:
        if said := _one(bench, found, coder, told, far, words):
            return said
    return ""


def _one(bench: Bench, found: Findings, coder: CacheCoder, told: int, far: float, words: str) -> str:
    rng = bench.rng("attention", told, int(far))
    shift = (0.0, far, -far)
    q, k, v = ((rng.standard_normal(_SHAPE) + by).astype(np.float32) for by in shift)
    attends = "attend" in coder.found
    cached = coder.opened(_SHAPE, told, attends=attends)
    out = cached.feed(q, k, v, whole=False)[:, :, -1:]
    pairs = [cached.stored(b) for b in range(_SHAPE[0])]
    keys, values = (np.concatenate([pair[i] for pair in pairs]) for i in (0, 1))
    last = q[:, :, -1:]
    truth, whole = attention(last, keys, values), attention(last, k, v)
    found.note(
        f"{coder.name}: attention over its dequantized keys and values against the same over those that went "
        "in, largest relative error", relative_error(truth, whole), note=f"{words}, head size 16",
    )  # fmt: skip
    if not attends:
        return ""
    limit = precision("float32").limit(relative_error(plain(last, keys, values), truth))
    error = relative_error(out, truth)
    cause = "" if error <= limit else diagnosis(out[:1], last[:1], keys[:1], values[:1])
    if error > limit and not cause and relative_error(out, whole) <= limit:
        cause = "it attends over what went in, not over what it keeps"
    found.limit(
        f"{coder.name}: its attention against attention over what it gives back, {words}: "
        "largest relative error", error, limit, note=cause, **coder.where,
    )  # fmt: skip
    return (
        ""
        if error <= limit
        else f"its attention is {error:.2g} off that over its dequantized keys{cause and ': ' + cause}"
    )
