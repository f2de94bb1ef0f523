"""Attention of a quantized cache against attention over the keys and values that it gives back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.gqa.shared_heads import claims_sharing
from judge_tui.checks.tasks.kv.limits import precision
from judge_tui.checks.tasks.kv.quantized import other_calls
from judge_tui.checks.tasks.kv.quantized.coder import CacheCoder
from judge_tui.checks.tasks.kv.quantized.products import rounded
from judge_tui.checks.tasks.kv.quantized.truth import drawn_shape
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.reference import attention, diagnosis, plain
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge_attention"]

_TOKENS, _WIDTH = (7, 14), 16
#: About what keys and the negative of values lie, in standard deviations.
_KINDS = ((0.0, "normal numbers"), (4.0, "numbers about ±4"))


def judge_attention(bench: Bench, found: Findings, coder: CacheCoder, told: int) -> str:
    """Feed a few tokens, attend with the last; once more with keys and values far from zero.

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
    return _shared(bench, found, coder, told) or other_calls.judge(bench, found, coder, told)


def _shape(bench: Bench, coder: CacheCoder) -> tuple[int, int, int, int]:
    batch, heads, tokens, width = drawn_shape(bench.sizes("attention"), _TOKENS, _WIDTH)
    return batch, min(heads, coder.heads), tokens, width


def _asked(bench: Bench, coder: CacheCoder) -> CacheCoder | None:
    """The cache with what attends over it: of its own, or the step of the plain cache of its class.

    ``None`` where nothing does.
    """
    if {"attend", "step"} & set(coder.bound):
        return coder
    plain_cache = bench.bindings.found
    if not {"create", "step"} <= set(plain_cache) or "read" not in coder.bound:
        return None
    if plain_cache["create"].target != coder.bound["create"].target:
        return None
    bound = {name: coder.bound[name] for name in ("create", "add", "read") if name in coder.bound}
    bound |= {name: plain_cache[name] for name in ("step", "step_many") if name in plain_cache}
    return replace(coder, bound=bound)


def _shared(bench: Bench, found: Findings, coder: CacheCoder, told: int) -> str:
    """Four heads of queries over two of keys and values, where the cache says that heads are shared."""
    asked = _asked(bench, coder)
    if asked is None or not claims_sharing(Subject(bench, dict(asked.bound))):
        return ""
    rng, (batch, _heads, tokens, width) = bench.rng("shared", told), _shape(bench, coder)
    q, k, v = (rng.standard_normal((batch, n, tokens, width)).astype(np.float32) for n in (4, 2, 2))
    try:
        cached = asked.opened(k.shape, told, attends=True, query_heads=4)
        out = cached.feed(q, k, v, whole=False)[:, :, -1:]
        pairs = [cached.stored(b) for b in range(batch)]
    except (Raised, BadResult, Skipped) as fault:
        found.note(f"{coder.name}: 4 query heads over 2", "does not run so", note=fault.message)
        return ""
    keys, values = (np.concatenate([pair[i] for pair in pairs]) for i in (0, 1))
    last = q[:, :, -1:]
    truth = attention(last, keys, values)
    limit = precision("float32").limit(relative_error(plain(last, keys, values), truth))
    error = relative_error(out, truth)
    fine = found.limit(
        f"{coder.name}: its attention with 4 query heads over 2 against attention over what it gives back: "
        "largest relative error", error, limit, **coder.where,
    )  # fmt: skip
    return "" if fine else f"its attention with 4 query heads over 2 is {error:.2g} off"


def _one(bench: Bench, found: Findings, coder: CacheCoder, told: int, far: float, words: str) -> str:
    rng = bench.rng("attention", told, int(far))
    shift, shape = (0.0, far, -far), _shape(bench, coder)
    q, k, v = ((rng.standard_normal(shape) + by).astype(np.float32) for by in shift)
    asked = _asked(bench, coder)
    attends = asked is not None
    cached = (asked or coder).opened(shape, told, attends=attends)
    out = cached.feed(q, k, v, whole=False)[:, :, -1:]
    pairs = [cached.stored(b) for b in range(shape[0])]
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
    if error > limit and not cause:
        cause = rounded(out, last, keys, values, limit)
    found.limit(
        f"{coder.name}: its attention against attention over what it gives back, {words}: "
        "largest relative error", error, limit, note=cause, **coder.where,
    )  # fmt: skip
    return (
        ""
        if error <= limit
        else f"its attention is {error:.2g} off that over its dequantized keys{cause and ': ' + cause}"
    )
