"""Prompts about as long as a window, or longer, at once: into rings of several sizes, new ones and used ones.

Rings often begin small and grow to their window by steps of 16, 32, 64 or 256 tokens. A small window is whole
from the start, and steps reach a large one by little and little, so that neither shows what a prompt meets
that is longer than the room which is there. What is right in a window of 8 is right in a larger one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.refusing import refusal
from judge_tui.checks.tasks.kv.capacity.window import says_so
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.limits import float32_limit
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import cut, drawn
from judge_tui.checks.tasks.kv.words.misplaced import span
from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tolerance import relative_error

__all__ = ["LARGER", "PROMPTS", "SMALL", "judge", "prompt_of"]

Array = npt.NDArray[Any]
Stream = tuple[Array, Array, Array]

#: A window that is whole from the start, and larger ones, each beyond a usual step of growth.
SMALL, LARGER = 8, (40, 72, 264)
#: Steps before a prompt, and its tokens: so many windows and so many more.
PROMPTS = ((0, 1, 0), (0, 1, -3), (0, 1, 1), (0, 2, 3), (3, 1, 0), (3, 1, 5))
#: Steps behind it, and the share of the budget that must be left for another window.
_STEPS, _LEFT = 2, 0.35
#: A prompt that has room anyway: whether several tokens go in at once is a guess.
_SEVERAL = 4
#: Which weight is seen.
_SEEN = 1e-6
_ALONE = "the same tokens one by one go in rightly"


def prompt_of(window: int, case: tuple[int, int, int]) -> int:
    """Tokens of a prompt by one of :data:`PROMPTS`."""
    return case[1] * window + case[2]


def judge(subject: Subject, found: Findings, said: list[str]) -> None:
    """Hold steps behind such prompts against attention over the newest tokens, in windows of several sizes.

    Args:
        subject: The submission's cache, told how much it holds.
        found: Gathers the evidence.
        said: What is wrong is put in front.
    """
    if not says_so(subject) or not _takes_several(subject):
        return
    if _Case(subject, SMALL, 0, 0, _SEVERAL).width() is None:
        found.note("several tokens at once into a window", "not judged", note="nothing shows that they go in")
        return
    for case in PROMPTS:
        small = _Case(subject, SMALL, *case)
        width = small.width()
        if width is None:
            if broken := small.broken():
                _fail(subject, found, said, small, broken, _ALONE)
                return
            # refused, begun anew, or another kind of window: nothing to go by
            found.note(small.words, "not judged", note="refused, or seen otherwise")
            continue
        for window in LARGER:
            if subject.bench.left < _LEFT * subject.bench.budget:
                return
            if wrong := _Case(subject, window, *case).wrong(width - SMALL):
                _tell(subject, found, said, _Case(subject, window, *case), wrong, width - SMALL)
                return
    found.claim(
        "prompts as long as a window, and longer, at once", True, measured="as in a window of 8",
        limit=f"the same in windows of {', '.join(map(str, LARGER))}",
    )  # fmt: skip


def _takes_several(subject: Subject) -> bool:
    return ("step_many" if subject.mode == "fused" else "append_many") in subject.bound


def _tell(subject: Subject, found: Findings, said: list[str], case: _Case, wrong: str, beyond: int) -> None:
    """Fail what goes wrong in a larger window, with what the same tokens do that come one by one."""
    alone = "" if case.alone().wrong(beyond) else f"; {_ALONE}"
    _fail(subject, found, said, case, wrong, f"right in a window of {SMALL}{alone}")


def _fail(subject: Subject, found: Findings, said: list[str], case: _Case, wrong: str, note: str) -> None:
    found.claim(
        case.words, False, measured=wrong, limit="a step behind it sees the newest tokens, or a refusal",
        note=note, **subject.where("step_many", "append_many"),
    )  # fmt: skip
    said.insert(0, f"{case.words}: {wrong}, and {note}")


@dataclass(frozen=True, slots=True)
class _Case:
    """A prompt into a window, and steps before and behind it.

    Attributes:
        subject: The submission's cache.
        window: Tokens that it is made for.
        before: Steps before the prompt.
        times: Windows that the prompt is long.
        more: Tokens that it has besides.
        whole: Whether the prompt goes in with one call.
    """

    subject: Subject
    window: int
    before: int
    times: int
    more: int
    whole: bool = True

    @property
    def prompt(self) -> int:
        """Tokens of the prompt."""
        return prompt_of(self.window, (self.before, self.times, self.more))

    @property
    def words(self) -> str:
        """The case in words."""
        behind = f", behind {self.before} steps" if self.before else ""
        return f"a prompt of {self.prompt} at once into a window of {self.window}{behind}"

    def width(self) -> int | None:
        """How many tokens a step sees behind it; ``None`` where it is not the newest of about a window."""
        limit = float32_limit(self.subject)
        for width in (self.window, self.window + 1):
            try:
                if self._off(width) <= limit:
                    return width
            except (Raised, BadResult, Skipped):
                continue
        return None

    def alone(self) -> _Case:
        """The same tokens one by one."""
        return replace(self, whole=False)

    def broken(self) -> str:
        """The exception that it breaks by, where the same tokens one by one go; empty for a refusal."""
        try:
            self._off(self.window)
        except Raised as fault:
            refused = refusal(self.subject.bench.submission, fault)
            return "" if refused or self.alone().width() is None else fault.brief(120)
        except (BadResult, Skipped):
            pass
        return ""

    def wrong(self, beyond: int) -> str:
        """What is wrong where a step sees so many tokens more than a window; empty for nothing."""
        try:
            error = self._off(self.window + beyond)
        except Raised as fault:
            return "" if refusal(self.subject.bench.submission, fault) else fault.brief(120)
        except BadResult as fault:
            return fault.brief(120)
        except Skipped:
            return ""
        limit = float32_limit(self.subject)
        if error <= limit:
            return ""
        return f"a step behind it {self._sees() or f'is off by {error:.2g}'}"

    def _sees(self) -> str:
        """Which tokens the first step behind it does not see, or sees and should not; empty if not known."""
        step, wide = self.before + self.prompt, self._cached().sizes.head_dim
        seen = np.zeros(step + 1, dtype=bool)
        try:
            for first in range(0, step + 1, wide):
                shown = np.arange(first, min(first + wide, step + 1))
                weights = self._weights(shown)
                if weights is None:
                    return ""
                seen[shown] = weights > _SEEN
        except (Raised, BadResult, Skipped):
            return ""
        should = np.arange(step + 1) > step - self.window
        told = [
            f"{words} {span('token', np.flatnonzero(places).tolist(), step + 1)}"
            for words, places in (("does not see", should & ~seen), ("sees", seen & ~should))
            if places.any()
        ]
        return " and ".join(told)

    def _cached(self) -> Cached:
        return self.subject.cached(self.subject.sizes(1, self.window, layers=1, narrow=True))

    def _weights(self, shown: Array) -> Array | None:
        """How much of each of these tokens is in the first step behind it; ``None`` where nothing attends."""
        cached, step = self._cached(), self.before + self.prompt
        q, k, v = self._stream(cached)
        values = np.zeros_like(v)
        values[:, :, shown, shown - shown[0]] = 1
        self._fill(cached, (q, k, values))
        out = _answer(cached, cut((q, k, values), step, step + 1), self.window)
        return None if out is None else np.abs(out[:, :, 0]).max(axis=(0, 1))[: len(shown)]

    def _off(self, width: int) -> float:
        """The largest error of the steps behind it.

        Raises:
            Fault: What the submission did.
        """
        first, cached = self.before + self.prompt, self._cached()
        stream = self._stream(cached)
        self._fill(cached, stream)
        return max(_of_step(cached, stream, t, width) for t in range(first, first + _STEPS))

    def _stream(self, cached: Cached) -> Stream:
        rng = self.subject.bench.rng("long prompts", self.window)
        return drawn(rng, cached.sizes, self.before + self.prompt + _STEPS)

    def _fill(self, cached: Cached, stream: Stream) -> None:
        """Steps and a prompt; what attends by a call of its own is not asked for their rows."""
        mode, first = cached.mode, self.before + self.prompt
        cached.mode = "read" if mode in ("attend", "attention") else mode
        cached.feed(*cut(stream, 0, self.before), whole=False)
        cached.feed(*cut(stream, self.before, first), whole=self.whole)
        cached.mode = mode


def _of_step(cached: Cached, stream: Stream, token: int, width: int) -> float:
    """The error of one step, or of what is held behind it, against the newest ``width`` tokens."""
    seen = cut(stream, max(0, token + 1 - width), token + 1)
    now = cut(stream, token, token + 1)
    out = _answer(cached, now, width)
    if out is not None:
        return float(relative_error(out, attention(now[0], *seen[1:])))
    fed, cached.counts = cached.counts, np.minimum(cached.counts, width)
    try:
        return _of_held(cached.stored(0), seen)
    finally:
        cached.counts = fed


def _answer(cached: Cached, now: Stream, width: int) -> Array | None:
    """Take a token in, and what its query gets over the newest ``width``; ``None`` where nothing attends."""
    mode = cached.mode
    if mode in ("fused", "attend"):
        return cached.feed(*now)
    cached.mode = "read"
    cached.feed(*now)
    cached.mode = mode
    if mode == "read":
        return None
    fed, cached.counts = cached.counts, np.minimum(cached.counts, width)
    try:
        return cached.attend(now[0], None, np.ones(len(fed), np.int64))
    finally:
        cached.counts = fed


def _of_held(held: tuple[Array, Array], seen: Stream) -> float:
    """The error of what is held; a ring may give it back from where it was written last."""
    keys = seen[1][:1].astype(float)
    size = np.square(held[0] - keys[:, :, :1]).sum((0, 1, 3))
    turn = -int(np.argmin(size)) if size.size else 0
    pairs = zip(held, seen[1:], strict=True)
    return max(float(relative_error(np.roll(got, turn, 2), x[:1].astype(float))) for got, x in pairs)
