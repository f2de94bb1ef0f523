"""Whether a decoder's step computes the past again, and how its memory grows."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Raised
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.faces.weights import count_with, drawn_anew, weights
from judge_tui.checks.tasks.kv.growth.curves import EXPONENT, Work, jumps, law
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Curve

__all__ = ["judge"]

Array = npt.NDArray[Any]
_LENGTHS = (4, 8, 16, 32)
_ROOM = 40
#: A step's work over that of a prefill of the same length, times the length: one where nothing is done again.
_SHARE = 2.5
_PROMPT = 6
#: Tokens up to which bytes are followed where they grow in so few steps that no law shows.
_FAR, _FEW = 132, 8


class _Past(Enum):
    """What a step does about the tokens before it, as far as it is seen."""

    UNSEEN = auto()
    KEPT = auto()
    AGAIN = auto()


def judge(subject: Subject, found: Findings, said: list[str]) -> bool:
    """Bytes and counted work of steps; then weights that change between prompt and step.

    Returns:
        Whether it is established that a step does, or does not, compute the past again.
    """
    counted = _Past.UNSEEN
    try:
        _bytes(subject, found, said)
    except Raised as fault:
        _shorter(found, fault)
    try:
        counted = _work(subject, found, said)
    except Raised as fault:
        _shorter(found, fault)
    exchanged = _exchanged(subject, found)
    if exchanged is _Past.AGAIN and counted is not _Past.AGAIN:
        said.append(
            "a decoder's step computes the past again: with other weights it equals a full pass with them"
        )
    return (counted, exchanged) != (_Past.UNSEEN, _Past.UNSEEN)


def _shorter(found: Findings, fault: Raised) -> None:
    found.note(f"decoder: steps up to {_LENGTHS[-1]} tokens", fault.message,
               note="it may hold less; the challenge states no length")  # fmt: skip


def _bytes(subject: Subject, found: Findings, said: list[str]) -> None:
    points, fault = _followed(subject)
    if not points[-1][1]:
        found.note("decoder: bytes beyond those at its start", 0, note="reserved before, or out of reach")
        return
    grown = law(points)
    curve = Curve("tokens", "bytes", tuple(points), log_x=True, log_y=True)
    quantity = f"decoder: bytes beyond those at its start, up to {points[-1][0]:.0f} tokens"
    if grown is None:
        found.note(
            quantity, points[-1][1], unit="B", curve=curve,
            note=f"room was made {jumps(points)} times: too rarely to tell how it grows"
            + (f" ({fault})" if fault else ""),
        )  # fmt: skip
    elif not found.limit(
        f"{quantity}: exponent of their growth", grown, EXPONENT, curve=curve,
        note="taken where the room that was made is full", **subject.where("decode"),
    ):  # fmt: skip
        said.append(f"the decoder's bytes grow as n^{grown:.2g}")


def _followed(subject: Subject) -> tuple[list[tuple[float, float]], str]:
    """Bytes beyond those at the start after every token, and what ended it early."""
    decoder = subject.maker(max_len=_FAR + 8)(1)
    given = decoder.draw(subject.bench.rng("bytes"), _FAR)
    before = decoder.held()
    decoder.prefill(given[:, :3])
    points = [(3.0, float(max(0, decoder.held() - before)))]
    for t in range(3, _FAR):
        if t >= _LENGTHS[-1] and not 0 < jumps(points) < _FEW:
            break
        try:
            decoder.decode(given[:, t])
        except Raised as fault:
            if t < _LENGTHS[-2]:
                raise
            return points, fault.message
        points.append((float(t + 1), float(max(0, decoder.held() - before))))
    return points, ""


def _work(subject: Subject, found: Findings, said: list[str]) -> _Past:
    """A step at length n beside a prefill of n: about one n-th of it where the past is kept."""
    make = subject.maker(max_len=_ROOM)
    given = make(1).draw(subject.bench.rng("work"), _LENGTHS[-1])
    points, table = [], [("tokens", "step", "prefill of as many", "step · n / prefill")]
    for n in _LENGTHS:
        whole = _counted(make)
        whole.prefill(given[:, :n])
        prefill = Work.of(whole.counters or ())
        stepped = _counted(make)
        stepped.prefill(given[:, : n - 1])
        stepped.counters = []
        stepped.decode(given[:, n - 1])
        step = Work.of(stepped.counters)
        if not prefill.products or not step.products:
            found.note("decoder: work of a step", "not counted",
                       note="its products run out of the sight of the counting arrays")  # fmt: skip
            return _Past.UNSEEN
        share = step.products * n / prefill.products
        points.append((float(n), share))
        table.append((str(n), str(step.products), str(prefill.products), f"{share:.3g}"))
    share = points[-1][1]
    held = found.limit(
        f"decoder: multiply-adds of a step at {_LENGTHS[-1]} tokens × {_LENGTHS[-1]}, over those of a "
        "prefill of as many",
        share, _SHARE, table=tuple(table), curve=Curve("tokens", "step · n / prefill", tuple(points)),
        note="1 where a step works on its own token alone, n where it computes all of them again",
        **subject.where("decode"),
    )  # fmt: skip
    if held:
        said.append(f"a decoder's step takes {share:.2g}/{_LENGTHS[-1]} of a prefill's work")
        return _Past.KEPT
    said.append(
        f"a decoder's step computes the past again: at {_LENGTHS[-1]} tokens it takes "
        f"{share / _LENGTHS[-1]:.2g} of a whole prefill's work"
    )
    return _Past.AGAIN


def _counted(make: Maker) -> Decoder:
    """A decoder whose weights count what is done with them."""
    decoder = make(1)
    count_with(decoder.worker, decoder.model)
    decoder.counters = []
    return decoder


def _exchanged(subject: Subject, found: Findings) -> _Past:
    """Other weights between prompt and step: a step that equals a full pass with them used no cache."""
    try:
        make = subject.maker(layers=1)
        fresh = make(1)
        given = fresh.draw(subject.bench.rng("exchanged"), _PROMPT + 1)
        old = make(1).prefill(given)
        if not drawn_anew(fresh.worker, weights(fresh.worker, fresh.model), 17):
            found.note("decoder: weights exchanged between prompt and step", "not established",
                       note="no weight of the decoder can be reached")  # fmt: skip
            return _Past.UNSEEN
        new = fresh.prefill(given)
        kept = make(1)
        listed = weights(kept.worker, kept.model)
        kept.prefill(given[:, :_PROMPT])
        drawn_anew(kept.worker, listed, 17)
        step = kept.decode(given[:, _PROMPT])
    except Raised as fault:
        found.note("decoder: weights exchanged between prompt and step", fault.message)
        return _Past.UNSEEN
    if not relative_error(new, old) > 1e-3 or not np.isfinite(new).all():
        found.note("decoder: weights exchanged between prompt and step", "not established",
                   note="other weights do not change its answers")  # fmt: skip
        return _Past.UNSEEN
    error = relative_error(step, new)
    again = error <= 1e-4
    found.claim(
        "decoder: weights exchanged between prompt and step: the step uses the prompt's keys and values",
        not again,
        measured=f"{'equals' if again else 'differs from'} a full pass with the new weights ({error:.2g})",
        limit="differs from it", note=f"weights {len(listed)}, redrawn in place", **subject.where("decode"),
    )  # fmt: skip
    return _Past.AGAIN if again else _Past.KEPT
