"""A decoder's ragged batch against each sequence alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.incremental_equals_full import decoders_together as together
from judge_tui.checks.tasks.kv.incremental_equals_full.decoder_steps import full
from judge_tui.checks.tasks.kv.limits import Worst, precision
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.variable_lengths.decoder_words import batch_words, more_words
from judge_tui.checks.tasks.kv.words.sentences import Sentences
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge"]

Array = npt.NDArray[Any]
_LENGTHS = (1, 5, 12, 3)
#: An error that arithmetic does not make.
_FAR = 1e-3
#: Steps behind the prompts; tokens of a second prompt.
_STEPS, _MORE = 2, 4


def judge(subject: Subject, found: Findings, said: Sentences) -> None:
    """Prompts of four lengths through the decoder, then steps; every row against the sequence alone."""
    subject = _for_batches(subject)
    if not subject.decodes or together.judge(subject, found, said):
        return
    make = subject.maker()
    if not make.any_batch:
        found.note(
            "ragged batches through the decoder",
            "not comparable",
            note=make.refused or "it takes one sequence, or its weights differ at every creation",
        )
        return
    decoder = make(len(_LENGTHS))
    if not decoder.ragged:
        found.note("ragged batches through the decoder", "none", note="its prefill takes no lengths")
        return
    if why := _refuses(subject, make, "prefill"):
        found.note("ragged batches through the decoder", "not judged", note=why)
        return
    longest = max(_LENGTHS)
    given = decoder.draw(subject.bench.rng("decoder"), longest + _STEPS + 2)
    own = [list(range(n)) for n in _LENGTHS]
    limit = precision("float32").limit(0.0)
    worst = _compared(
        make, given, own, decoder.prefill(given[:, :longest], np.array(_LENGTHS)), np.ones(4, bool)
    )
    shown = ", ".join(map(str, _LENGTHS))
    found.limit(
        f"decoder, prompts of {shown}: answers at each prompt's end, largest relative error per row, float32",
        worst.error, limit, note=worst.note, **subject.where("prefill"),
    )  # fmt: skip
    steps = Worst()
    for t in range(longest, longest + _STEPS):
        steps = steps.or_worse(_advance(make, decoder, given, own, t, np.ones(4, bool)))
    found.limit(
        f"decoder, prompts of {shown}: {_STEPS} steps of all, largest relative error per row, float32",
        steps.error, limit, note=steps.note, **subject.where("decode"),
    )  # fmt: skip
    steps = _rest(subject, found, make, decoder, given, own).or_worse(steps)
    worst = worst.or_worse(steps)
    second = _second(subject, found, make)
    worst = worst.or_worse(second)
    if worst.wrong(limit):
        why = batch_words(subject, _LENGTHS, given, limit)
        if not why and second.wrong(limit):
            drawn = make(len(_LENGTHS)).draw(subject.bench.rng("second"), longest + _MORE)
            why = more_words(subject, _LENGTHS, drawn, limit)
        off = f"is {worst.error:.2g} off its solo run ({worst.where})"
        said.append(f"decoder: a sequence of a ragged batch {off}{why}")
    else:
        said.append(f"decoder: every sequence within {worst.error:.1e} of its solo run (limit {limit:.0e})")


def _refuses(subject: Subject, make: Maker, role: str) -> str:
    """What a small ragged batch raises where how lengths or rests are told is a guess; empty when nothing.

    Args:
        subject: What is judged.
        make: Makes its decoders.
        role: ``prefill`` of two lengths, or a ``decode`` in which one of two sequences rests.
    """
    if subject.bound[role].origin != "found":
        return ""
    small = make(2)
    given = small.draw(np.random.default_rng(22), 4)
    try:
        small.prefill(given[:, :3], np.array([2, 3]))
        if role == "decode":
            small.decode(given[:, 3], np.array([True, False]))
    except Raised as fault:
        return f"{fault.placed}: nothing shows that it is meant to be told so"
    return ""


def _for_batches(subject: Subject) -> Subject:
    """Where ragged batches go through another object, its roles take the decoder's places."""
    bound = dict(subject.bound)
    for name in ("decoder", "prefill", "decode"):
        if f"batch_{name}" in bound:
            bound[name] = replace(bound[f"batch_{name}"], role=name)
    return Subject(subject.bench, bound)


