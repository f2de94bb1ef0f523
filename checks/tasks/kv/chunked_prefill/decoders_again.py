"""A decoder's prompt in several calls of its prefill, against the same at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.binding.solver import Search
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.chunked_prefill.seen_rows import told_calls, whole_rows
from judge_tui.checks.tasks.kv.chunked_prefill.splits import AGAIN, NOTHING, TOKENS, place
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.finding import going_on
from judge_tui.checks.tasks.kv.incremental_equals_full.decoder_steps import emptied_by
from judge_tui.checks.tasks.kv.limits import Worst, precision
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["judge"]

Array = npt.NDArray[Any]
#: What a step takes that is handed all tokens so far: so is a prompt that goes on.
_HISTORY = ("id_history", "row_history")
#: What a call for prompts says of itself that is meant to go on behind what a cache holds.
_GOES_ON = re.compile(
    r"(?i)\b(later|further|next|more|several|many|multiple|multi)[- ](user )?turns?\b|\bfollow-?up|"
    r"non-?empty (kv )?cache|\b(continu\w+|resum\w+|go(es)? on) (a |an |the |from|after|behind|with)"
)
#: What a call for one token says of itself.
_SINGLE = re.compile(
    r"(?i)\b(one|a single|single|1|the next|the newest|the last) (new |more )?token\b(?! per)|"
    r"\((b|batch|n|rows), ?1, ?\w+\)"
)


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
    whole = _Whole(make, make(1).draw(subject.bench.rng("decoder again"), TOKENS + 1), _meant(subject))
    if not whole.steps_right(limit):
        raise Skipped(
            "the decoder's step is not what a prefill of the same gives, so that chunks show nothing"
        )
    own = _Calls(subject.bound["prefill"])
    try:
        own = own.of(whole, limit)
    except Skipped as fault:
        if (other := _going_on(subject, whole, limit)) is None:
            raise Skipped(f"{fault.message}, and nothing else takes several tokens behind others") from None
        return _told(subject, found, other, limit, Verdict.FAIL if other.right(limit) else Verdict.WARN)
    if not own.right(limit) and not whole.meant and (other := _going_on(subject, whole, limit)) is not None:
        if other.right(limit):
            return _told(subject, found, other, limit, Verdict.FAIL)
    return _told(subject, found, own, limit, _otherwise(subject, own.right(limit)))


def _told(subject: Subject, found: Findings, calls: _Calls, limit: float, otherwise: Verdict) -> str:
    """The evidence of calls that go on, and the sentence."""
    worst = Worst()
    for words, error in calls.errors.items():
        worst = worst.or_worse(Worst(error, f"calls of {words}"))
    prefill = subject.bound["prefill"]
    by = f" ({calls.binding.target} behind the first)" if calls.binding.target != prefill.target else ""
    right = found.limit(
        f"decoder: a prompt of {TOKENS} in several calls{by} against one, and the step after it, "
        "largest relative error per row, float32",
        worst.error, limit, note=worst.note, otherwise=otherwise, **place(calls.binding),
    )  # fmt: skip
    if right:
        return f"the decoder's prompt in two or three calls{by} is within {worst.error:.1e} of one at once"
    over = "; a later call answers as if nothing were stored, and "
    over += "its text says that it goes on" if _meant(subject) else "a step behind it sees what was"
    return (
        f"the decoder's prompt in several calls{by} is off one at once by {worst.error:.2g} ({worst.where})"
        f"{over if calls.over else ''}{_why(subject, calls)}"
    )


def _why(subject: Subject, calls: _Calls) -> str:
    """What the calls that are furthest off store otherwise than one does, as the end of a sentence."""
    given = subject.maker()(1).draw(subject.bench.rng("decoder again"), TOKENS)
    worst = max(calls.errors, key=lambda words: float(np.nan_to_num(calls.errors[words], nan=np.inf)))
    ends = np.cumsum([0, *map(int, worst.split(" + "))]).tolist()

    def feed(decoder: Decoder, tokens: Array) -> Array:
        rows = list[Array]()
        for start, end in pairwise(ends):
            if start:
                going_on.handed(decoder, calls.binding)
            one = end - start == 1
            got = decoder.decode(tokens[:, start]) if one else decoder.answers(tokens[:, start:end])[0]
            rows.append(whole_rows(got, end - start))
        return np.concatenate(rows)

    told = told_calls(subject, feed, given, np.diff(ends).tolist())
    return f": {told}" if told else ""


def _going_on(subject: Subject, whole: _Whole, limit: float) -> _Calls | None:
    """Another call that takes the rest of a prompt: the first that does so rightly, behind some first call.

    What is wrong behind all of them counts where it takes a prompt from the start rightly, or the call for
    prompts goes through it: it knows several tokens. One that is refused is for something else.
    """
    search, wrong = Search(subject.bench.worker, subject.bench.worker.loaded), None
    for binding in going_on.candidates(search, subject.bound, whole.make(1).model):
        with search.guess():
            calls = _Calls(binding).of(whole, limit)
            if calls.right(limit):
                return calls
            called = _called(subject, binding)
            # what knows nothing of a cache, and answers so, computes a text anew
            anew = calls.over and not called and not binding.takes("cache")
            single = any(map(_SINGLE.search, subject.text(binding)))
            if wrong is None and not (anew or single) and (called or whole.from_the_start(binding, limit)):
                wrong = calls
    return wrong


def _meant(subject: Subject) -> bool:
    """Whether the text of the call for prompts says that it goes on behind others."""
    return any(map(_GOES_ON.search, subject.text(subject.bound["prefill"])))


def _called(subject: Subject, binding: Binding) -> bool:
    """Whether the call for prompts goes through another."""
    own = binding.name.rpartition(".")[2]
    name = "self" if own == "__call__" else re.escape(own)
    return any(re.search(rf"\b{name}\(", text) for text in subject.text(subject.bound["prefill"]))


def _otherwise(subject: Subject, goes_on: bool) -> Verdict:
    """The verdict on a wrong answer: that a prefill of its own is called once alone can be meant.

    Args:
        subject: The submission's decoder.
        goes_on: Whether it went on rightly behind some first call.

    Raises:
        Skipped: It may want the cache to be emptied before.
    """
    target = subject.bound["prefill"].target
    if goes_on or target == subject.bound["decode"].target or _meant(subject):
        return Verdict.FAIL
    if emptied := emptied_by(subject):
        raise Skipped(f"{NOTHING}: {emptied} may have to be called before {target} is called again")
    return Verdict.WARN


@dataclass(frozen=True, slots=True)
class _Calls:
    """A prompt in several calls, in several ways.

    Attributes:
        binding: What takes all but the first tokens.
        errors: Sizes of the calls, in words → how far off their answers are.
        over: Whether one answered as if nothing had been stored.
    """

    binding: Binding
    errors: Mapping[str, float] = field(default_factory=dict)
    over: bool = False

    def of(self, whole: _Whole, limit: float) -> _Calls:
        """The same, held against one call.

        Raises:
            Skipped: It starts over, or raises.
        """
        # of the calls before these nothing is told
        whole.over = False
        errors = {" + ".join(map(str, sizes)): whole.off(sizes, limit, self.binding) for sizes in AGAIN}
        return _Calls(self.binding, errors, whole.over)

    def right(self, limit: float) -> bool:
        """Whether it went on rightly behind some first call."""
        return min(self.errors.values()) <= limit


class _Whole:
    """A prompt at once, and the step after it.

    Args:
        make: Makes decoders.
        given: (1, S + 1) ids or (1, S + 1, E) vectors.
        meant: Whether a later call is said to go on, so that one that starts over is wrong.
    """

    def __init__(self, make: Maker, given: Array, meant: bool) -> None:
        self.make, self.given, self.meant, self.over = make, given, meant, False
        decoder = make(1)
        self.rows = decoder.answers(given[:, :TOKENS])
        self.after = decoder.decode(given[:, TOKENS])

    def _alone(self, start: int, end: int) -> Array:
        return self.make(1).prefill(self.given[:, start:end])

    def steps_right(self, limit: float) -> bool:
        """Whether the step is what a prompt of all is."""
        return relative_error(self.after, self._alone(0, TOKENS + 1)) <= limit

    def from_the_start(self, binding: Binding, limit: float) -> bool:
        """Whether a call takes all tokens of a prompt into an empty cache."""
        decoder = going_on.handed(self.make(1), binding)
        return relative_error(decoder.answers(self.given[:, :TOKENS])[:, -1], self.rows[:, -1]) <= limit

    def off(self, sizes: Sequence[int], limit: float, later: Binding) -> float:
        """How far the same in several calls is off, those behind the first by ``later``.

        Raises:
            Skipped: The last of them starts over, and nothing says that it goes on; or one raises.
        """
        decoder, errors, ends = self.make(1), list[float](), np.cumsum([0, *sizes]).tolist()
        try:
            for start, end in pairwise(ends):
                if start:
                    going_on.handed(decoder, later)
                last, earlier = self._call(decoder, start, end, limit)
                errors += [relative_error(last, self._alone(0, end)), earlier]
            step = decoder.decode(self.given[:, TOKENS])
        except (Raised, BadResult, Skipped) as fault:
            raise Skipped(f"{NOTHING}: {later.target} {fault.placed}") from fault
        over = not errors[-2] <= limit and relative_error(last, self._alone(*ends[-2:])) <= limit
        self.over |= over
        if over and not self.meant and self._anew(ends[-2], step, limit):
            raise Skipped(f"{NOTHING}: {later.target} starts over with every call")
        return float(np.max([*errors, relative_error(step, self.after)]))

    def _anew(self, start: int, step: Array, limit: float) -> bool:
        """Whether a step behind the last call is what it is where nothing came before that."""
        decoder = self.make(1)
        decoder.prefill(self.given[:, start:TOKENS])
        return relative_error(step, decoder.decode(self.given[:, TOKENS])) <= limit

    def _call(self, decoder: Decoder, start: int, end: int, limit: float) -> tuple[Array, float]:
        """The last row that a call answers; error of those before it, where one call for all is causal."""
        if end - start == 1:
            return decoder.decode(self.given[:, start]), 0.0
        rows = decoder.answers(self.given[:, start:end])
        given = rows.shape[1] == end - start and self.rows.shape[1] == TOKENS
        if not given or not relative_error(self.rows[:, end - 1], self._alone(0, end)) <= limit:
            return rows[:, -1], 0.0
        return rows[:, -1], relative_error(rows[:, :-1], self.rows[:, start : end - 1])
