"""Sequences that leave a cache and others in their place: what the first left must not be seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.limits import float32_limit
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge"]

Array = npt.NDArray[Any]
_BEFORE, _AFTER = 3, 2
#: Sequences in the order in which they are let go; the last row always stays.
_GOING = (("two leave, two come", (0, 1)), ("one is freed twice", (1, 0, 0)), ("the first twice", (0, 0, 1)))


def judge(subject: Subject, found: Findings, said: list[str]) -> None:
    """Let sequences go, others come, and hold every row against what it was fed itself."""
    if not {"add", "free"} <= set(subject.bound):
        return
    wrong = [words for number, _case in enumerate(_GOING) if (words := _judged(subject, found, number))]
    said[:0] = wrong[:1]
    if not wrong:
        said.append("what a sequence held that left is not seen by the next")


def _judged(subject: Subject, found: Findings, number: int) -> str:
    """One way to go and come; what is wrong, empty when nothing is."""
    words, going = _GOING[number]
    limit, where = float32_limit(subject), subject.where("free", "add")
    quantity = f"{words}, {_AFTER} tokens each: largest relative error against what each was fed itself"
    rng = subject.bench.rng("reuse", words)
    try:
        if not _off(subject, rng, ()) <= limit:
            found.note(quantity, "not judged", note="its answers are wrong before a sequence leaves")
            return ""
        error = _off(subject, rng, going)
    except Skipped as fault:
        found.note(quantity, fault.message)
        return ""
    except (Raised, BadResult) as fault:
        place = {"file": fault.file, "line": fault.line} if fault.file else where
        found.claim(quantity, False, measured=fault.brief(160), limit="room for as many as went", **place)
        return f"{words}: {fault.brief(90)}"
    right = found.limit(quantity, error, limit, **where)
    return "" if right else f"{words}: a row is off by {error:.2g} from what it was fed itself"


def _off(subject: Subject, rng: np.random.Generator, going: tuple[int, ...]) -> float:
    """The worst error of the rows after ``going`` went and as many came."""
    sizes = subject.sizes(3, 8, layers=1)
    cached = subject.cached(sizes)
    stream = drawn(rng, sizes, _BEFORE + _AFTER)
    cached.feed(*(x[:, :, :_BEFORE] for x in stream), whole=False)
    gone: set[int] = set()
    for b in going:
        try:
            cached.free(b)
        except Raised:
            if b not in gone:
                raise
        gone.add(b)
    for b in sorted(gone):
        cached.add(b)
    out = cached.feed(*(x[:, :, _BEFORE:] for x in stream), whole=False)
    return _worst(cached, out, stream, gone)


def _worst(cached: Cached, out: Array, stream: tuple[Array, Array, Array], gone: set[int]) -> float:
    errors = []
    for b in range(cached.sizes.batch):
        q, k, v = (x[b : b + 1, :, _BEFORE if b in gone else 0 :] for x in stream)
        if cached.mode == "read":
            pairs = zip(cached.stored(b), (k, v), strict=True)
            errors += [relative_error(got, fed.astype(float)) for got, fed in pairs]
        else:
            errors.append(relative_error(out[b : b + 1, :, -1:], attention(q[:, :, -1:], k, v)))
    return float("nan") if np.isnan(errors).any() else max(errors)