def _compared(make: Maker, given: Array, own: list[list[int]], out: Array, going: Array) -> Worst:
    worst = Worst()
    for b, tokens in enumerate(own):
        if going[b]:
            error = relative_error(out[b : b + 1], full(make, given[:, tokens], b, len(tokens)))
            if not error <= _FAR:
                # What steps differ in from a prefill, alone as well, is no matter of raggedness.
                error = min(error, relative_error(out[b : b + 1], _alone(make, given, b, tokens)))
            worst = worst.or_worse(Worst(error, f"sequence {b} at length {len(tokens)}"))
    return worst


def _alone(make: Maker, given: Array, b: int, tokens: list[int]) -> Array:
    """What the decoder says of one sequence whose prompt goes in alone, and then its steps: (1, W)."""
    decoder, row, n = make(1), given[b : b + 1], _LENGTHS[b]
    out = decoder.prefill(row[:, tokens[:n]])
    for t in tokens[n:]:
        out = decoder.decode(row[:, t])
    return out


def _advance(
    make: Maker, decoder: Decoder, given: Array, own: list[list[int]], t: int, going: Array
) -> Worst:
    out = decoder.decode(given[:, t], None if going.all() else going)
    for b, tokens in enumerate(own):
        if going[b]:
            tokens.append(t)
    return _compared(make, given, own, out, going)


def _rest(
    subject: Subject, found: Findings, make: Maker, decoder: Decoder, given: Array, own: list[list[int]]
) -> Worst:
    """One step in which two sequences rest, and one after it."""
    start = max(_LENGTHS) + _STEPS
    try:
        if why := _refuses(subject, make, "decode"):
            raise Skipped(why)
        worst = _advance(make, decoder, given, own, start, np.array([True, False, True, False]))
    except Skipped as fault:
        found.note("decoder: finished sequences", "all sequences step together", note=fault.message)
        return Worst()
    worst = worst.or_worse(_advance(make, decoder, given, own, start + 1, np.ones(4, bool)))
    found.limit(
        "decoder: sequences 1 and 3 rest for a step, then all go on, largest relative error per row, float32",
        worst.error, precision("float32").limit(0.0), note=worst.note, **subject.where("decode"),
    )  # fmt: skip
    return worst


def _second(subject: Subject, found: Findings, make: Maker) -> Worst:
    """A second prompt behind prompts of several lengths, where one behind prompts of one length goes on."""
    small, own = make(2), list(range(3 + _MORE))
    given = small.draw(np.random.default_rng(23), len(own))
    try:
        small.prefill(given[:, :3])
        alike = _ends(make, given, [own, own], small.answers(given[:, 3:]))
    except (Raised, BadResult) as fault:
        found.note("decoder: a second prompt", "not judged", note=fault.message)
        return Worst()
    limit = precision("float32").limit(0.0)
    if subject.bound["prefill"].takes("position") or alike.wrong(limit):
        found.note("decoder: a second prompt", "not judged", note="it starts over, or is told one position")
        return Worst()
    decoder, longest = make(len(_LENGTHS)), max(_LENGTHS)
    given = decoder.draw(subject.bench.rng("second"), longest + _MORE)
    decoder.prefill(given[:, :longest], np.array(_LENGTHS))
    held = [[*range(n), *range(longest, longest + _MORE)] for n in _LENGTHS]
    worst = _ends(make, given, held, decoder.answers(given[:, longest:]))
    shown = ", ".join(map(str, _LENGTHS))
    found.limit(
        f"decoder, prompts of {shown}, and {_MORE} tokens more of each at once: their answers, largest "
        "relative error per row, float32",
        worst.error, limit, note=worst.note, **subject.where("prefill"),
    )  # fmt: skip
    return worst


def _ends(make: Maker, given: Array, own: list[list[int]], rows: Array) -> Worst:
    """The answers to a second prompt, (B, T or 1, W), against each sequence alone."""
    worst, count = Worst(), rows.shape[1]
    for b, tokens in enumerate(own):
        for back in range(count):
            length = len(tokens) - back
            truth = full(make, given[:, tokens[:length]], b, length)
            error = relative_error(rows[b : b + 1, count - 1 - back], truth)
            worst = worst.or_worse(Worst(error, f"sequence {b} at length {length}, {_MORE} tokens at once"))
    return worst
