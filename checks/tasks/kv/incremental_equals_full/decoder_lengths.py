"""A decoder that is wrong at some length: from which on, and what has become of the rows that it stored."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.faces.projections import Shape
from judge_tui.checks.tasks.kv.faces.slots import arrays
from judge_tui.checks.tasks.kv.faces.storage import holds_codes
from judge_tui.checks.tasks.kv.incremental_equals_full.kept_rows import moved
from judge_tui.checks.tasks.kv.incremental_equals_full.turning import from_where
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tolerance import relative_error

__all__ = ["told_lengths"]

Array = npt.NDArray[Any]
#: Tokens of the first prompt, and steps after a longer one.
_PROMPT = 4
#: The share of the budget that must be left for looking closer.
_LEFT = 0.4


def told_lengths(subject: Subject, max_len: int, given: Array, limit: float) -> str:
    """How long what is fed may be, and where rows have gone, as the end of a sentence.

    Args:
        subject: What is judged.
        max_len: Room that decoders are made with; 0 as they are made elsewhere.
        given: (1, N) ids, or (1, N, E), whose prompt differs from the same in steps.
        limit: Relative error of a right answer.
    """
    bench = subject.bench
    if bench.left < _LEFT * bench.budget:
        return ""
    room: dict[str, Any] = {"max_len": max_len} if max_len else {}
    make = subject.maker(**room)
    try:
        first, words = _first_wrong(make, given, limit)
    except Fault:
        return ""
    one_layer = "decoder" in subject.bound and subject.bound["decoder"].takes("layers")
    try:
        alone = subject.maker(layers=1, **room) if one_layer else make
        cause = _moved(alone, given[:, :first]) if first > _PROMPT else ""
    except Fault:
        cause = ""
    return f": {words}{f'; {cause}' if cause else ''}"


def _first_wrong(make: Maker, given: Array, limit: float) -> tuple[int, str]:
    """The first wrong length, in steps from a few tokens on; else with few steps behind a prompt."""
    whole = given.shape[1]
    decoder, steps = make(1), {_PROMPT: make(1).prefill(given[:, :_PROMPT])}
    decoder.prefill(given[:, :_PROMPT])
    for t in range(_PROMPT, whole):
        steps[t + 1] = decoder.decode(given[:, t])

    def in_steps(length: int) -> bool:
        return not relative_error(steps[length], make(1).prefill(given[:, :length])) <= limit

    def behind(length: int) -> bool:
        other = make(1)
        out = other.prefill(given[:, : length - _PROMPT])
        for t in range(length - _PROMPT, length):
            out = other.decode(given[:, t])
        return not relative_error(out, make(1).prefill(given[:, :length])) <= limit

    if in_steps(whole):
        return from_where(in_steps, _PROMPT, whole)
    first, words = from_where(behind, 2 * _PROMPT, whole)
    return first, f"of {_PROMPT} steps behind a prompt the last is {words}"


def _moved(make: Maker, given: Array) -> str:
    """What has become of rows that were stored: in the last step, or with a prompt against steps."""
    tokens = given.shape[1]
    decoder, prompted = make(1), make(1)
    empty = arrays(decoder)
    decoder.prefill(given[:, :_PROMPT])
    for t in range(_PROMPT, tokens - 1):
        decoder.decode(given[:, t])
    before = arrays(decoder)
    decoder.decode(given[:, -1])
    after = arrays(decoder)
    if told := moved(_shape(decoder), empty, after, before, tokens - 1):
        return f"the step that adds token {tokens - 1} changes what was stored before it: {told}"
    if holds_codes(decoder.worker, decoder.roots):
        # the newest tokens alone lie there as they are, and which these are follows from how they came
        return ""
    none = arrays(prompted)
    prompted.prefill(given)
    stored = arrays(prompted)
    for words, (got, truth) in {
        "in the prompt's cache, but not after steps": (stored, after),
        "in the cache after steps, but not after the prompt": (after, stored),
    }.items():
        told = moved(_shape(prompted), {**empty, **none}, got, truth, tokens)
        if told and not told.endswith(": wrong"):
            return f"{words}: {told}"
    return ""


def _shape(decoder: Decoder) -> Shape:
    sizes = decoder.sizes
    return Shape(sizes.heads, sizes.kv_heads or sizes.heads, sizes.embed // sizes.heads)
