"""A call that takes an axis of tokens and keeps the first of several alone, without a word."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.cached import TICKS
from judge_tui.checks.tasks.kv.limits import float32_limit
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["judge"]

_TOKENS, _ROOM = 3, 8


def judge(subject: Subject, found: Findings, said: list[str]) -> None:
    """Hand three tokens to what takes one at a time, in an axis for them: it keeps all, or refuses."""
    if not _may_take_several(subject):
        return
    many = replace(subject.bound["append"], role="append_many")
    asked = replace(subject, bound={**subject.bound, "append_many": many})
    sizes = asked.sizes(2, _ROOM, layers=1)
    cached = asked.cached(sizes)
    _q, k, v = drawn(subject.bench.rng("several"), sizes, _TOKENS)
    try:
        cached.feed(np.zeros_like(k), k, v)
    except (Raised, Skipped) as fault:
        found.note(f"{_TOKENS} tokens with one call", fault.message)
        return
    except BadResult:
        # what attends, or reads at once, has seen that some are missing
        pass
    kept = True
    try:
        for b in range(sizes.batch):
            pairs = zip(cached.stored(b), (k, v), strict=True)
            errors = [relative_error(got, x[b : b + 1].astype(float)) for got, x in pairs]
            kept = kept and all(error <= float32_limit(subject) for error in errors)
    except (Raised, BadResult, Skipped):
        kept = False
    fine = found.claim(
        f"{_TOKENS} tokens with one call: all kept, or refused", kept,
        measured="all kept" if kept else "no error, and they are not all there", limit="all, or an error",
        otherwise=Verdict.WARN, **subject.where("append"),
    )  # fmt: skip
    if not fine:
        said.append(f"{_TOKENS} tokens with one call: no error, and they are not all kept")


def _may_take_several(subject: Subject) -> bool:
    """Whether a call has an axis for tokens, takes one, and what it keeps can be read back."""
    bound = subject.bound
    append = bound.get("append")
    if append is None or {"append_many", "step", *TICKS} & set(bound):
        return False
    return subject.mode in ("read", "attention") and "N" in append.layout and not append.takes("sequence")
