"""A quantized cache that only attends: what its answers show of its codes, and its bytes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.tasks.kv.quantized import other_calls
from judge_tui.checks.tasks.kv.quantized.coder import CacheCoder
from judge_tui.checks.tasks.kv.quantized.held import SLACK, forgiven
from judge_tui.checks.tasks.kv.quantized.magnitudes import LOST, border
from judge_tui.checks.tasks.kv.quantized.magnitudes import SIZES as LARGEST
from judge_tui.checks.tasks.kv.quantized.ranges import SIZES, moved, small
from judge_tui.checks.tasks.kv.quantized.store import named_bits
from judge_tui.checks.tasks.kv.quantized.truth import absmax, drawn_shape, even
from judge_tui.checks.tasks.kv.words.reference import attention, nearly
from judge_tui.checks.verdict import Verdict

__all__ = ["judge_answers"]

Array = npt.NDArray[np.float32]
_TOKENS = (20, 32)
_DRAWS = 3
#: Tokens by which a mistake is told, and how far off it, relatively, codes leave an answer.
_FEW, _NEAR = 5, 0.2
#: Attention's error over that with absmax scaling: beyond the first a coarser scale, beyond the second wrong.
_COARSE, _WRONG = 1.5, 4.0
#: About what keys and the negative of values lie, in standard deviations.
_KINDS = ((0.0, "normal numbers"), (4.0, "numbers about ±4"), (-5.0, "numbers about ∓5"))
#: Fewer bytes than this for a number, and the numbers must be elsewhere.
_VISIBLE = 0.2
_GONE = "are lost"


def _shape(bench: Bench, coder: CacheCoder) -> tuple[int, int, int, int]:
    batch, heads, tokens, width = drawn_shape(bench.sizes("answers"), _TOKENS)
    return batch, min(heads, coder.heads), tokens, width


def judge_answers(bench: Bench, found: Findings, coder: CacheCoder, told: int) -> str:
    """Values by attention over one token, all of it by attention over many, and bytes.

    Args:
        bench: Where it is judged.
        found: Gathers the evidence.
        coder: The cache.
        told: Bits to make it with; 0 when it takes none.

    Returns:
        What is wrong, or what was measured.
    """
    weight = coder.weight(told)
    known = weight is not None and weight.each >= _VISIBLE
    bits = told or named_bits(coder.name) or (4 if known and weight is not None and weight.each < 0.8 else 8)
    label = f"{coder.name}, {bits} bits"
    found.note(f"{label}: codes are handed out", "no", note="It is judged by its answers alone.")
    value, words = _values(bench, found, coder, told, bits, label)
    fine = found.limit(
        f"{label}: attention over one token against its value: largest difference over its limit",
        value, 1.0, **coder.where,
        note=f"limit: {SLACK} × half a step of absmax scaling per token and head; worst: {words}",
    )  # fmt: skip
    share, kind = max((_attention(bench, coder, told, bits, far), words) for far, words in _KINDS)
    tokens = _shape(bench, coder)[2]
    near = found.limit(
        f"{label}: attention over {tokens} tokens: error over that with absmax scaling, root mean squares",
        share, _WRONG if share > _WRONG else _COARSE,
        otherwise=Verdict.WARN if share <= _WRONG else Verdict.FAIL, note=f"worst: {kind}", **coder.where,
    )  # fmt: skip
    light = not known or weight is None or found.limit(
        f"{label}: bytes per number with its scales, head size 64", weight.each, 1.05 if bits == 4 else 2.0,
        unit="B", note=weight.how, table=weight.table,
        otherwise=Verdict.FAIL if weight.each > 2.0 else Verdict.WARN, **coder.where,
    )  # fmt: skip
    if not fine and _GONE in words:
        return f"{label}: {words}"
    if not fine:
        return f"{label}: a value comes back {value:.3g} times as far off as absmax scaling allows ({words})"
    if not near:
        cause = _mistake(bench, coder, told) or kind
        return f"{label}: attention has {share:.3g} times the error of absmax scaling, {cause}"
    bytes_ = f"{weight.each:.3g} bytes per number with its scales" if known and weight else "bytes unknown"
    if not light:
        return f"{label}: {bytes_}"
    if other := other_calls.judge(bench, found, coder, told):
        return f"{label}: {other}"
    return (
        f"{label}: hands out no codes; its attention has {share:.2g} × the error of absmax scaling, {bytes_}"
    )


def _values(
    bench: Bench, found: Findings, coder: CacheCoder, told: int, bits: int, label: str
) -> tuple[float, str]:
    """A single token's weight is 1, so that the answer is its value.

    Returns:
        The largest difference over its limit, and for which numbers.
    """
    limit = SLACK * 0.5 / float(2 ** (bits - 1) - 1)
    batch, heads, _tokens, width = _shape(bench, coder)
    shape = (batch, heads, 1, width)
    worst = (0.0, "numbers in ±1")

    def answers(k: Array, v: Array) -> npt.NDArray[np.float64]:
        q = rng.uniform(-1.0, 1.0, v.shape).astype(np.float32)
        return coder.opened(v.shape, told, attends=True).feed(q, k, v)

    def share(k: Array, v: Array) -> float:
        off = np.abs(answers(k, v) - v) / (limit * float(np.abs(v).max()))
        if not np.all(np.isfinite(off)):
            return np.inf
        return float(np.max(forgiven(off, v, limit)))

    def lost(size: float) -> bool:
        k, v = (even(bench.rng("within", told), shape) * np.float32(size) for _ in range(2))
        return not np.abs(answers(k, v) - v).max() < LOST * size

    for draw in range(_DRAWS):
        rng = bench.rng("one token", told, draw)
        plain = ("numbers in ±1", even(rng, shape), even(rng, shape))
        for words, k, v in (plain, *moved(rng, shape), *((w, -k, -v) for w, k, v in moved(rng, shape))):
            worst = max(worst, (share(k, v), words))
    rng = bench.rng("magnitudes", told)
    for size in LARGEST if worst[0] <= 1.0 else ():
        if lost(size):
            return np.inf, f"numbers within ±{size:g} {_GONE}; they are {border(lost, size, bits)}"
    rng = bench.rng("sizes", told)
    for width in SIZES:
        for words, k, v in small(rng, width, 1):
            try:
                worst = max(worst, (share(k, v), f"head size {width}, {words}"))
            except Raised as fault:
                found.note(f"{label}: head size {width}", "refused", note=fault.brief(160))
                break
            except BadResult as fault:
                worst = (np.inf, f"head size {width}: {fault.message}")
    return worst


def _mistake(bench: Bench, coder: CacheCoder, told: int) -> str:
    """The usual mistake that its attention over a few tokens is nearest to; empty when none."""
    shape = _shape(bench, coder)
    rng = bench.rng("mistake", told)
    q, k, v = (rng.standard_normal((*shape[:2], _FEW, shape[3])).astype(np.float32) for _ in range(3))
    out = coder.opened(k.shape, told, attends=True).feed(q, k, v, whole=False)[:, :, -1:]
    return nearly(out, q[:, :, -1:], k, v, _NEAR)


def _attention(bench: Bench, coder: CacheCoder, told: int, bits: int, far: float) -> float:
    """Error of the answers over the error that absmax scaling makes on the same tokens.

    ``far``: about what keys and values lie, in their standard deviations, from opposite sides.
    """
    own, sound = 0.0, 0.0
    for draw in range(_DRAWS if not far else 1):
        rng = bench.rng("many tokens", told, draw, int(far))
        shift, shape = (0.0, far, -far), _shape(bench, coder)
        q, k, v = ((rng.standard_normal(shape) + by).astype(np.float32) for by in shift)
        cached = coder.opened(shape, told, attends=True)
        out = cached.feed(q, k, v, whole=False)[:, :, -1:]
        last = q[:, :, -1:]
        truth = attention(last, k, v)
        own += float(np.sum((out - truth) ** 2))
        sound += float(np.sum((attention(last, absmax(k, bits), absmax(v, bits)) - truth) ** 2))
    return float(np.sqrt(own / sound)) if np.isfinite(own) else np.inf
