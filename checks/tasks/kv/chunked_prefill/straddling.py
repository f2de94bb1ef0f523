"""Calls of several tokens that begin inside a piece of room and end behind it, as a source cuts its room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.refusing import refusal
from judge_tui.checks.tasks.kv.faces.fed import Fed
from judge_tui.checks.tasks.kv.limits import float32_limit, precision
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge"]

Array = npt.NDArray[Any]
#: Two calls that are right wherever there is room.
_FEW = (4, 7)
#: The least and the largest integer of a source about which calls are made, and of how many.
_LEAST, _MOST, _MANY = 5, 64, 2
#: How many times the limit answers are off at most that are summed up in another order.
_NEAR = 10
#: Beside these.
_USUAL = (11, 45)


def judge(subject: Subject, found: Findings) -> str:
    """Feed two calls of many sizes, of which the same tokens one by one go in rightly.

    Args:
        subject: The submission's cache, decoder, or both.
        found: Gathers the evidence.

    Returns:
        What is wrong; empty when nothing is, or two calls never go.
    """
    said = ""
    for words, runs in (("decoder: ", _of_decoder), ("", _of_cache)):
        for first, second in _calls(subject):
            said = said or _told(subject, found, words, runs, first, second)
    return said


def _calls(subject: Subject) -> Iterator[tuple[int, int]]:
    yield _USUAL
    values = (one.value for one in sorted(subject.bench.integers, key=lambda one: -one.doubt))
    known = dict.fromkeys(value for value in values if _LEAST <= value <= _MOST)
    for value in [*known][:_MANY]:
        yield value - 3, 7
        yield value // 3, value + value // 2


def _told(subject: Subject, found: Findings, words: str, runs: Any, first: int, second: int) -> str:
    """What is wrong with two calls, where two small ones, and the same tokens one by one, are right."""
    quantity = f"{words}calls of {first} + {second} tokens: largest relative error"
    limit = precision("float32").limit(0.0) if runs is _of_decoder else float32_limit(subject)
    try:
        own = max(runs(subject, *_FEW), runs(subject, first, second, apart=True))
    except (Raised, BadResult, Skipped):
        return ""
    if not own <= _NEAR * limit:
        return ""
    limit = _NEAR * limit
    alone = "; the same tokens one by one go in rightly"
    try:
        error = runs(subject, first, second)
    except Skipped:
        return ""
    except (Raised, BadResult) as fault:
        if isinstance(fault, Raised) and refusal(subject.bench.submission, fault):
            found.note(quantity, "refused", note=fault.message)
            return ""
        found.claim(
            quantity, False, measured=fault.message, limit="goes", file=fault.file, line=fault.line,
            output=fault.output,
        )  # fmt: skip
        return f"{words}calls of {first} + {second} tokens: {fault.placed}{alone}"
    if error <= limit:
        found.note(quantity, error, limit=limit)
        return ""
    found.limit(quantity, error, limit, **subject.where("step_many", "append_many", "prefill"))
    return f"{words}calls of {first} + {second} tokens are off by {error:.2g}{alone}"


def _of_cache(subject: Subject, first: int, second: int, *, apart: bool = False) -> float:
    """How far the last answers of a cache, and what is read back, are off.

    Raises:
        Skipped: Nothing takes several tokens.
    """
    if not subject.mode:
        raise Skipped("no cache")
    cached = subject.cached(subject.sizes(2, first + second + 2, layers=1))
    if not cached.can_feed_many or cached.prompts_apart:
        raise Skipped("one token at a time")
    rng = subject.bench.rng("straddling", first, second)
    fed = Fed.of(cached, rng, 0)
    errors = [fed.at_once(rng, first), fed.feed(rng, second) if apart else fed.at_once(rng, second)]
    return float(np.max([*errors, fed.held(), fed.feed(rng, 1), fed.held()]))


def _of_decoder(subject: Subject, first: int, second: int, *, apart: bool = False) -> float:
    """How far a decoder's last answer is off that of a prompt of all.

    Raises:
        Skipped: There is none.
    """
    if not subject.decodes:
        raise Skipped("no decoder")
    make = subject.maker(max_len=first + second + 2)
    given = make(1).draw(subject.bench.rng("straddling", first, second), first + second)
    truth, decoder = make(1).prefill(given), make(1)
    out = decoder.prefill(given[:, :first])
    if apart:
        for t in range(first, first + second):
            out = decoder.decode(given[:, t])
    else:
        out = decoder.prefill(given[:, first:])
    return relative_error(out, truth)
