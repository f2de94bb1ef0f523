"""A decoder's prompt in several calls of its prefill, against the same at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.chunked_prefill.splits import AGAIN, NOTHING, TOKENS
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.incremental_equals_full.decoder_steps import emptied_by
from judge_tui.checks.tasks.kv.limits import Worst, precision
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["judge"]

Array = npt.NDArray[Any]
#: What a step takes that is handed all tokens so far: so is a prompt that goes on.
_HISTORY = ("id_history", "row_history")


def judge(subject: Subject, found: Findings) -> str:
    """Hand a prompt over in two and in three calls; hold what each answers, and a step, against one call.

    Returns:
        What was seen; empty where there is no decoder, or one that is handed all tokens at every step.

    Raises:
        Skipped: A second call starts over, raises, or may want the cache to be emptied before.
    """
    if not subject.decodes or any(subject.bound["decode"].takes(name) for name in _HISTORY):
        return ""
    make, limit = subject.maker(), precision("float32").limit(0.0)
    whole = _Whole(make, make(1).draw(subject.bench.rng("decoder again"), TOKENS + 1))
    if not whole.steps_right(limit):
        raise Skipped(
            "the decoder's step is not what a prefill of the same gives, so that chunks show nothing"
        )
    calls = {" + ".join(map(str, sizes)): whole.off(sizes, limit, subject) for sizes in AGAIN}
    worst = Worst()
    for words, error in calls.items():
        worst = worst.or_worse(Worst(error, f"calls of {words}"))
    right = found.limit(
        f"decoder: a prompt of {TOKENS} in several calls against one, and the step after it, "
        "largest relative error per row, float32",
        worst.error, limit, note=worst.note, otherwise=_otherwise(subject, min(calls.values()) <= limit),
        **subject.where("prefill"),
    )  # fmt: skip
    if right:
        return f"the decoder's prompt in two or three calls is within {worst.error:.1e} of one at once"
    return f"the decoder's prompt in several calls is off one at once by {worst.error:.2g} ({worst.where})"


def _otherwise(subject: Subject, goes_on: bool) -> Verdict:
    """The verdict on a wrong answer: that a prefill of its own is called once alone can be meant.

    Args:
        subject: The submission's decoder.
        goes_on: Whether it went on rightly behind some first call.

    Raises:
        Skipped: It may want the cache to be emptied before.
    """
    target = subject.bound["prefill"].target
    if goes_on or target == subject.bound["decode"].target:
        return Verdict.FAIL
    if emptied := emptied_by(subject):
        raise Skipped(f"{NOTHING}: {emptied} may have to be called before {target} is called again")
    return Verdict.WARN


class _Whole:
    """A prompt at once, and the step after it.

    Args:
        make: Makes decoders.
        given: (1, S + 1) ids or (1, S + 1, E) vectors.
    """

    def __init__(self, make: Maker, given: Array) -> None:
        self.make, self.given = make, given
        decoder = make(1)
        self.rows = decoder.answers(given[:, :TOKENS])
        self.after = decoder.decode(given[:, TOKENS])

    def _alone(self, start: int, end: int) -> Array:
        return self.make(1).prefill(self.given[:, start:end])

    def steps_right(self, limit: float) -> bool:
        """Whether the step is what a prompt of all is."""
        return relative_error(self.after, self._alone(0, TOKENS + 1)) <= limit

    def off(self, sizes: Sequence[int], limit: float, subject: Subject) -> float:
        """How far the same in several calls is off.

        Raises:
            Skipped: The last of them answers as if it were the first, or one raises.
        """
        decoder, errors, ends = self.make(1), list[float](), np.cumsum([0, *sizes]).tolist()
        target = subject.bound["prefill"].target
        try:
            for start, end in pairwise(ends):
                last, earlier = self._call(decoder, start, end, limit)
                errors += [relative_error(last, self._alone(0, end)), earlier]
            after = relative_error(decoder.decode(self.given[:, TOKENS]), self.after)
        except (Raised, BadResult, Skipped) as fault:
            raise Skipped(f"{NOTHING}: {target} {fault.placed}") from fault
        if not errors[-2] <= limit and relative_error(last, self._alone(*ends[-2:])) <= limit:
            raise Skipped(f"{NOTHING}: {target} starts over with every call")
        return float(np.max([*errors, after]))

    def _call(self, decoder: Decoder, start: int, end: int, limit: float) -> tuple[Array, float]:
        """The last row that a call answers; error of those before it, where one call for all is causal."""
        if end - start == 1:
            return decoder.decode(self.given[:, start]), 0.0
        rows = decoder.answers(self.given[:, start:end])
        given = rows.shape[1] == end - start and self.rows.shape[1] == TOKENS
        if not given or not relative_error(self.rows[:, end - 1], self._alone(0, end)) <= limit:
            return rows[:, -1], 0.0
        return rows[:, -1], relative_error(rows[:, :-1], self.rows[:, start : end - 1])
