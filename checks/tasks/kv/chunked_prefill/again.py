"""A prompt in chunks where nothing cuts it: several calls for one prompt, each behind what is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Fault, Raised, Skipped
from judge_tui.checks.refusing import refusal
from judge_tui.checks.tasks.kv.chunked_prefill.causes import cause, own_chunk
from judge_tui.checks.tasks.kv.chunked_prefill.splits import AGAIN, NOTHING, TOKENS, place
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.positions import STAND
from judge_tui.checks.tasks.kv.limits import Worst, float32_limit
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import cut, drawn
from judge_tui.checks.tasks.kv.words.reference import attention, causal_rows, plain
from judge_tui.checks.tasks.kv.words.sizes import Sizes
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["judge"]

Array = npt.NDArray[Any]
_STEPS = 2


def judge(subject: Subject, found: Findings) -> str:
    """Feed a prompt in two and in three calls; hold rows and later steps against full attention.

    Returns:
        What was seen; empty where a cache takes one token at a time, or there is none.

    Raises:
        Skipped: What takes several tokens takes them into an empty cache alone, and what shows it.
    """
    if not subject.mode or not subject.cached(Sizes(2, 3, 20, 8)).can_feed_many:
        return ""
    prompt = _Prompt.of(subject)
    runs = [prompt.in_calls(sizes) for sizes in AGAIN]
    if prompt.for_prompts and any(prompt.starts_over(run) for run in runs):
        raise Skipped(f"{NOTHING}: {prompt.target} starts over with every call")
    if subject.mode == "read" and all(prompt.off_after(run) <= prompt.limit for run in runs):
        raise Skipped(f"{NOTHING}: {prompt.target} stores it in several calls as in one, and nothing attends")
    return _told(found, prompt, runs)


@dataclass(frozen=True, slots=True)
class _Run:
    """A prompt in several calls.

    Attributes:
        sizes: Tokens of each.
        rows: (B, H, S, D) answers; NaN where nothing answers.
        after: (B, H, steps, D) answers of the steps after it; NaN where there is no attention.
        held: How far what is read back is off, where there is no attention.
    """

    sizes: Sequence[int]
    rows: Array
    after: Array
    held: float

    @property
    def words(self) -> str:
        """Its calls."""
        return " + ".join(map(str, self.sizes))


@dataclass(slots=True)
class _Prompt:
    """A prompt, and what is right for it.

    Attributes:
        subject: The submission's cache.
        stream: q, k and v of the prompt and of the steps after it.
        limit: Of relative errors.
        causal: Whether a prompt that goes in at once gets causal rows; else its last row alone is held.
    """

    subject: Subject
    stream: tuple[Array, Array, Array]
    limit: float
    causal: bool = True

    @classmethod
    def of(cls, subject: Subject) -> _Prompt:
        """Draw one.

        Raises:
            Skipped: It does not go in rightly at once.
        """
        stream = drawn(subject.bench.rng("again"), subject.sizes(2, 4 * TOKENS), TOKENS + _STEPS)
        own = cls(subject, stream, 0.0)
        narrow = plain(*cut(stream, 0, TOKENS), visible=causal_rows(TOKENS, TOKENS))
        own.limit = float32_limit(subject, relative_error(narrow, own.truth(TOKENS)))
        try:
            whole = own.fed((TOKENS,))
        except (Raised, BadResult, Skipped) as fault:
            raise Skipped(f"no prompt goes in at once: {fault.message}") from fault
        if not (own.off(whole, [TOKENS - 1]) <= own.limit and own.off_after(whole) <= own.limit):
            raise Skipped("a prompt that goes in at once is answered wrongly, so that chunks show nothing")
        own.causal = own.off(whole, range(TOKENS)) <= own.limit
        return own

    @property
    def answers(self) -> bool:
        """Whether rows of several tokens come back: attention may have to be told where queries stand."""
        call = self.subject.bound.get("attention")
        told = call is not None and any(call.takes(name) for name in STAND)
        return told if self.subject.mode == "attention" else self.subject.mode != "read"

    @property
    def target(self) -> str:
        """What takes several tokens."""
        return self._calls[0]

    @property
    def for_prompts(self) -> bool:
        """Whether that takes no steps."""
        many, one = self._calls
        return many != one

    @property
    def _calls(self) -> tuple[str, str]:
        bound, (one, many) = self.subject.bound, ("append", "append_many")
        if self.subject.mode == "fused":
            one, many = "step", "step_many"
        return bound[many].target, bound[one].target if one in bound else bound[many].target

    def truth(self, tokens: int, start: int = 0) -> Array:
        """Causal attention over tokens ``start`` to ``tokens``."""
        return attention(
            *cut(self.stream, start, tokens), visible=causal_rows(tokens - start, tokens - start)
        )

    def in_calls(self, sizes: Sequence[int]) -> _Run:
        """The same in several calls.

        Raises:
            Skipped: A call is refused, or nothing shows that it is meant to be made.
        """
        try:
            return self.fed(sizes)
        except Skipped as fault:
            raise Skipped(f"{NOTHING}: {fault.message}") from fault
        except (Raised, BadResult) as fault:
            if self.for_prompts or (
                isinstance(fault, Raised) and refusal(self.subject.bench.submission, fault)
            ):
                raise Skipped(f"{NOTHING}: {self.target} {fault.placed}") from fault
            raise _in_calls(fault, sizes) from fault

    def fed(self, sizes: Sequence[int]) -> _Run:
        """A new cache with the prompt, in calls of so many tokens, and two more."""
        cached = self.subject.cached(self.subject.sizes(2, 4 * TOKENS))
        mode, ends = cached.mode, np.cumsum([0, *sizes]).tolist()
        if not self.answers:
            # They are stored alone, and the steps after them show it.
            cached.mode = "read"
        rows = [cached.feed(*cut(self.stream, *piece)) for piece in pairwise(ends)]
        cached.mode = mode
        after = [cached.feed(*cut(self.stream, t, t + 1)) for t in range(TOKENS, TOKENS + _STEPS)]
        held = self._held(cached) if mode == "read" else 0.0
        return _Run(sizes, np.concatenate(rows, axis=2), np.concatenate(after, axis=2), held)

    def _held(self, cached: Cached) -> float:
        errors = [
            relative_error(mine, fed[b : b + 1].astype(float))
            for b in range(cached.sizes.batch)
            for mine, fed in zip(cached.stored(b), self.stream[1:], strict=True)
        ]
        return float(np.max(errors))

    def held_rows(self, run: _Run) -> Sequence[int]:
        """All rows, or the last ones of the calls."""
        return range(TOKENS) if self.causal else [int(end) - 1 for end in np.cumsum(run.sizes)]

    def off(self, run: _Run, rows: Sequence[int]) -> float:
        """Error of some rows; none where nothing answers."""
        if not self.answers:
            return 0.0
        return relative_error(run.rows[:, :, list(rows)], self.truth(TOKENS)[:, :, list(rows)])

    def off_after(self, run: _Run) -> float:
        """Error of the steps after it, or of what is read back."""
        if self.subject.mode == "read":
            return run.held
        return relative_error(run.after, self.truth(TOKENS + _STEPS)[:, :, TOKENS:])

    def starts_over(self, run: _Run) -> bool:
        """Whether the steps see what the last call stored, and nothing before."""
        last = self.truth(TOKENS + _STEPS, TOKENS - run.sizes[-1])
        return relative_error(run.after, last[:, :, run.sizes[-1] :]) <= self.limit

    def sees_own_call(self, run: _Run) -> bool:
        """Whether all is stored, and rows see the tokens of their call alone, but for a step's."""
        steps = np.repeat(np.asarray(run.sizes) == 1, run.sizes)[:, None]
        seen = np.where(steps, causal_rows(TOKENS, TOKENS), own_chunk(run.sizes))
        alone = attention(*cut(self.stream, 0, TOKENS), visible=seen)
        return self.off_after(run) <= self.limit and relative_error(run.rows, alone) <= self.limit


