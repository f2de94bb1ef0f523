"""Caches that keep a window of the newest tokens: whether one does, and whether it says so."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.binding.solver import Search
from judge_tui.checks.faults import BadResult, Skipped
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tolerance import relative_error

__all__ = ["says_sinks", "says_so", "sinks_told", "slides"]

Array = npt.NDArray[Any]
_SINKS = re.compile(r"(?i)sinks?(?!horn)|(keep|first|anchor)_?(first|tokens|keep)|n_keep|anchors")
#: The same of a parameter that says how many there are.
_KEPT = re.compile(
    r"(?i)^(n_?)?(sinks?|keep|kept|pinned|anchors)(_(first|tokens|size|len|length))?$|^num_sinks?$"
)
_WINDOW = re.compile(r"(?i)sinks?(?!horn)|window|sliding|rolling|circular|ring(?=_|[A-Z]|$|cache|buffer|kv)")


def says_sinks(subject: Subject) -> bool:
    """Whether the cache, or a parameter of its making, says that its first tokens stay in a window."""
    return any(_SINKS.search(name) for name in _names(subject, "create"))


def sinks_told(subject: Subject) -> str:
    """The parameter that tells a window how many first tokens it keeps, none by default; empty if none."""
    create = subject.bound.get("create")
    params = Search(subject.bench.worker, subject.bench.worker.loaded).params(create.target) if create else ()
    return next((str(p["name"]) for p in params if p.get("default") == 0 and _KEPT.search(p["name"])), "")


def says_so(subject: Subject, *makers: str) -> str:
    """The name of the cache, or of a parameter of its making, that promises a window; empty when none.

    Args:
        subject: The submission's cache.
        makers: Roles that make it; ``create`` when left out.
    """
    return next((name for name in _names(subject, *(makers or ("create",))) if _WINDOW.search(name)), "")


def _names(subject: Subject, *makers: str) -> list[str]:
    """What is made by some roles, and the parameters of its making, by their names."""
    loaded = subject.bench.bindings.loaded
    made: list[tuple[str, Any]] = []
    for create in (subject.bound[role] for role in makers if role in subject.bound):
        # attention may be made around a cache, which says what it is
        targets = {create.target, *(a.made for a in (*create.args, *(create.init or ())) if a.made)}
        made += [
            (cls["name"], cls["params"] or ())
            for file, inventory in loaded.items()
            for cls in inventory.get("classes", ())
            if f"{file}:{cls['name']}" in targets
        ]
        made += [(i.name, i.params) for i in callables(loaded) if f"{i.file}:{i.name}" in targets]
    return [name for own, params in made for name in (own, *(p["name"] for p in params))]


def slides(
    cached: Cached, out: Array | None, q: Array, k: Array, v: Array, capacity: int, limit: float
) -> bool:
    """Whether a cache that went past its end holds the newest tokens, and answers with them.

    Args:
        cached: The cache.
        out: (B, H, T, D) what it answered; ``None`` when that could not be read.
        q: (B, H, T, D) of the tokens that went past the end.
        k: (B, G, S, D), all that was fed.
        v: As k.
        capacity: Tokens that it holds.
        limit: Of the relative error.
    """
    keys, values = k[:, :, -capacity:], v[:, :, -capacity:]
    if cached.mode != "read" and (out is not None or cached.mode != "attention"):
        return (
            out is not None and relative_error(out[:, :, -1:], attention(q[:, :, -1:], keys, values)) <= limit
        )
    fed, cached.counts = cached.counts, np.minimum(cached.counts, capacity)
    try:
        held = [cached.stored(b) for b in range(cached.sizes.batch)]
    except (BadResult, Skipped):
        return False
    finally:
        cached.counts = fed
    # A ring may give its tokens back from where it was written last.
    return any(
        all(
            relative_error(np.roll(got[i], turn, 2), x[b : b + 1].astype(float)) <= limit
            for b, got in enumerate(held)
            for i, x in ((0, keys), (1, values))
        )
        for turn in range(capacity)
    )
