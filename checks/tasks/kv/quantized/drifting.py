"""Whether tokens that are stored already come back as others once more are appended."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.kv.quantized.held import Judged

__all__ = ["drift"]

Array = npt.NDArray[Any]
#: How many times as far off a token must be at the end as after its own append.
_GROWN = 1.5
_READ = 6


def drift(job: Judged, k: Array, v: Array, off: Array, limit: float) -> str:
    """What later appends do to the token that is furthest off, as a clause; empty where they do nothing.

    Args:
        job: The store.
        k: Keys that were fed token by token, (B, H, N, D).
        v: Values likewise.
        off: How far both came back from what went in, (2, B, H, N, D).
        limit: What is far off.
    """
    x = np.stack([k, v]).astype(np.float64)
    worst = off.max(axis=(0, 1, 2, 4))
    token, tokens = int(np.argmax(worst)), k.shape[2]
    seen: list[tuple[int, float]] = []
    try:
        for count in sorted({int(n) for n in np.geomspace(1, tokens - token, _READ)}):
            end = token + count
            back = job.back(k[:, :, :end], v[:, :, :end], whole=False)
            seen.append((count - 1, float(np.abs(back - x[..., :end, :])[..., token, :].max())))
    except (Fault, ValueError, IndexError):
        return ""
    first, last = seen[0][1], float(worst[token])
    if not (np.isfinite(first) and first <= limit and last >= _GROWN * first):
        return ""
    rising = all(later >= 0.99 * earlier for (_, earlier), (_, later) in pairwise(seen))
    several = rising and len({round(error, 6) for _count, error in seen}) > 2
    behind = tokens - token - 1
    told = f"token {token} is {first:.3g} off after its own append, {last:.3g} after {behind} more"
    if several:
        return f"{told}: what is stored is changed, or rounded again, by later appends"
    return f"{told}: a later append changes what is stored"
