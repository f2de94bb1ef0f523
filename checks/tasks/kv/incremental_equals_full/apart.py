"""Whether caches that live at once keep apart, and whether what is handed over stays as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.remote import Handle
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Skipped
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.limits import float32_limit
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tasks.kv.words.sentences import Sentences
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge_apart"]

Array = npt.NDArray[Any]
_STEPS = 5


def judge_apart(subject: Subject, found: Findings, said: Sentences) -> None:
    """Feed two caches by turns, each against its own tokens; read q, k and v back after every call.

    Where one cache serves all (nothing makes it, and no call hands it over) there are no two.
    """
    sizes = subject.sizes(2, _STEPS + 3)
    caches = [subject.cached(sizes) for _ in range(2)]
    streams = [drawn(subject.bench.rng("apart", n), sizes, _STEPS) for n in range(2)]
    caches[0].touched = caches[1].touched = touched = set[str]()
    worst = 0.0
    for t in range(_STEPS):
        for cached, stream in zip(caches, streams, strict=True):
            error = _fed(cached, stream, t)
            worst = error if not error <= worst else worst
        if _one_for_all(caches[0]):
            break
    else:
        _told(subject, found, said, worst)
    found.claim(
        "queries, keys and values that are handed over stay as they are", not touched,
        measured=f"{', '.join(sorted(touched))} changed" if touched else "unchanged", limit="unchanged",
        **subject.where("step", "append"),
    )  # fmt: skip
    if touched:
        said.append(f"the arrays that are handed over are changed in place: {', '.join(sorted(touched))}")


def _one_for_all(cached: Cached) -> bool:
    state = cached.states[0]
    return state is None or (
        isinstance(state, Handle) and cached.worker.describe(state).get("kind") == "none"
    )


def _told(subject: Subject, found: Findings, said: Sentences, worst: float) -> None:
    quantity = "two caches fed by turns: each against its own tokens, largest relative error, float32"
    if not found.limit(quantity, worst, float32_limit(subject), **subject.where("create")):
        said.append(f"two caches that live at once share what they hold: rows are off by {worst:.2g}")


def _fed(cached: Cached, stream: tuple[Array, Array, Array], t: int) -> float:
    q, k, v = stream
    now = slice(t, t + 1)
    out = cached.feed(q[:, :, now], k[:, :, now], v[:, :, now])
    if cached.mode != "read":
        return relative_error(out, attention(q[:, :, now], k[:, :, : t + 1], v[:, :, : t + 1]))
    errors = []
    for b in range(cached.sizes.batch):
        try:
            held = cached.stored(b)
        except Skipped:
            return 0.0
        rows = (x[b : b + 1, :, : t + 1].astype(float) for x in (k, v))
        errors += [relative_error(x, y) for x, y in zip(held, rows, strict=True)]
    return float(np.max(errors))
