"""Whether each sequence of a ragged batch equals its solo run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.cached import BY_ITSELF, LISTS, PROMPTS, Cached
from judge_tui.checks.tasks.kv.limits import (
    ROUNDS,
    Worst,
    float32_limit,
    stores_half,
    weighs_what_is_there,
)
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.variable_lengths import ragged_decoder
from judge_tui.checks.tasks.kv.variable_lengths.ragged_words import sequence_words, stored_words
from judge_tui.checks.tasks.kv.words.draws import LOW, cut, drawn, lowered
from judge_tui.checks.tasks.kv.words.reference import attention, diagnosis
from judge_tui.checks.tasks.kv.words.sentences import Sentences
from judge_tui.checks.tasks.kv.words.sizes import Sizes
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["variable_lengths"]

Array = npt.NDArray[Any]

#: Prompt lengths of a batch, for blocks of 16 and of 4: one token, a full block, one more, and between.
BATCHES = ((1, 16, 17, 5, 12, 3), (5, 4, 1, 12, 3, 5))
#: Steps of all, steps in which some rest, and tokens that then come at once.
_STEPS, _PAUSED, _MORE = 3, 2, 4
#: Tokens of each sequence that come at once at the very end.
_UNEVEN = (4, 1, 3, 2, 1, 4)


@check(
    "variable_lengths",
    "ragged batches",
    establishes="Every sequence of a ragged batch (1, block, block + 1, 5, 12, 3 long) equals its solo run, "
    "and a finished one stays as it was.",
    version=13,
)
def variable_lengths(bench: Bench, found: Findings) -> str:
    """Prompts of six lengths, steps of all sequences, then steps in which some of them rest."""
    coded = Subject.of_codes(bench)
    said = Sentences(found)
    try:
        subject = Subject.of(bench)
    except Skipped:
        if not coded:
            raise
    else:
        if subject.mode and not _of_cache(subject, found, said):
            found.note("ragged batches through the cache", "none", note="it takes no lengths and no sequence")
        ragged_decoder.judge(subject, found, said)
    for each in coded:
        _of_cache(each, found.about(each.name), said)
    if not said:
        raise Skipped(
            "nothing says how long each sequence of a batch is: neither the cache nor a decoder takes lengths"
        )
    return said.told()


def _of_cache(subject: Subject, found: Findings, said: Sentences) -> bool:
    """Judge a cache that is told how long each sequence is; whether it is."""
    by = subject.cached(Sizes()).ragged_by()
    if not by:
        return False
    found.note("sequences of a batch differ", by, note="how different lengths are told to the cache")
    worst = [_run(subject, found, index, lengths) for index, lengths in enumerate(BATCHES)]
    worst += _low(subject, found)
    told = _told(worst, float32_limit(subject), stored_alone=subject.mode == "read")
    said.append(f"{subject.name}: {told}" if subject.codes else told)
    return True


def _told(worst: list[Worst], limit: float, *, stored_alone: bool) -> str:
    bad = next((w for w in worst if w.wrong(limit)), None)
    if bad is not None:
        return f"a sequence of a ragged batch is off by {bad.error:.2g} ({bad.where}){bad.because}"
    largest = max(w.error for w in worst)
    total = sum(map(len, BATCHES))
    if stored_alone:
        return (
            f"keys and values of every sequence are read back within {largest:.1e} of what went in, worst of "
            f"{total} (limit {limit:.0e}); attention over them was not found"
        )
    return f"every sequence within {largest:.1e} of its solo run, worst of {total} (limit {limit:.0e})"


def _run(subject: Subject, found: Findings, index: int, lengths: tuple[int, ...]) -> Worst:
    batch, longest = len(lengths), max(lengths)
    sizes = subject.sizes(batch, longest + _STEPS + _PAUSED + 2 * _MORE + 3)
    cached = subject.cached(sizes)
    rng = subject.bench.rng("ragged", index)
    stream = drawn(rng, sizes, longest + _STEPS + _PAUSED + 1 + 2 * _MORE)
    held: list[list[int]] = [list(range(n)) for n in lengths]
    q, k, v = (_with_padding(x, lengths, rng) for x in stream)
    stream = q, k, v
    out = cached.feed(*cut(stream, 0, longest), np.array(lengths))
    limit, words = float32_limit(subject), f"lengths {', '.join(map(str, lengths))}"
    prompts, worst = _prompts(subject, found, out, stream, held, words), Worst()
    for t in range(longest, longest + _STEPS):
        try:
            worst = worst.or_worse(_step(cached, stream, t, held, np.ones(batch, bool)))
        except Raised as fault:
            if cached.ragged_by() not in (PROMPTS, LISTS) or t > longest:
                raise
            raise Skipped(f"sequences of different lengths do not step together: {fault.message}") from fault
    kind = "rows" if subject.mode != "read" else "keys and values read back"
    quantity = f"{words}: {_STEPS} steps of all, {kind}, largest relative error per row, float32"
    found.limit(quantity, worst.error, limit, note=worst.note, **subject.where())
    rested = _rest(subject, found, cached, stream, held, words)
    worst = prompts.or_worse(worst).or_worse(rested or Worst())
    return worst.or_worse(_several(subject, found, cached, stream, held, words))


def _low(subject: Subject, found: Findings) -> list[Worst]:
    """Prompts of several lengths, then steps, with scores below what may stand for −inf where padding is."""
    if found.verdict is not Verdict.PASS or subject.mode == "read" or subject.codes or stores_half(subject):
        return []
    lengths, longest = BATCHES[1], max(BATCHES[1])
    cached = subject.cached(subject.sizes(len(lengths), longest + _STEPS + 1))
    stream = lowered(drawn(subject.bench.rng("low"), cached.sizes, longest + _STEPS))
    cached.feed(*cut(stream, 0, longest), np.array(lengths))
    held, worst = [list(range(n)) for n in lengths], Worst()
    for t in range(longest, longest + _STEPS):
        worst = worst.or_worse(_step(cached, stream, t, held, np.ones(len(lengths), bool)))
    words = f"all scores {LOW:.0e}, below finite numbers that stand for −inf"
    quantity = f"{words}: {_STEPS} steps of all, largest relative error per row, float32"
    limit = float32_limit(subject)
    if worst.wrong(limit) and _only_rounds(subject, stream, lengths):
        found.note(quantity, worst.error, limit=limit, note=ROUNDS)
        return []
    found.limit(quantity, worst.error, limit, note=worst.note, **subject.where())
    return [replace(worst, where=f"{worst.where}, {words}")]


def _only_rounds(subject: Subject, stream: tuple[Array, Array, Array], lengths: tuple[int, ...]) -> bool:
    """Whether the weights of the steps are all of tokens that are there, and none of padding."""
    longest, values = max(lengths), np.ones_like(stream[2])
    for b, n in enumerate(lengths):
        values[b, :, n:longest] = 0.0
    given = stream[0], stream[1], values
    cached = subject.cached(subject.sizes(len(lengths), longest + _STEPS + 1))
    cached.feed(*cut(given, 0, longest), np.array(lengths))
    return weighs_what_is_there(cached.feed(*cut(given, t, t + 1)) for t in range(longest, longest + _STEPS))


def _with_padding(values: Array, lengths: tuple[int, ...], rng: np.random.Generator) -> Array:
    """What stands past a prompt's end is large and random, so that attending to it shows."""
    padded = values.copy()
    for b, n in enumerate(lengths):
        padded[b, :, n : max(lengths)] = 9.0 * rng.standard_normal(padded[b, :, n : max(lengths)].shape)
    return padded


