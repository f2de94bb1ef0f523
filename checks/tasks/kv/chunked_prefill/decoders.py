"""A decoder's prompts in chunks, against its own prefill."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Unbound
from judge_tui.checks.tasks.kv.chunked_prefill.seen_rows import told_calls, whole_rows
from judge_tui.checks.tasks.kv.chunked_prefill.splits import TOKENS, at_size, place, splits
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.finding import chunked as chunks
from judge_tui.checks.tasks.kv.limits import Worst, precision
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge"]

Array = npt.NDArray[Any]

#: None of the chunks goes into the first, most go into the second.
_PROMPTS = (TOKENS, 12)
#: Tokens of a block inside which a chunk may begin.
_UNITS = range(2, 6)
#: Prompts of a batch, and the chunks that they go in by.
_LENGTHS, _RAGGED = (1, 5, TOKENS, 3), (2, 4)


def judge(subject: Subject, found: Findings, chunked: Binding) -> str:
    """A decoder's prompts in chunks against its own prefill, and a step after them."""
    if not subject.decodes:
        raise Unbound("prefill and decode", [f"{chunked.target} takes tokens; nothing to hold it against"])
    make, limit = subject.maker(), precision("float32").limit(0.0)
    table: list[tuple[str, ...]] = [("prompt", "chunk", "its rows", "step after")]
    worst = Worst()
    for tokens in _PROMPTS:
        worst = worst.or_worse(_prompted(subject, make, chunked, tokens, table))
    wrong = {(int(n), int(size)): not max(map(float, off)) <= limit for n, size, *off in table[1:]}
    worst = worst.or_worse(_ragged(subject, found, make, chunked))
    sizes = ", ".join(map(str, splits(chunked)))
    found.limit(
        f"decoder: prompts of {' and '.join(map(str, _PROMPTS))} in chunks of {sizes} against its own "
        "prefill, and the step after it, largest relative error per row, float32",
        worst.error, limit, note=worst.note, table=tuple(table), **place(chunked),
    )  # fmt: skip
    if worst.wrong(limit):
        off = f"is off its own prefill by {worst.error:.2g} ({worst.where}){_unit(wrong)}"
        return f"the decoder's prompt in chunks {off}{_why(subject, chunked)}"
    return (
        f"{len(table) - 1} splits within {worst.error:.1e} of the decoder's own prefill (limit {limit:.0e})"
    )


def _unit(wrong: Mapping[tuple[int, int], bool]) -> str:
    """Where a chunk begins that is wrong, as a part of a sentence; empty where no unit tells.

    Args:
        wrong: Tokens of a prompt, and of a chunk → whether that is wrong.
    """
    for alone, unit in itertools.product((True, False), _UNITS):
        told = {(tokens, size): _is_off(tokens, size, unit, alone=alone) for tokens, size in wrong}
        # chunks of a unit are right, so that another one does not explain the same
        if told == dict(wrong) and any(told.values()) and any(size == unit for _tokens, size in told):
            several = " of several tokens" if alone else ""
            return f": wrong where a chunk{several} begins at no multiple of {unit}, and only there"
    return ""


def _is_off(tokens: int, size: int, unit: int, *, alone: bool) -> bool:
    """Whether a chunk begins inside a unit; ``alone``: chunks of one token may."""
    starts = range(0, tokens, size)
    return any(start % unit and not (alone and min(size, tokens - start) == 1) for start in starts)


def _why(subject: Subject, chunked: Binding) -> str:
    """What a prompt in chunks stores otherwise than one at once, as the end of a sentence."""
    in_chunks = chunks.as_prefill(subject.bound, chunked)
    for tokens, size in itertools.product(_PROMPTS, splits(chunked)):
        given = subject.maker()(1).draw(subject.bench.rng("decoder", tokens), tokens)

        def feed(decoder: Decoder, tokens: Array) -> Array:
            return whole_rows(decoder.answers(tokens)[0], tokens.shape[1])

        calls = [size] * (tokens // size) + [tokens % size] * (tokens % size > 0)
        if words := told_calls(subject, feed, given, calls, in_chunks, chunk=size):
            return f": of {tokens} in chunks of {size}, {words}"
    return ""


def _prompted(
    subject: Subject, make: Maker, chunked: Binding, tokens: int, table: list[tuple[str, ...]]
) -> Worst:
    """One prompt in chunks of every size; adds a line per size to the table."""
    in_chunks, batch = chunks.as_prefill(subject.bound, chunked), 2 if make.any_batch else 1
    given = make(batch).draw(subject.bench.rng("decoder", tokens), tokens + 1)
    whole, worst = make(batch), Worst()
    truth = whole.answers(given[:, :tokens])
    after = whole.decode(given[:, tokens])
    for size in splits(chunked):
        try:
            decoder = make(batch, in_chunks, chunk=size)
            rows = decoder.answers(given[:, :tokens])
            step = relative_error(decoder.decode(given[:, tokens]), after)
        except (Raised, BadResult) as fault:
            raise at_size(fault, size) from fault
        # what gives the prompt's end alone is held against that
        shown = min(rows.shape[1], truth.shape[1])
        error = relative_error(rows[:, -shown:], truth[:, -shown:])
        worst = worst.or_worse(Worst(error, f"a prompt of {tokens}, chunks of {size}"))
        worst = worst.or_worse(Worst(step, f"the step after a prompt of {tokens}, chunks of {size}"))
        table.append((str(tokens), str(size), f"{error:.2g}", f"{step:.2g}"))
    return worst


def _ragged(subject: Subject, found: Findings, make: Maker, chunked: Binding) -> Worst:
    """Prompts of several lengths in chunks, where one that takes all of them comes out right."""
    in_chunks, lengths = chunks.as_prefill(subject.bound, chunked), np.array(_LENGTHS)
    quantity = f"decoder: prompts of {', '.join(map(str, _LENGTHS))} in chunks of {{}}, against each alone"
    if not make.any_batch or not make(len(lengths), in_chunks).ragged or not chunked.takes("chunk"):
        return Worst()
    given = make(len(lengths)).draw(subject.bench.rng("ragged"), TOKENS)
    alone = [make(1).prefill(given[b : b + 1, :n]) for b, n in enumerate(lengths)]
    worst, limit = Worst(), precision("float32").limit(0.0)
    for size in (TOKENS + 5, *_RAGGED):
        try:
            rows = make(len(lengths), in_chunks, chunk=size).answers(given, lengths)
        except (Raised, BadResult) as fault:
            found.note(quantity.format(size), "not judged", note=fault.message)
            return Worst()
        if rows.shape[1] != TOKENS:
            found.note(quantity.format(size), "not judged", note="it gives the last chunk's answers alone")
            return Worst()
        errors = [relative_error(rows[b, n - 1 : n], alone[b]) for b, n in enumerate(lengths)]
        if size > TOKENS and not max(errors) <= limit:
            found.note(quantity.format(size), "not judged", note="how lengths are told to it is a guess")
            return Worst()
        worst = worst.or_worse(Worst.of(errors, f"prompts of several lengths, chunks of {size}"))
    found.limit(f"{quantity.format('2 and 4')}, largest relative error, float32", worst.error, limit,
                note=worst.note, **place(chunked))  # fmt: skip
    return worst
