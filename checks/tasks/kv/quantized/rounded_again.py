"""Whether the oldest tokens lose more and more as others come: codes that are made anew of codes.

What brings all of its codes to a new scale whenever a segment is full, or a number is larger than those
before, rounds what it has rounded already. One prompt does not show it, and numbers that grow fast hide it.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.quantized.coder import CacheCoder
from judge_tui.checks.tasks.kv.quantized.held import SLACK, Judged
from judge_tui.checks.tasks.kv.quantized.truth import even

__all__ = ["judge_oldest"]

Array = npt.NDArray[np.float32]
#: Tokens that come one by one, after how many it is looked, how many are the oldest, and how they grow.
_LOOKS, _OLDEST, _GROWTH = (32, 96, 160, 224, 320), 32, 3.0
_WIDTH = 64


def judge_oldest(job: Judged) -> None:
    """Hold the oldest of many tokens, slowly growing ones, to half a step of a scale that all may share.

    Args:
        job: A quantized cache.
    """
    coder = job.coder
    if not isinstance(coder, CacheCoder) or job.wrong:
        return
    tokens = _LOOKS[-1]
    shape, rng = (1, coder.heads, tokens, _WIDTH), job.draw("oldest", job.told)
    growth = np.linspace(1.0, _GROWTH, tokens, dtype=np.float32)[None, None, :, None]
    k, v = even(rng, shape) * growth, even(rng, shape) * growth
    quantity = f"{job.label}: the oldest {_OLDEST} of {tokens} tokens, one by one: |x − dequantized| in steps"
    try:
        seen = _seen(job, k.astype(np.float32), v.astype(np.float32))
    except (Raised, BadResult, Skipped) as fault:
        job.found.note(quantity, "not judged", note=fault.message)
        return
    table = (("tokens", "steps off"), *((str(count), f"{off:.3g}") for count, off in seen))
    ok = job.found.limit(
        quantity, seen[-1][1], 0.5 * SLACK, table=table, **coder.where,
        note="steps of absmax scaling over all that is held by then: any scale may be shared by all of it",
    )  # fmt: skip
    if not ok:
        grown = all(later[1] >= earlier[1] for earlier, later in pairwise(seen))
        told = ", ".join(f"{off:.2g} after {count}" for count, off in seen)
        why = ": they are rounded again as others come" if grown and seen[0][1] <= 0.5 * SLACK else ""
        job.wrong.append(f"the oldest {_OLDEST} tokens are {told} steps off{why}")


def _seen(job: Judged, k: Array, v: Array) -> list[tuple[int, float]]:
    """How far the oldest tokens are off after so many, in steps of absmax scaling over all of these.

    Raises:
        Fault: What the submission did.
    """
    assert isinstance(job.coder, CacheCoder)
    cached, start, seen = job.coder.opened(k.shape, job.told), 0, []
    for count in _LOOKS:
        part = k[:, :, start:count], v[:, :, start:count]
        cached.feed(np.zeros_like(part[0]), *part, whole=False)
        start = count
        step = 2.0 * job.half * max(float(np.abs(x[:, :, :count]).max()) for x in (k, v))
        pairs = zip(cached.stored(0), (k, v), strict=True)
        off = max(float(np.abs(got[:, :, :_OLDEST] - x[:, :, :_OLDEST]).max()) for got, x in pairs)
        seen.append((count, off / step))
    return seen
