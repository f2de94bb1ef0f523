"""A window of the newest tokens after it has wrapped: the same for steps, prompts and what goes on behind."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.capacity.window import says_sinks, says_so
from judge_tui.checks.tasks.kv.limits import float32_limit
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import cut, drawn
from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tasks.kv.words.seen_tokens import weight_causes
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["judge"]

#: Steps behind what went in with calls of several tokens.
_STEPS = 2
#: Stands before what a first wrong token saw.
_FIRST = ", first at "
Array = npt.NDArray[Any]
Stream = tuple[Array, Array, Array]


def judge(subject: Subject, found: Findings, said: list[str], window: int, *, continues: bool) -> None:
    """Hold steps and prompts past a window against attention over the newest tokens alone.

    Nothing is judged of a cache that promises no window, hands out what it holds and attends over nothing,
    makes room, or refuses.

    Args:
        subject: The submission's cache.
        found: Gathers the evidence.
        said: What is wrong is put in front.
        window: Tokens that it is made for.
        continues: Whether several tokens at once go behind what is stored; a call for prompts may start over.
    """
    if not says_so(subject) or subject.mode == "read":
        return
    total = 2 * window + 3
    stream = drawn(subject.bench.rng("window"), subject.sizes(2, window, layers=1), total)
    steps = _fed(subject, found, stream, window, (), "steps past a window")
    limit = float32_limit(subject)
    if steps is None or relative_error(steps, _windowed(stream, total)) <= limit:
        return
    if kept := _with_first(subject, steps, stream, window, limit):
        found.note(
            f"{total} steps past a window", kept, note="its first tokens stay, as it says", **subject.where()
        )
        return
    # whoever keeps what came before, and sees the token of the step as well, sees one more
    widths = (n for n in (window, window + 1) if relative_error(steps, _windowed(stream, n)) <= limit)
    width = next(widths, None)
    _tell(subject, found, said, f"{total} steps", steps, stream, width or window, window)
    if width is None:
        return
    _ragged(subject, found, said, window, width)
    if subject.mode != "fused" or not subject.cached(subject.sizes(2, window, layers=1)).can_feed_many:
        # what attends by a call of its own holds no more than the newest by then
        return
    many = total - _STEPS
    rest = many - window
    behind = ((window - 2, rest + 2), (window, 3, rest - 3), (window - 2, *[1] * 5, rest - 3))
    for split in ((many,), *(behind if continues else ())):
        pieces = (*split, *[1] * _STEPS)
        words = f"{' + '.join(map(str, split))} tokens by calls of several, then {_STEPS} steps"
        out = _fed(subject, found, stream, window, pieces, words)
        if out is not None:
            _tell(subject, found, said, words, out, stream, width, window, pieces)


def _with_first(subject: Subject, steps: Array, stream: Stream, window: int, limit: float) -> str:
    """Which tokens steps see of a window that keeps the first by its own word; empty where it does not."""
    if not says_sinks(subject):
        return ""
    row, key = _places(stream)
    for first in range(1, window + 1):
        for newest in range(1, window + 2):
            visible = (key <= row) & ((key < first) | (key > row - newest))
            if relative_error(steps, attention(*stream, visible=visible)) <= limit:
                return f"the first {first} and the newest {newest} tokens"
    return ""


def _ragged(subject: Subject, found: Findings, said: list[str], window: int, width: int) -> None:
    """Steps after prompts of several lengths, which go in together, some of them longer than the window."""
    lengths = (1, window, window + 1, window - 3, window + 4, 3)
    cached, longest = subject.cached(subject.sizes(len(lengths), window, layers=1)), max(lengths)
    if not cached.ragged_by():
        return
    q, k, v = stream = drawn(subject.bench.rng("ragged window"), cached.sizes, longest + _STEPS)
    words = f"prompts of {', '.join(map(str, lengths))} tokens, then {_STEPS} steps"
    errors = []
    try:
        cached.feed(*cut(stream, 0, longest), np.array(lengths))
        for t in range(longest, longest + _STEPS):
            out = cached.feed(*cut(stream, t, t + 1))
            for b, length in enumerate(lengths):
                seen = [*range(length), *range(longest, t + 1)][-width:]
                truth = attention(q[b : b + 1, :, t : t + 1], k[b : b + 1, :, seen], v[b : b + 1, :, seen])
                errors.append(float(relative_error(out[b : b + 1], truth)))
    except (Raised, BadResult, Skipped) as fault:
        found.note(words, "not judged", note=fault.message)
        return
    error = float(np.max(errors))
    quantity = f"{words} past a window of {width}: largest relative error against each one's newest {width}"
    where = subject.where("step_many", "append_many", "step", "append")
    if not found.limit(quantity, error, float32_limit(subject), **where):
        row = int(np.argmax(np.max(np.reshape(errors, (_STEPS, -1)), axis=0)))
        said.insert(0, f"{words} past a window: off by {error:.2g} (the prompt of {lengths[row]})")


def _fed(
    subject: Subject, found: Findings, stream: Stream, window: int, pieces: Sequence[int], words: str
) -> Array | None:
    """What a new cache answers to all tokens, one by one or piece by piece; ``None`` where it refuses."""
    cached = subject.cached(subject.sizes(2, window, layers=1))
    try:
        if not pieces:
            return cached.feed(*stream, whole=False)
        ends = np.cumsum([0, *pieces]).tolist()
        return np.concatenate([cached.feed(*cut(stream, *ends_)) for ends_ in pairwise(ends)], axis=2)
    except (Raised, BadResult, Skipped) as fault:
        found.note(words, "not judged", note=fault.message)
        return None


def _windowed(stream: Stream, width: int) -> Array:
    """Causal attention over the newest ``width`` tokens."""
    row, key = _places(stream)
    return attention(*stream, visible=(key <= row) & (key > row - width))


def _whole(stream: Stream, width: int, held: int, pieces: Sequence[int]) -> Array:
    """The same where tokens see all of their own call before them, and ``held`` tokens before the call."""
    row, key = _places(stream)
    sizes = np.repeat(pieces, pieces)[:, None]
    begin = np.repeat(np.cumsum([0, *pieces[:-1]]), pieces)[:, None]
    newest = np.where(sizes > 1, begin - held, row - width + 1)
    return attention(*stream, visible=(key <= row) & (key >= newest))


def _places(stream: Stream) -> tuple[Array, Array]:
    total = stream[0].shape[2]
    return np.arange(total)[:, None], np.arange(total)[None]


def _tell(
    subject: Subject,
    found: Findings,
    said: list[str],
    words: str,
    out: Array,
    stream: Stream,
    width: int,
    window: int,
    pieces: Sequence[int] = (),
) -> None:
    """Whether every token saw the newest ``width`` tokens, and what it saw if not."""
    where = subject.where("step_many", "append_many") if pieces else subject.where("step", "append")
    total, limit = stream[0].shape[2], float32_limit(subject)
    error = float(relative_error(out, _windowed(stream, width)))
    sees = next((n for n in range(1, total) if relative_error(out, _windowed(stream, n)) <= limit), None)
    whole = bool(pieces) and any(
        relative_error(out, _whole(stream, width, held, pieces)) <= limit
        for held in (width - 1, width, total)
    )
    note = f"each token sees {sees} and not {width}" if sees not in (None, width) else ""
    if whole and sees is None:
        note = f"the tokens of one call see all before them in it, and a step the newest {width}"
    right = found.limit(
        f"{words} past a window of {width}: largest relative error against the newest {width} tokens",
        error, limit, note=note,
        otherwise=Verdict.WARN if whole and sees is None else Verdict.FAIL, **where,
    )  # fmt: skip
    if not right:
        known = any(_FIRST in each for each in said)
        # what keeps its first tokens sees some that a window leaves behind
        why = (
            ""
            if note or known or says_sinks(subject)
            else _why(subject, found, stream, (width, window), pieces, out)
        )
        said.insert(int(known), f"{words} past a window: {note or f'off by {error:.2g}'}{why}")


def _why(
    subject: Subject,
    found: Findings,
    stream: Stream,
    widths: tuple[int, int],
    pieces: Sequence[int],
    out: Array,
) -> str:
    """What the first wrong token saw, as the end of a sentence; windows are as it is, and as it was made."""
    width, window = widths
    truth, limit = _windowed(stream, width), float32_limit(subject)
    rows = range(truth.shape[2])
    wrong = next((t for t in rows if not relative_error(out[:, :, t], truth[:, :, t]) <= limit), None)
    if wrong is None:
        return ""
    q, k, _v = stream

    def run(values: Array) -> Array | None:
        return _fed(subject, found, (q, k, values), window, pieces, "values one-hot")

    told = weight_causes(run, stream, pieces or [1] * len(rows), wrong, width)
    return f"{_FIRST}{told}" if told else ""
