"""Hard ranges: an outlier channel, growing tokens, zeros and constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.kv.quantized.held import SLACK, Judged, held
from judge_tui.checks.tasks.kv.quantized.truth import drawn_shape, even, rising, wide

__all__ = ["judge_cases", "judge_zeros"]

Array = npt.NDArray[Any]
_TOKENS = 32
_OUTLIER = 50.0
#: Axes of (2, B, H, N, D) that one scale may be taken over: a head, a channel of a head, a sequence, all.
_GROUPS = ((3, 4), (3,), (2, 3, 4), (1, 2, 3, 4))


def judge_cases(job: Judged) -> None:
    """A channel that is fifty times larger, and tokens that grow, fed one by one."""
    rng = job.draw("cases", job.told)
    shape = drawn_shape(job.bench.sizes("cases", job.told), _TOKENS)
    channel = int(rng.integers(0, shape[3]))
    k, v = (wide(rng, shape, channel, _OUTLIER) for _ in range(2))
    x = np.stack([k, v])
    limit = SLACK * job.half * np.abs(x).max(axis=-1, keepdims=True)
    held(job, f"channel {channel} is {_OUTLIER:g} times larger", k, v, limit, whole=True)
    k, v = rising(rng, shape), rising(rng, shape)
    x = np.stack([k, v])
    # Any scale may be shared by all that is stored, so the largest number of all sets the limit.
    limit = SLACK * job.half * np.full((*x.shape[:-1], 1), np.abs(x).max())
    back = held(job, "tokens that grow to 285 times the first, one by one", k, v, limit, whole=False)
    if first := _cut_off(x.astype(np.float64), back, SLACK * job.half):
        reached = "the first reaches" if first == 1 else f"the first {first} reach"
        job.wrong.insert(0, f"later tokens are cut off at what {reached}: the scale stays as it was")


def _cut_off(x: Array, back: Array, share: float) -> int:
    """Tokens after which a scale stays as it is, so that larger numbers saturate; 0 where it does not.

    Args:
        x: (2, B, H, N, D), what went in, token by token larger.
        back: What came back.
        share: Of the largest number that is held, how far off one may be.
    """
    for group in _GROUPS:
        end = np.abs(back).max(axis=group, keepdims=True)
        if not np.all(np.abs(back - np.clip(x, -end, end)) <= 2 * share * end):
            continue
        within = np.abs(x).max(axis=(4,), keepdims=True) <= (1 + share) * end.max(axis=4, keepdims=True)
        first = int(np.median(within.sum(axis=3)))
        return first if 0 < first < x.shape[3] else 0
    return 0


def judge_zeros(job: Judged) -> None:
    """A prompt of zeros, zero tokens among others, and one number all over."""
    rng = job.draw("zero", job.told)
    shape = drawn_shape(job.bench.sizes("zero", job.told), _TOKENS)
    nothing = np.zeros(shape, np.float32)
    back = job.back(nothing, nothing)
    worst = float(np.abs(back).max())
    ok = job.found.limit(
        f"{job.label}: keys and values of zeros: largest |dequantized|", worst, 1e-6, **job.coder.where
    )
    if not ok:
        job.wrong.append(f"zeros come back as {worst:.3g}")
    k, v = even(rng, shape), even(rng, shape)
    for x in (k, v):
        x[:, :, 5:9] = 0.0
    limit = np.full((2, *shape[:3], 1), SLACK * job.half)
    held(job, "four tokens of zeros among others", k, v, limit, whole=True)
    same = np.full(shape, 0.7, np.float32)
    held(job, "0.7 all over", same, same, 0.7 * limit, whole=True)
