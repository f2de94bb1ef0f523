"""Prompts that begin like an earlier one of a decoder, which may have kept what it computed for that."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.answers import carries
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.limits import precision
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.sentences import Sentences
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge_alike"]

Array = npt.NDArray[Any]
#: Tokens of an earlier prompt: few, and more than a block that is kept holds. What all have room for.
_LENGTHS, _MORE, _STEPS, _ROOM, _WINDOW = (7, 37), 3, 2, 48, 8
#: How far off a prompt is at most that is summed up in another order; other tokens are further.
_ROUNDED = 1e-3
#: What a prompt has of an earlier one of N tokens: how many of these, and how many of its own behind them.
_CASES: tuple[tuple[str, Callable[[int], tuple[int, int]]], ...] = (
    ("that begins with all of an earlier one and goes on", lambda n: (n, _MORE)),
    ("that begins with all of an earlier one and has one token more", lambda n: (n, 1)),
    ("that parts from an earlier one on the way", lambda n: (n // 2, n - n // 2)),
    ("that parts from an earlier one near its end", lambda n: (n - 5, 5)),
    ("that is the beginning of an earlier one", lambda n: (n // 2, 0)),
    ("that is an earlier one again", lambda n: (n, 0)),
    ("that goes on behind an earlier one and the steps after it", lambda n: (n + _STEPS, _MORE)),
)


def judge_alike(subject: Subject, found: Findings, said: Sentences) -> None:
    """Hand one decoder two prompts that begin alike, where two that do not are each answered rightly.

    Args:
        subject: The submission's decoder.
        found: Gathers the evidence.
        said: What is wrong is added.
    """
    prefill = subject.bound["prefill"]
    if carries(prefill) or prefill.takes("cache_k") or prefill.takes("sequence"):
        return
    limit = precision("float32").limit(0.0)
    with suppress(Raised, BadResult, Skipped):
        make = subject.maker(max_len=_ROOM)
        if make(1).takes != "tokens" or not _off(make, _drawn(subject, make, 7), 0, 7) <= limit:
            return
        makes = [make]
        if "decoder" in subject.bound and subject.bound["decoder"].takes("window"):
            makes.append(subject.maker(max_len=_ROOM, window=_WINDOW))
        told = (_pairs(subject, found, each) or _in_a_row(subject, found, each) for each in makes)
        if words := next(filter(None, told), ""):
            said.append(words)


def _pairs(subject: Subject, found: Findings, make: Maker) -> str:
    """What is wrong with a prompt behind another; empty when nothing is."""
    for length in _LENGTHS:
        tokens = _drawn(subject, make, length)
        for words, of in _CASES:
            error = _off(make, tokens, *of(length))
            quantity = f"decoder: a prompt {words}, of {length} tokens, against a new decoder's"
            if error <= _ROUNDED:
                found.note(quantity, error, limit=_ROUNDED)
                continue
            found.limit(quantity, error, _ROUNDED, **subject.where("prefill"))
            alone = "one that has nothing of it is right"
            why = _why(make, tokens, *of(length), _ROUNDED)
            return f"a prompt {words} ({length} tokens) is off by {error:.2g}{why}; {alone}"
    return ""


def _in_a_row(subject: Subject, found: Findings, make: Maker) -> str:
    """What is wrong with one of several prompts on one decoder, each with steps behind it."""
    first, other = _drawn(subject, make, 7)
    prompts = [
        first[:, :7],
        other[:, :6],
        np.concatenate([first[:, :4], other[:, 4:9]], axis=1),
        other[:, 2:6],
    ]
    decoder = make(1)
    for number, prompt in enumerate([*prompts, *prompts[::-1]], 1):
        alone = make(1)
        pairs = [(decoder.prefill(prompt), alone.prefill(prompt))]
        pairs += [(decoder.decode(other[:, t]), alone.decode(other[:, t])) for t in range(_STEPS)]
        decoder.forget()
        error = float(np.max([relative_error(got, truth) for got, truth in pairs]))
        quantity = (
            f"decoder: prompt {number} of {2 * len(prompts)} in a row, and steps, against a new decoder's"
        )
        if error <= _ROUNDED:
            found.note(quantity, error, limit=_ROUNDED)
            continue
        found.limit(quantity, error, _ROUNDED, **subject.where("prefill"))
        return (
            f"of several prompts in a row on one decoder number {number} is off by {error:.2g} from a new "
            "decoder's: what earlier ones left shows in it"
        )
    return ""


def _drawn(subject: Subject, make: Maker, length: int) -> tuple[Array, Array]:
    """An earlier prompt with the steps after it, and one that differs from it everywhere, and is longer."""
    first = make(1).draw(subject.bench.rng("alike", length), length + _STEPS)
    other = np.concatenate([first, first[:, : _MORE + 2]], axis=1)
    return first, (other + 1) % make(1).sizes.vocab


def _why(make: Maker, tokens: tuple[Array, Array], common: int, more: int, limit: float) -> str:
    """What a wrong answer is that of, as the end of a sentence; empty where nothing explains it."""
    first, other = tokens
    length = first.shape[1] - _STEPS
    then = np.concatenate([first[:, :common], other[:, common : common + more]], axis=1)
    decoder = make(1)
    decoder.prefill(first[:, :length])
    for t in range(length, max(common, length)):
        decoder.decode(first[:, t])
    decoder.forget()
    out = decoder.prefill(then)
    places = dict.fromkeys(p for p in (length - 1, length, common - 1, common, 0) if p < then.shape[1])
    others = {f"as if its token {p} were not there": np.delete(then, p, axis=1) for p in places}
    n = min(length, then.shape[1] - 1)
    others["as if it had the tokens of the earlier one in front of its last"] = np.concatenate(
        [first[:, :n], then[:, n:]], axis=1
    )
    others["the answer to the earlier one"] = first[:, :length]
    others["as if it stood behind the earlier one"] = np.concatenate([first[:, :length], then], axis=1)
    for words, tokens_of in others.items():
        with suppress(Raised, BadResult, Skipped):
            if relative_error(out, make(1).prefill(tokens_of)) <= limit:
                return f": {words}"
    return ""


def _off(make: Maker, tokens: tuple[Array, Array], common: int, more: int) -> float:
    """How far off a later prompt, and a step after it, are."""
    first, other = tokens
    length = first.shape[1] - _STEPS
    then = np.concatenate([first[:, :common], other[:, common : common + more]], axis=1)
    step = other[:, common + more]
    decoder, alone = make(1), make(1)
    decoder.prefill(first[:, :length])
    for t in range(length, max(common, length)):
        decoder.decode(first[:, t])
    decoder.forget()
    pairs = [(decoder.prefill(then), alone.prefill(then)), (decoder.decode(step), alone.decode(step))]
    return float(np.max([relative_error(got, truth) for got, truth in pairs]))