def _step(
    cached: Cached, stream: tuple[Array, Array, Array], t: int, held: list[list[int]], going: Array
) -> Worst:
    q, k, v = stream
    now = slice(t, t + 1)
    counts = None if going.all() else going.astype(np.int64)
    out = cached.feed(q[:, :, now], k[:, :, now], v[:, :, now], counts)
    worst = Worst()
    for b, tokens in enumerate(held):
        if not going[b]:
            continue
        tokens.append(t)
        row = slice(b, b + 1)
        keys, values = k[row][:, :, tokens], v[row][:, :, tokens]
        where = f"sequence {b} at length {len(tokens)}"
        if cached.mode == "read":
            pair = cached.stored(b)
            errors = [relative_error(x, y.astype(float)) for x, y in zip(pair, (keys, values), strict=True)]
            if not (max(errors) <= 1e-3 or worst.wrong(1e-3)) and (
                told := stored_words(pair, stream, held, b)
            ):
                where = f"{where}: {told}"
            worst = worst.or_worse(Worst.of(errors, where))
            continue
        error = relative_error(out[row], attention(q[row, :, now], keys, values))
        cause = diagnosis(out[row], q[row, :, now], keys, values) if not error <= 1e-3 else ""
        if not cause and not error <= 1e-3 and _newest_are_zeros(out[row], q[row, :, now], keys, values):
            cause = "zeros stand in the place of its newest token, which went elsewhere"
        if not error <= 1e-3 and not (cause or worst.wrong(1e-3)):
            cause = sequence_words(out[row], q[row, :, now], stream, held, b, len(tokens), t)
        worst = worst.or_worse(Worst(error, where, cause))
    return worst


def _newest_are_zeros(out: Array, q: Array, keys: Array, values: Array) -> bool:
    """Whether an answer is that of slots into which the newest of a sequence's tokens never came."""
    for missing in range(1, min(_STEPS + _PAUSED + 1, keys.shape[2]) + 1):
        k, v = keys.copy(), values.copy()
        k[:, :, -missing:], v[:, :, -missing:] = 0.0, 0.0
        if relative_error(out, attention(q, k, v)) <= 1e-3:
            return True
    return False


