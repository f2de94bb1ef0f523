"""A decoder past the tokens that it, or its cache, was made for: an error, or the answer of a larger one."""

from __future__ import annotations

import numpy as np

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.capacity.decoder_window import MAKERS
from judge_tui.checks.tasks.kv.capacity.window import says_so
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.limits import precision
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["judge"]

#: Tokens that the smaller decoder is made for, those of its prompt, and those past its end.
_TOLD, _PROMPT, _MORE = 8, 6, 3
_ROOM = 40


def judge(subject: Subject, found: Findings, said: list[str]) -> None:
    """Steps past the end of a decoder that is told its length, beside one with more room."""
    made = {name: subject.bound[name] for name in MAKERS if name in subject.bound}
    told = [name for name, maker in made.items() if maker.takes("max_len") or maker.takes("window")]
    if not told or "decode" not in subject.bound:
        return
    try:
        _steps(subject, found, said, told)
    except (Raised, BadResult, Skipped) as fault:
        found.note(f"a decoder with room for {_TOLD} tokens", fault.message, note="it may need more")


def _steps(subject: Subject, found: Findings, said: list[str], told: list[str]) -> None:
    tight, roomy = _pair(subject, told)
    given = tight.draw(subject.bench.rng("decoder past the end"), _TOLD + _MORE)
    limit = precision("float32").limit(0.0)
    errors = [relative_error(*(each.prefill(given[:, :_PROMPT]) for each in (tight, roomy)))]
    for t in range(_PROMPT, _TOLD):
        try:
            errors.append(relative_error(*(each.decode(given[:, t]) for each in (tight, roomy))))
        except Raised as fault:
            if t < _TOLD - 1 or not max(errors) <= limit:
                raise
            _never_full(subject, found, said, fault)
            return
    if not max(errors) <= limit:
        # Its weights hang on its length, so that none is there to compare with.
        found.note("decoders of two lengths", "answer differently before the end of the shorter one")
        return
    words = f"decoder: a step past its {_TOLD} tokens"
    off = 0.0
    for t in range(_TOLD, _TOLD + _MORE):
        try:
            out = tight.decode(given[:, t])
        except Raised as fault:
            if not off <= limit:
                break
            found.claim(f"{words}: goes on rightly, or refuses", True, measured=fault.brief(160),
                        limit="an error, or room made")  # fmt: skip
            said.append(f"{words}: {fault.brief(60)}")
            return
        off = _larger(off, relative_error(out, roomy.decode(given[:, t])))
    _gone_on(subject, found, said, words, off, limit)


def _never_full(subject: Subject, found: Findings, said: list[str], fault: Raised) -> None:
    """The last of the tokens that it was made for is refused; some may keep a place for another."""
    words = f"decoder: the last of its {_TOLD} tokens"
    found.claim(
        f"{words} is answered", False, measured=fault.brief(160), limit="an answer", otherwise=Verdict.WARN,
        note="the tokens before it are answered rightly", **subject.where("decode"),
    )  # fmt: skip
    said.append(f"{words}: {fault.brief(60)}")


def _pair(subject: Subject, told: list[str]) -> tuple[Decoder, Decoder]:
    """The same decoder with little room and with more."""
    if "decoder" in told:
        return subject.maker(max_len=_TOLD)(1), subject.maker(max_len=_ROOM)(1)
    make = subject.maker(max_len=_ROOM)
    return make(1, max_len=_TOLD), make(1)


def _gone_on(
    subject: Subject, found: Findings, said: list[str], words: str, off: float, limit: float
) -> None:
    """What a decoder that went on without a word answers."""
    window = says_so(subject, *MAKERS, "create")
    right = found.limit(
        f"{words}: goes on rightly, or refuses; largest relative error against one with room", off, limit,
        otherwise=Verdict.WARN if window else Verdict.FAIL,
        note=f"{window}: it forgets by design" if window else "", **subject.where("decode"),
    )  # fmt: skip
    off_by = f"it forgets, as {window} says" if window else f"no error, and the answer is {off:.2g} off"
    said.append(f"{words}: {'room is made' if right else off_by}")


def _larger(one: float, other: float) -> float:
    return float("nan") if np.isnan([one, other]).any() else max(one, other)