def _in_calls(fault: Fault, sizes: Sequence[int]) -> Fault:
    fault.message = f"{fault.message} (a prompt in calls of {', '.join(map(str, sizes))})"
    return fault


def _told(found: Findings, prompt: _Prompt, runs: Sequence[_Run]) -> str:
    """The evidence of all splits, and the sentence."""
    rows, later, table = Worst(), Worst(), [("calls", "rows", "steps after")]
    for run in runs:
        error, step = prompt.off(run, prompt.held_rows(run)), prompt.off_after(run)
        wrong = "" if error <= prompt.limit else cause(run.rows, *cut(prompt.stream, 0, TOKENS), run.sizes)
        rows = rows.or_worse(Worst(error, f"calls of {run.words}", wrong))
        later = later.or_worse(Worst(step, f"calls of {run.words}"))
        table.append((run.words, f"{error:.2g}" if prompt.answers else "none given", f"{step:.2g}"))
    call = prompt.subject.bound["step_many" if prompt.subject.mode == "fused" else "append_many"]
    # What is for prompts, and attends over them before it stores them, may be meant for an empty cache.
    meant = prompt.for_prompts and all(prompt.sees_own_call(run) for run in runs)
    otherwise = Verdict.WARN if meant else Verdict.FAIL
    quantity = f"prompt of {TOKENS}, batch 2, in calls of several: {{}}, largest relative error, float32"
    if prompt.answers:
        found.limit(quantity.format("its rows against full causal attention"), rows.error, prompt.limit,
                    note=rows.note, table=tuple(table), otherwise=otherwise, **place(call))  # fmt: skip
    held = "what is read back" if prompt.subject.mode == "read" else f"{_STEPS} decode steps after it"
    found.limit(quantity.format(held), later.error, prompt.limit, note=later.note, **place(call))
    if rows.wrong(prompt.limit):
        return f"a prompt in several calls is off by {rows.error:.2g} ({rows.where}){rows.because}"
    if later.wrong(prompt.limit):
        return f"{held} is off by {later.error:.2g} after a prompt in several calls ({later.where})"
    worst = max(rows.error, later.error)
    return f"a prompt in two or three calls is within {worst:.1e} of one at once (limit {prompt.limit:.0e})"