def _rest(
    subject: Subject, found: Findings, cached: Cached, stream: tuple[Array, Array, Array],
    held: list[list[int]], words: str,
) -> Worst | None:  # fmt: skip
    """Some sequences rest for two steps; the others go on rightly, and after it so do they."""
    going = np.array([b % 2 == 0 for b in range(len(held))])
    start = max(max(tokens) for tokens in held) + 1
    worst = Worst()
    try:
        for t in range(start, start + _PAUSED):
            worst = worst.or_worse(_step(cached, stream, t, held, going))
    except Skipped as fault:
        found.note("finished sequences", "all sequences step together", note=fault.message)
        return None
    worst = worst.or_worse(_step(cached, stream, start + _PAUSED, held, np.ones(len(held), bool)))
    quantity = (
        f"{words}: sequences 1, 3 and 5 rest for {_PAUSED} steps, then all go on, "
        "largest relative error per row, float32"
    )
    found.limit(quantity, worst.error, float32_limit(subject), note=worst.note, **subject.where())
    return worst


def _prompts(
    subject: Subject, found: Findings, out: Array, stream: tuple[Array, Array, Array],
    held: list[list[int]], words: str,
) -> Worst:  # fmt: skip
    """The rows of prompts of several lengths, where what answers is told how many are real."""
    if not _rows_are_told(subject) or not (rows := _right_rows(subject, 0)):
        return Worst()
    counts = [len(tokens) for tokens in held]
    worst = _newest(out, stream, held, counts, 1 if rows == 1 else max(counts))
    quantity = f"{words}: {_named(rows)} of the prompts, largest relative error, float32"
    found.limit(quantity, worst.error, float32_limit(subject), note=worst.note, **subject.where())
    return worst


def _several(
    subject: Subject, found: Findings, cached: Cached, stream: tuple[Array, Array, Array],
    held: list[list[int]], words: str,
) -> Worst:  # fmt: skip
    """Several tokens at once behind as many as each sequence has: as many of each, then not."""
    if cached.mode == "read" or not cached.can_feed_many or not (rows := _right_rows(subject, 3)):
        return Worst()
    worst = Worst()
    even = (f"{_MORE} tokens", [_MORE] * len(held))
    uneven = (f"{', '.join(map(str, _UNEVEN))} tokens", [*_UNEVEN])
    for told, counts in (even, uneven) if _rows_are_told(subject) else (even,):
        start = max(max(tokens) for tokens in held) + 1
        try:
            out = cached.feed(*cut(stream, start, start + _MORE), np.array(counts))
        except Skipped as fault:
            found.note(f"{told} behind sequences of several lengths", fault.message)
            return worst
        for tokens, count in zip(held, counts, strict=True):
            tokens.extend(range(start, start + count))
        behind = _newest(out, stream, held, counts, rows)
        quantity = f"{words}: {told} more of each at once, {_named(rows)}, largest relative error, float32"
        found.limit(quantity, behind.error, float32_limit(subject), note=behind.note, **subject.where())
        worst = worst.or_worse(behind)
    return worst


def _named(rows: int) -> str:
    return "last row" if rows == 1 else "rows"


def _rows_are_told(subject: Subject) -> bool:
    """Whether what answers is told how many of the rows that go in at once are real, or gets no others."""
    name = {"fused": "step_many", "attend": "attend"}.get(subject.mode)
    told = name in subject.bound and any(
        subject.bound[name].takes(each) for each in ("lengths", "bounds", "query_positions")
    )
    return told or subject.cached(Sizes()).ragged_by() in (BY_ITSELF, LISTS)


def _newest(
    out: Array, stream: tuple[Array, Array, Array], held: list[list[int]], counts: Sequence[int], rows: int
) -> Worst:
    """The last rows of tokens that came at once, each against all that its sequence had by then."""
    worst = Worst()
    for b, (tokens, count) in enumerate(zip(held, counts, strict=True)):
        for back in range(min(rows, count)):
            seen = tokens[: len(tokens) - back]
            q, k, v = (x[b : b + 1] for x in stream)
            at = count - 1 - back
            truth = attention(q[:, :, seen[-1:]], k[:, :, seen], v[:, :, seen])
            answer = out[b : b + 1, :, at : at + 1]
            error = relative_error(answer, truth)
            cause = ""
            if not (error <= 1e-3 or worst.wrong(1e-3)):
                cause = sequence_words(answer, q[:, :, seen[-1:]], stream, held, b, len(seen))
            where = f"sequence {b} at length {len(seen)}, {count} at once"
            worst = worst.or_worse(Worst(error, where, cause))
    return worst


def _right_rows(subject: Subject, before: int) -> int:
    """How many of the last rows are right where several tokens go behind stored ones of one length."""
    sizes = subject.sizes(2, 16)
    cached = subject.cached(sizes)
    stream = drawn(subject.bench.rng("goes on"), sizes, before + _MORE)
    try:
        cached.feed(*cut(stream, 0, before), whole=False)
        out = cached.feed(*cut(stream, before, before + _MORE))
    except (Raised, BadResult, Skipped):
        return 0
    own, counts = [list(range(before + _MORE))] * 2, [_MORE] * 2
    limit = float32_limit(subject)
    # no mask at all only warns elsewhere, and decode steps do not use the rows before the last
    right = (rows for rows in (_MORE, 1) if not _newest(out, stream, own, counts, rows).wrong(limit))
    return next(right, 0)
