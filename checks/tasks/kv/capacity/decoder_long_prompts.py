"""A decoder's prompts that are as long as its window, or longer, at once, in windows of several sizes.

The same as :mod:`.long_prompts`: what a ring of 8 takes rightly, one that has to grow to its window may not.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.refusing import refusal
from judge_tui.checks.tasks.kv.capacity.decoder_window import MAKERS
from judge_tui.checks.tasks.kv.capacity.long_prompts import LARGER, PROMPTS, SMALL, prompt_of
from judge_tui.checks.tasks.kv.capacity.window import says_so
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.limits import precision
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge"]

Array = npt.NDArray[Any]
#: Room beside a window, where a decoder is told that too; steps behind a prompt; budget that must be left.
_MORE, _STEPS, _LEFT = 64, 2, 0.35
#: A window of which two go through steps.
_FEW = 100
#: Tokens of the first call where all others are steps.
_FIRST = 2


def judge(subject: Subject, found: Findings, said: list[str]) -> None:
    """Hold steps behind long prompts against the same tokens in steps; a window of 8 says what goes at all.

    Args:
        subject: The submission's decoder.
        found: Gathers the evidence.
        said: What is wrong is put in front.
    """
    if not says_so(subject, *MAKERS) or not any(each.takes("window") for each in subject.bound.values()):
        return
    small = _Window(subject, SMALL)
    goes = [case for case in PROMPTS if not small.wrong(case)]
    for window in LARGER if goes else ():
        if subject.bench.left < _LEFT * subject.bench.budget:
            return
        larger = _Window(subject, window)
        if larger.make is None:
            continue
        for case in goes:
            if wrong := larger.wrong(case):
                behind = f", behind {case[0]} tokens" if case[0] else ""
                words = (
                    f"decoder: a prompt of {prompt_of(window, case)} at once in a window of {window}{behind}"
                )
                note = f"the same tokens in steps go in rightly, and it is right in a window of {SMALL}"
                found.claim(
                    words, False, measured=wrong, limit="as steps", note=note, **subject.where("prefill")
                )
                said.insert(0, f"{words}: {wrong}; {note}")
                return


class _Window:
    """A decoder made for a window, and what its steps answer.

    Args:
        subject: The submission's decoder.
        window: Tokens that a step sees.
    """

    def __init__(self, subject: Subject, window: int) -> None:
        self.subject, self.window, self.limit = subject, window, precision("float32").limit(0.0)
        self.make: Maker | None = None
        self.steps = np.empty((0, 0))
        longest = max(sum(self._calls(case)) for case in PROMPTS if self._drawn(case))
        for room in (window, 2 * window + _MORE):
            try:
                make = subject.maker(max_len=room, window=window, layers=1)
                self.steps = self._answers(make, (_FIRST, *[1] * (longest - _FIRST)))
            except (Raised, BadResult, Skipped):
                continue
            self.make = make
            return

    def _drawn(self, case: tuple[int, int, int]) -> bool:
        """Whether its tokens are not so many that steps alone take too long."""
        return self.window <= _FEW or case[1] == 1

    def _calls(self, case: tuple[int, int, int]) -> tuple[int, ...]:
        """Tokens of each call."""
        return (*((case[0],) if case[0] else ()), prompt_of(self.window, case), *[1] * _STEPS)

    def wrong(self, case: tuple[int, int, int]) -> str:
        """What is wrong behind a prompt by one of the cases; empty for nothing."""
        if self.make is None:
            return "it is not to be had"
        if not self._drawn(case):
            return ""
        calls = self._calls(case)
        try:
            rows = self._answers(self.make, calls)[-_STEPS:]
        except Raised as fault:
            return "" if refusal(self.subject.bench.submission, fault) else fault.brief(120)
        except (BadResult, Skipped):
            return ""
        # the first call of the steps is one of several tokens
        behind = sum(calls) - _FIRST + 1
        error = float(relative_error(rows, self.steps[behind - _STEPS : behind]))
        return "" if error <= self.limit else f"a step behind it is off the same in steps by {error:.2g}"

    def _answers(self, make: Maker, calls: Sequence[int]) -> Array:
        """(calls, W) the last answer of each call of a new decoder."""
        decoder, rows = make(1), list[Array]()
        given = self._given(make)
        for start, end in pairwise(np.cumsum([0, *calls]).tolist()):
            one = end - start == 1
            got = decoder.decode(given[:, start]) if one else decoder.answers(given[:, start:end])[0]
            rows.append(np.asarray(got)[-1:])
        return np.concatenate(rows)

    def _given(self, make: Maker) -> Array:
        longest = max(sum(self._calls(case)) for case in PROMPTS)
        return make(1).draw(self.subject.bench.rng("long prompts", self.window), longest)
