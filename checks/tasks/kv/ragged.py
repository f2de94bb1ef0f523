"""Whether each sequence of a ragged batch equals its solo run."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.cache.cached import PROMPTS, Cached
from judge_tui.checks.tasks.kv.decoder import ragged as ragged_decoder
from judge_tui.checks.tasks.kv.judging import Worst, float32_limit
from judge_tui.checks.tasks.kv.reference import attention, diagnosis
from judge_tui.checks.tasks.kv.sentences import Sentences
from judge_tui.checks.tasks.kv.sizes import Sizes
from judge_tui.checks.tasks.kv.streams import cut, drawn
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tolerance import relative_error

__all__ = ["variable_lengths"]

Array = npt.NDArray[Any]

#: Prompt lengths of a batch, for blocks of 16 and of 4: one token, a full block, one more, and between.
BATCHES = ((1, 16, 17, 5, 12, 3), (5, 4, 1, 12, 3, 5))
#: Steps of all, steps in which some rest, and tokens that then come at once.
_STEPS, _PAUSED, _MORE = 3, 2, 4


@check(
    "variable_lengths",
    "ragged batches",
    establishes="Every sequence of a ragged batch (1, block, block + 1, 5, 12, 3 long) equals its solo run, "
    "and a finished one stays as it was.",
    version=4,
)
def variable_lengths(bench: Bench, found: Findings) -> str:
    """Prompts of six lengths, steps of all sequences, then steps in which some of them rest."""
    subject = Subject.of(bench)
    said = Sentences(found)
    if subject.mode:
        by = subject.cached(Sizes()).ragged_by()
        if by:
            found.note("sequences of a batch differ", by, note="how different lengths are told to the cache")
            worst = [_run(subject, found, index, lengths) for index, lengths in enumerate(BATCHES)]
            said.append(_told(worst, float32_limit(subject)))
        else:
            found.note("ragged batches through the cache", "none", note="it takes no lengths and no sequence")
    ragged_decoder.judge(subject, found, said)
    if not said:
        raise Skipped(
            "nothing says how long each sequence of a batch is: neither the cache nor a decoder takes lengths"
        )
    return said.told()


def _told(worst: list[Worst], limit: float) -> str:
    bad = next((w for w in worst if w.wrong(limit)), None)
    if bad is not None:
        return f"a sequence of a ragged batch is off by {bad.error:.2g} ({bad.where}){bad.because}"
    largest = max(w.error for w in worst)
    total = sum(map(len, BATCHES))
    return f"every sequence within {largest:.1e} of its solo run, worst of {total} (limit {limit:.0e})"


def _run(subject: Subject, found: Findings, index: int, lengths: tuple[int, ...]) -> Worst:
    batch, longest = len(lengths), max(lengths)
    sizes = Sizes(batch, 3, longest + _STEPS + _PAUSED + _MORE + 3, 8)
    cached = subject.cached(sizes)
    rng = subject.bench.rng("ragged", index)
    stream = drawn(rng, sizes, longest + _STEPS + _PAUSED + 1 + _MORE)
    held: list[list[int]] = [list(range(n)) for n in lengths]
    padded = tuple(_with_padding(x, lengths, rng) for x in stream)
    q, k, v = padded
    cached.feed(*cut((q, k, v), 0, longest), np.array(lengths))
    limit, words = float32_limit(subject), f"lengths {', '.join(map(str, lengths))}"
    worst = Worst()
    for t in range(longest, longest + _STEPS):
        try:
            worst = worst.or_worse(_step(cached, stream, t, held, np.ones(batch, bool)))
        except Raised as fault:
            if cached.ragged_by() != PROMPTS or t > longest:
                raise
            raise Skipped(f"sequences of different lengths do not step together: {fault.message}") from fault
    kind = "rows" if subject.mode != "read" else "keys and values read back"
    quantity = f"{words}: {_STEPS} steps of all, {kind}, largest relative error per row, float32"
    found.limit(quantity, worst.error, limit, note=worst.note, **subject.where())
    rested = _rest(subject, found, cached, stream, held, words)
    worst = worst.or_worse(rested) if rested is not None else worst
    return worst.or_worse(_several(subject, found, cached, stream, held, words))


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
            errors = [
                relative_error(x, y.astype(float))
                for x, y in zip(cached.stored(b), (keys, values), strict=True)
            ]
            worst = worst.or_worse(Worst.of(errors, where))
            continue
        error = relative_error(out[row], attention(q[row, :, now], keys, values))
        cause = diagnosis(out[row], q[row, :, now], keys, values) if not error <= 1e-3 else ""
        worst = worst.or_worse(Worst(error, where, cause))
    return worst


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


def _several(
    subject: Subject, found: Findings, cached: Cached, stream: tuple[Array, Array, Array],
    held: list[list[int]], words: str,
) -> Worst:  # fmt: skip
    """Several tokens of every sequence at once, behind as many as each has."""
    if cached.mode == "read" or not cached.can_feed_many or not (rows := _rows_that_go_on(subject)):
        return Worst()
    start = max(max(tokens) for tokens in held) + 1
    try:
        out = cached.feed(*cut(stream, start, start + _MORE))
    except Skipped as fault:
        found.note("several tokens behind sequences of several lengths", fault.message)
        return Worst()
    for tokens in held:
        tokens += range(start, start + _MORE)
    worst = _behind(out, stream, held, rows)
    kind = "last row" if rows == 1 else "rows"
    quantity = f"{words}: {_MORE} tokens more of each at once, {kind}, largest relative error, float32"
    found.limit(quantity, worst.error, float32_limit(subject), note=worst.note, **subject.where())
    return worst


def _behind(out: Array, stream: tuple[Array, Array, Array], held: list[list[int]], rows: int) -> Worst:
    """The last rows of tokens that came at once, each against all that its sequence had by then."""
    worst = Worst()
    for b, tokens in enumerate(held):
        for back in range(rows):
            seen = tokens[: len(tokens) - back]
            q, k, v = (x[b : b + 1] for x in stream)
            truth = attention(q[:, :, seen[-1:]], k[:, :, seen], v[:, :, seen])
            at = out.shape[2] - 1 - back
            error = relative_error(out[b : b + 1, :, at : at + 1], truth)
            worst = worst.or_worse(
                Worst(error, f"sequence {b} at length {len(seen)}, {_MORE} tokens at once")
            )
    return worst


def _rows_that_go_on(subject: Subject) -> int:
    """How many of the last rows are right where several tokens go behind stored ones of one length."""
    sizes = Sizes(2, 3, 16, 8)
    cached = subject.cached(sizes)
    stream = drawn(subject.bench.rng("goes on"), sizes, 3 + _MORE)
    try:
        cached.feed(*cut(stream, 0, 3), whole=False)
        out = cached.feed(*cut(stream, 3, 3 + _MORE))
    except (Raised, BadResult, Skipped):
        return 0
    own = [list(range(3 + _MORE))] * 2
    limit = float32_limit(subject)
    # no mask at all only warns elsewhere, and decode steps do not use the rows before the last
    return next((rows for rows in (_MORE, 1) if not _behind(out, stream, own, rows).wrong(limit)), 0)
