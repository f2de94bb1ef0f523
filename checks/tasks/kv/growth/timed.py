"""How the processor time of a step grows with length, by the kernel's clock.

Work is counted beside the submission, which can hide it from the count: do it in arrays that do not count, or
only while nobody does. The kernel counts time all the same. It says no more than that something grows as the
square of the length, so it warns; a cache that keeps the past does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault, Skipped
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.sizes import Sizes
from judge_tui.checks.verdict import Curve, Verdict

__all__ = ["judge_caches", "judge_decoders"]

#: Tokens at which a climb ends, and seconds of processor time after which it does.
_MOST, _SECONDS = (240, 320), 0.4
#: A climb that ends before so many tokens shows no law.
_FEWEST = 48
#: Steps whose least is the time at a place.
_BESIDE = 5
#: Share of a step's growth: 0 where it reads the past, 1 where it does all of it again.
_SHARE = 0.5
#: Less than so many times a first step, or so many seconds more, is the noise of talking to a process.
_TIMES, _LEAST = 2.0, 1e-3
#: Heads and their width: many pairs of rows to a token, so that doing them again shows soon.
_HEADS, _WIDTHS = (6, 7, 8), (12, 16)
#: Tokens of the prompt before a decoder's steps.
_PROMPT = 3
_NOTE = "Processor time by the kernel's clock, whatever the worker counts."


@dataclass(slots=True)
class _Climb:
    """Seconds of each step, one after another.

    Attributes:
        seconds: Of the step that added token 1, 2 and so on, from ``first`` on.
        first: Tokens held after the first of them.
    """

    first: int = 1
    seconds: list[float] = field(default_factory=list)

    @property
    def last(self) -> int:
        """Tokens held after the last step."""
        return self.first + len(self.seconds) - 1

    def at(self, tokens: int) -> float:
        """The least of the steps up to so many tokens: what else the machine did adds to the others."""
        end = tokens - self.first + 1
        return min(self.seconds[max(end - _BESIDE, 0) : end])

    def points(self) -> list[tuple[float, float]]:
        """Tokens and seconds at the start, at half the length, and at the end."""
        start = self.first + _BESIDE
        return [(float(n), self.at(n)) for n in (start, self.last // 2, self.last)]

    def squared(self) -> float:
        """The share of the growth that goes with the square of the length; 0 where all is in the noise."""
        (_n, first), *_half, (_end, last) = self.points()
        if last < max(_TIMES * first, first + _LEAST):
            return 0.0
        least = [min(self.seconds[at : at + _BESIDE]) for at in range(0, len(self.seconds), _BESIDE)]
        square, linear, _constant = np.polyfit(np.arange(len(least)) / (len(least) - 1), least, 2)
        return min(max(float(square / max(square + linear, _LEAST)), 0.0), 1.0)


def judge_caches(subject: Subject, found: Findings, said: list[str]) -> None:
    """Time steps of a cache that is fed one by one."""

    def climb() -> _Climb:
        most = subject.between("timed", *_MOST)
        heads, width = _shape(subject)
        sizes = subject.fitted(Sizes(1, heads, most + 8, width, layers=1))
        cached = subject.cached(sizes)
        q, k, v = drawn(subject.bench.rng("timed"), sizes, most)
        return _climbed(subject, 1, most, lambda t: cached.feed(*(x[:, :, t : t + 1] for x in (q, k, v))))

    _held(subject, found, said, "a step", climb, ("step", "attend", "attention"))


def judge_decoders(subject: Subject, found: Findings, said: list[str]) -> None:
    """Time steps of a decoder after a short prompt."""
    most = subject.between("timed", *_MOST)

    def climb() -> _Climb:
        heads, width = _shape(subject)
        decoder = subject.maker(layers=1, max_len=most + 8, heads=heads, embed=heads * width)(1)
        given = decoder.draw(subject.bench.rng("timed"), most)
        decoder.prefill(given[:, :_PROMPT])
        return _climbed(subject, _PROMPT + 1, most, lambda t: decoder.decode(given[:, t]))

    _held(subject, found, said, "a decoder's step", climb, ("decode",))


def _shape(subject: Subject) -> tuple[int, int]:
    sizes = subject.bench.sizes("timed shape")
    return sizes.one_of(_HEADS), sizes.one_of(_WIDTHS)


def _climbed(subject: Subject, first: int, most: int, step: Callable[[int], object]) -> _Climb:
    """Steps from ``first`` tokens held to ``most``, or as far as time goes."""
    climb, left = _Climb(first), min(_SECONDS, subject.bench.left / 4)
    for t in range(first - 1, most):
        seconds = _spent(subject, step, t)
        climb.seconds.append(seconds)
        left -= seconds
        if left <= 0:
            break
    return climb


def _spent(subject: Subject, call: Callable[..., object], *arguments: object) -> float:
    """Processor time that a call took in the shared worker."""
    worker = subject.bench.worker
    before = worker.processor_used
    call(*arguments)
    return worker.processor_used - before


def _held(
    subject: Subject,
    found: Findings,
    said: list[str],
    what: str,
    climb: Callable[[], _Climb],
    roles: Sequence[str],
) -> None:
    """Hold the growth of steps; what exceeds it has to do so twice."""
    quantity = f"processor seconds of {what}: share of their growth that goes with the square of the length"
    if subject.bench.place.gpu:
        found.note(quantity, "not told", note="What a GPU does takes no processor time.")
        return
    try:
        climbed = climb()
        if climbed.last < _FEWEST:
            found.note(quantity, "not told", note=f"{climbed.last} tokens take {sum(climbed.seconds):.2g} s")
            return
        grown = climbed.squared()
        if grown > _SHARE:
            climbed = climb()
            grown = min(grown, climbed.squared()) if climbed.last >= _FEWEST else 0.0
    except (Fault, Skipped) as fault:
        if subject.bench.left <= 0:
            raise
        found.note(quantity, "not told", note=fault.message)
        return
    points = climbed.points()
    shown = ", ".join(f"{seconds * 1e3:.3g} ms at {n:.0f}" for n, seconds in points)
    curve = Curve("tokens held", "seconds of a step", tuple(points))
    if not found.limit(
        quantity, round(grown, 2), _SHARE, otherwise=Verdict.WARN, curve=curve, note=f"{_NOTE} {shown}",
        **({} if grown <= _SHARE else subject.where(*roles)),
    ):  # fmt: skip
        told = f"by the kernel's clock {what} grows as the square of the length ({shown})"
        said.append(f"{told}: what it does is kept from the count")
