"""Tokens taken back from a ring that has wrapped: refused, or none of them is seen any more."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.sharing import roll_back
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge"]

Array = npt.NDArray[np.float64]
#: What a cache is made for, and one that has room for all; what goes in, and how many of that are taken back.
_ROOM, _ROOMY, _FED, _BACK = 8, 32, 13, 3
#: How much of what is taken back may show: none, but for how sums are rounded.
_SEEN = 1e-3


def judge(subject: Subject, found: Findings) -> str | None:
    """Feed more than there is room for, take some back, and go on; once more with others taken back.

    Args:
        subject: The submission's cache.
        found: Gathers the evidence.

    Returns:
        What is wrong; empty when nothing is, ``None`` where nothing wraps.
    """
    quantity = f"{_FED} tokens past a room of {_ROOM}, {_BACK} of them taken back: how they show in the next"
    try:
        if _shows(subject, _ROOMY) > _SEEN:
            # nothing has wrapped, so that this is another mistake
            return None
        error = _shows(subject, _ROOM)
    except (Raised, BadResult, Skipped) as fault:
        found.note(quantity, "refused", note=fault.message)
        return None
    if found.limit(quantity, error, _SEEN, **subject.where("roll_back")):
        return ""
    return (
        f"{_BACK} of {_FED} tokens taken back once a ring of {_ROOM} has wrapped: they are still seen by the "
        f"next token, which they change by {error:.2g}"
    )


def _shows(subject: Subject, room: int) -> float:
    one, other = (_after(subject, room, name) for name in ("one", "other"))
    return relative_error(one, other)


def _after(subject: Subject, room: int, name: str) -> Array:
    """What is answered, or read, after the newest of many were taken back and one more came."""
    sizes = subject.sizes(1, room, layers=1)
    fed, cached = _FED, subject.cached(sizes)
    stream = list(drawn(subject.bench.rng("wrapped"), sizes, fed + 1))
    gone = slice(fed - _BACK, fed)
    for array, others in zip(
        stream[1:], drawn(subject.bench.rng("wrapped", name), sizes, _BACK)[1:], strict=True
    ):
        array[:, :, gone] = others
    cached.feed(*(x[:, :, :fed] for x in stream), whole=False)
    roll_back(cached, np.full_like(cached.counts, _BACK))
    out = cached.feed(*(x[:, :, fed:] for x in stream))
    if cached.mode != "read":
        return out
    cached.counts = np.minimum(cached.counts, room)
    return np.concatenate([*cached.stored(0)])
