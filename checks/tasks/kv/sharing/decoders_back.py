"""Decoders that take their newest tokens back: what comes behind, past a window and in later prompts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.refusing import refusal
from judge_tui.checks.tasks.kv.capacity.decoder_window import MAKERS
from judge_tui.checks.tasks.kv.capacity.window import says_so
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.sharing.moves import (
    AFTER,
    BEFORE,
    PROMPT,
    ROUNDED,
    Array,
    Mover,
    behind,
    called,
    fed,
    limit_of,
    off,
)
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.sharing_roles import ROLL_BACK
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge", "taken_back"]

#: Names of what is told how many tokens go.
_TAKES_AWAY = re.compile(r"(?i)roll|rewind|undo|revert|retract|append|pop|drop|remove|discard|delete|trim")
#: A window, the tokens of a prompt past it, its layers, and a room of all.
_WINDOW, _PAST, _LAYERS, _ROOM = 8, 13, 2, 40
#: Tokens of a prompt of which the newest two go, and steps of others in their place.
_LENGTHS, _OTHERS = range(4, 18), 3


def taken_back(bench: Bench, make: Maker, mover: Mover) -> tuple[str, float, float] | None:
    """The newest tokens taken back, and others in their place.

    Returns:
        What was done, how far off steps behind it are, and may be; ``None`` where they are wrong without it.
    """
    errors, limit = list[float](), ROUNDED
    for told in _told(mover, PROMPT):
        decoder = make(1)
        given = decoder.draw(bench.rng("decoder back"), PROMPT + BEFORE + AFTER)
        if fed(decoder, make, given) > limit_of(decoder):
            return None
        _take_back(decoder, mover, told)
        errors.append(behind(decoder, make, given[:, :PROMPT], given[:, PROMPT + BEFORE :]))
        limit = limit_of(decoder)
        if errors[-1] <= limit:
            break
    return f"{BEFORE} tokens taken back by {mover.name}, then others", min(errors), limit


def judge(bench: Bench, mover: Mover, found: Findings, wrong: list[str]) -> None:
    """What is right in a short text, past a window and in later prompts that begin as what went.

    Args:
        bench: Where the submission is.
        mover: Takes tokens back.
        found: Gathers the evidence.
        wrong: What is wrong is added.
    """
    cases = (("past a window", _past_a_window), ("and prompts that begin as what went", _begun_again))
    for name, case in cases:
        try:
            told = case(bench, mover)
        except (Raised, BadResult, Skipped) as fault:
            found.note(f"decoder: {mover.name} {name}", "not judged", note=fault.message)
            continue
        if told is not None:
            quantity, words, error = told
            if not found.limit(quantity, error, ROUNDED, file=mover.file, line=mover.line or None):
                wrong.append(words)


def _told(mover: Mover, stay: int) -> Sequence[int]:
    """How many tokens go, or how many stay; one after the other where its name tells neither."""
    count, length = (next(p for p in ROLL_BACK.params if p.name == name) for name in ("count", "length"))
    if length.means(mover.param) and not count.means(mover.param):
        return (stay,)
    return (BEFORE,) if _TAKES_AWAY.search(mover.name) else (BEFORE, stay)


def _take_back(decoder: Decoder, mover: Mover, told: int) -> Any:
    """Take the newest tokens back; what the call gives."""
    given = called(decoder, mover, told)
    decoder.counts, decoder.real = decoder.counts - BEFORE, decoder.real[:, :-BEFORE]
    if decoder.history is not None:
        decoder.history = decoder.history[:, :-BEFORE]
    return given


def _past_a_window(bench: Bench, mover: Mover) -> tuple[str, str, float] | None:
    """Tokens that are taken back once a window has dropped others: evidence, what is wrong, and the error."""
    subject = Subject.of(bench)
    if not says_so(subject, *MAKERS) or not any(each.takes("window") for each in subject.bound.values()):
        return None
    make = subject.maker(window=_WINDOW, max_len=_ROOM, layers=_LAYERS)
    given = make(1).draw(bench.rng("back past a window"), _PAST + BEFORE + AFTER)
    held, new = given[:, :_PAST], given[:, _PAST + BEFORE :]
    told = next((one for one in _told(mover, _PAST) if _is_right(bench, subject.maker(), mover, one)), None)
    if told is None:
        return None
    decoder = _of_steps(make, given[:, : _PAST + BEFORE])
    quantity = f"decoder: {BEFORE} tokens taken back by {mover.name} past a window of {_WINDOW}, then others"
    try:
        gave = _take_back(decoder, mover, told)
        out = _answers(decoder, new)
    except Raised as fault:
        if refusal(bench.submission, fault):
            return None
        raise
    error = relative_error(out, _answers(_of_steps(make, held), new))
    words = f"{quantity}: off by {error:.2g} from new decoders of the same tokens"
    kept = _answers(_of_steps(make, given[:, : _PAST + BEFORE]), new)
    if error > ROUNDED and relative_error(out, kept) <= ROUNDED:
        gives = f" (it gives {gave})" if gave is not None else ""
        words = (
            f"{quantity}: nothing is taken back, and no error says so{gives}: steps go on behind the tokens "
            f"that should be gone, off by {error:.2g}; before a window has dropped any it is right"
        )
    return f"{quantity}: largest error against new decoders", words, error


def _is_right(bench: Bench, make: Maker, mover: Mover, told: int) -> bool:
    """Whether a number means what it is taken for, where there is room for all."""
    given = make(1).draw(bench.rng("back past a window", 1), _PAST + BEFORE + AFTER)
    decoder = _of_steps(make, given[:, : _PAST + BEFORE])
    _take_back(decoder, mover, told)
    return behind(decoder, make, given[:, :_PAST], given[:, _PAST + BEFORE :]) <= ROUNDED


def _of_steps(make: Maker, given: Array) -> Decoder:
    """A decoder that was fed a short prompt, and the rest in steps."""
    decoder = make(1)
    decoder.prefill(given[:, :2])
    for t in range(2, given.shape[1]):
        decoder.decode(given[:, t])
    return decoder


def _answers(decoder: Decoder, new: Array) -> Array:
    """(S, W) answers to steps."""
    return np.concatenate([decoder.decode(new[:, t]) for t in range(new.shape[1])])


def _begun_again(bench: Bench, mover: Mover) -> tuple[str, str, float] | None:
    """The same of later prompts that begin as what was taken back."""
    make = Subject.of(bench).maker()
    if make(1).takes != "tokens":
        return None
    worst = 0.0
    quantity = (
        f"decoder: prompts that begin as another did before {BEFORE} of its tokens were taken back by "
        f"{mover.name}: largest error against new decoders"
    )
    for length in _LENGTHS:
        text = make(1).draw(bench.rng("begun again", length), length + 1)
        others = (text + 1) % make(1).sizes.vocab
        if not _again(make, None, text, others) <= ROUNDED:
            return None
        told = _told(mover, length - BEFORE)[0]
        error = _again(make, (mover, told), text, others)
        worst = max(worst, error)
        if error > ROUNDED:
            parts = text[:, : length - BEFORE], others[:, :BEFORE], text[:, length:]
            as_others = _again(make, (mover, told), text, others, truth=np.concatenate(parts, axis=1))
            words = (
                f"decoder: of {length} tokens {BEFORE} are taken back by {mover.name} and others come in "
                f"their place: a later prompt that begins with the {length} is off by {error:.2g}"
            )
            if as_others <= ROUNDED:
                words += ", as if it had the others: they are kept under the name of those taken back"
            return quantity, words, error
    return quantity, "", worst


def _again(
    make: Maker, move: tuple[Mover, int] | None, text: Array, others: Array, truth: Array | None = None
) -> float:
    """How far off a later prompt is, all of whose tokens but the last an earlier one had."""
    decoder, length = make(1), text.shape[1] - 1
    decoder.prefill(text[:, :length])
    if move is not None:
        _take_back(decoder, *move)
        for t in range(_OTHERS):
            decoder.decode(others[:, t])
    later = decoder.beside(1)
    return off(later.prefill(text), make, text if truth is None else truth)
