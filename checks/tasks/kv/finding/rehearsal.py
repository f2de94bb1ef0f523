"""Ways of calling that were guessed: tried small before what they raise counts.

A binding is settled by single tokens in equal numbers. That several tokens may go in at once, onto what is
stored, in different numbers per sequence, or in float64, is a guess. Where such a call raises or answers in
another shape, the same way is gone once more, small, in a process of its own: if that fails as well, nothing
says that the call is meant to be made so, and what depends on it is skipped, never failed.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.ways import Way
from judge_tui.checks.tasks.kv.words.draws import cut, drawn
from judge_tui.checks.tasks.kv.words.sizes import Sizes

__all__ = ["goes"]

_STORED, _SEVERAL = 2, 3
#: Seconds of one rehearsal.
_BUDGET = 8.0


def goes(worker: Worker, bound: Mapping[str, Binding], way: Way, bits: int = 8) -> bool:
    """Whether a small call of the same way comes back, in the shape that is expected.

    Args:
        worker: A process that holds the submission, and nothing of the run that is judged.
        bound: Role → binding.
        way: How the call is made.
        bits: Of a code, for caches that quantize.
    """
    sizes = Sizes(2, 3, 32, 8, way.dtype, bits=bits)
    stored, tokens = _STORED if way.onto else 0, _SEVERAL if way.several else 1
    try:
        cached = Cached(worker, bound, sizes, lambda: _BUDGET)
        stream = drawn(np.random.default_rng(20), cached.sizes, stored + tokens)
        cached.feed(*cut(stream, 0, stored), whole=False)
        counts = np.array([tokens, tokens - 1]) if way.ragged else None
        cached.feed(*cut(stream, stored, stored + tokens), counts)
    except Fault:
        return False
    return True
