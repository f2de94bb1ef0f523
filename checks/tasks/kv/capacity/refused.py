"""A prompt that is refused: none of its tokens stays behind, in front of those that come next.

Earlier data is intact all the same, and whoever is refused may begin anew: what stays behind only warns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.finding.readings import many_layouts
from judge_tui.checks.tasks.kv.limits import float32_limit
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["judge"]

Array = npt.NDArray[Any]
#: Tokens that are there, tokens of a prompt for which there is no room, and tokens behind it.
_BEFORE, _PROMPT, _AFTER = 5, 5, 3


def judge(subject: Subject, found: Findings, said: list[str]) -> None:
    """Hand a cache more tokens in one call than fit behind what is there, and then as many as do, by turns.

    Args:
        subject: The submission's cache, which is told how many tokens it has room for.
        found: Gathers the evidence.
        said: What is odd is put behind all else.
    """
    limit, where = float32_limit(subject), subject.where("append_many", "step_many", "append", "step")
    quantity = (
        f"{_AFTER} tokens behind {_BEFORE} and a prompt of {_PROMPT} that was refused: largest relative error"
    )
    form = next((form for form in _forms(subject) if _goes(form, limit)), None)
    if form is None:
        return
    try:
        error, how = _then(form, refused=True)
    except (Raised, BadResult, Skipped) as fault:
        found.note(quantity, "not judged", note=fault.message)
        return
    if not found.limit(quantity, error, limit, note=how, otherwise=Verdict.WARN, **where):
        then = how or f"{_AFTER} tokens that come next are off by {error:.2g}"
        refused = f"a prompt of {_PROMPT} tokens that is refused where {_AFTER} have room"
        said.append(f"{refused} leaves some of them behind: {then}")


def _goes(subject: Subject, limit: float) -> bool:
    """Whether as many tokens as fit go in with one call, and are there."""
    try:
        return _then(subject, refused=False)[0] <= limit
    except (Raised, BadResult, Skipped):
        return False


def _then(subject: Subject, *, refused: bool) -> tuple[float, str]:
    """How far off the tokens are that come next, and what they are answered with, if that is an error.

    Raises:
        Skipped: Several tokens do not go in with one call, or they are not refused.
        Fault: What the submission did before.
    """
    sizes = subject.sizes(1, _BEFORE + _AFTER, layers=1)
    cached = subject.cached(sizes)
    if not cached.can_feed_many:
        raise Skipped("several tokens do not go in with one call")
    q, k, v = drawn(subject.bench.rng("refused"), sizes, _BEFORE + _PROMPT)
    cached.feed(*(x[:, :, :_BEFORE] for x in (q, k, v)), whole=False)
    if refused:
        _refuse(cached, *(x[:, :, _BEFORE:] for x in (q, k, v)))
    q, k, v = (np.concatenate([x[:, :, :_BEFORE], x[:, :, -_AFTER:]], axis=2) for x in (q, k, v))
    try:
        out = cached.feed(*(x[:, :, _BEFORE:] for x in (q, k, v)), whole=not refused)
    except Raised as fault:
        return float("nan"), fault.brief(90)
    if cached.mode != "read":
        return relative_error(out[:, :, -1:], attention(q[:, :, -1:], k, v)), ""
    pairs = zip(cached.stored(0), (k, v), strict=True)
    return float(np.max([relative_error(got, x.astype(float)) for got, x in pairs])), ""


def _forms(subject: Subject) -> Iterator[Subject]:
    """The cache as it takes several tokens in one call: without what attends, where that is a call apart."""
    bound = subject.bound
    if not {"append", "append_many", "read", "attend"} <= set(bound):
        yield subject
        return
    # an attention that takes one query has not shown the axis order of several tokens
    many = bound["append_many"]
    for layout in dict.fromkeys([many.layout, *many_layouts(many, bound["append"].layout)]):
        stored = {name: binding for name, binding in bound.items() if name != "attend"}
        yield replace(subject, bound={**stored, "append_many": replace(many, layout=layout)})


def _refuse(cached: Cached, *new: Array) -> None:
    """Feed what does not fit.

    Raises:
        Skipped: It fits, or is taken in another way.
    """
    counts = cached.counts.copy()
    try:
        cached.feed(*new)
    except Raised:
        cached.counts = counts
        return
    raise Skipped("a prompt for which there is no room is not refused")
