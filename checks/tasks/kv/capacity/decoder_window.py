"""A decoder that keeps a window of the newest tokens, once that has wrapped, against its own steps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.binding.solver import Search
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.refusing import refusal
from judge_tui.checks.tasks.kv.capacity.window import says_so
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.finding import going_on
from judge_tui.checks.tasks.kv.incremental_equals_full.own_forward import whole_texts
from judge_tui.checks.tasks.kv.limits import precision
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.seen_tokens import row_causes
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["MAKERS", "judge"]

#: What makes a decoder, and the cache that goes beside it.
MAKERS = ("decoder", "state", "states")
Array = npt.NDArray[Any]
_WIDTH, _ROOM = 8, 40
_TOTAL = 2 * _WIDTH + 3
_ONE_BY_ONE = (2, *[1] * (_TOTAL - 2))
#: Layers of a decoder whose first has no window.
_MIXED = 4
#: Calls that show whether several tokens go behind what is there, before anything wraps.
_FEW = (3, 3)
#: The share of the budget that must be left for looking closer.
_LEFT = 0.3
#: Stands before a cause.
_CAUSE = ", first at "
_STARTS_OVER = "a call for prompts alone may start over"
_WHOLE = "a prompt sees all of itself, and a step the newest tokens alone"
#: Calls past the window: a long one behind a short one, behind a full window, and in the middle of a turn.
_CALLS = ((6, 11, 1, 1), (8, 3, 6, 1, 1), (6, 1, 1, 1, 1, 1, 4, 1, 3))


def judge(subject: Subject, found: Findings, said: list[str]) -> None:
    """Steps past a window forget nothing inside it; prompts and calls of several tokens answer as they do.

    Args:
        subject: The submission's decoder.
        found: Gathers the evidence.
        said: What is wrong is put in front.
    """
    if not says_so(subject, *MAKERS):
        return
    # What has a length beside its window may refuse to go past that.
    window, refused = None, ""
    for room in (_WIDTH, _ROOM):
        try:
            window = window or _Window(subject, subject.maker(max_len=room, window=_WIDTH, layers=1))
        except (Raised, BadResult, Skipped) as fault:
            refused = fault.message
    try:
        if window is not None:
            window.judge(found, said)
    except (BadResult, Skipped) as fault:
        window, refused = None, fault.message
    if window is None:
        found.note("a decoder's steps past its window", "not judged", note=refused)


class _Window:
    """A decoder made for a small window, and what its steps answer.

    Args:
        subject: The submission's decoder.
        make: Makes it.
    """

    def __init__(self, subject: Subject, make: Maker) -> None:
        self.subject, self.make, self.limit = subject, make, precision("float32").limit(0.0)
        # One that nobody told of may be of another size.
        self.told = any(binding.takes("window") for binding in subject.bound.values())
        self.words = f"past a window of {_WIDTH}" if self.told else "past its window"
        #: What takes several tokens behind others, where the call for prompts starts over.
        self.later: Binding | None = None
        self.given = make(1).draw(subject.bench.rng("decoder window"), _TOTAL)
        self.steps = self._fed(self.given, _ONE_BY_ONE)

    def judge(self, found: Findings, said: list[str]) -> None:
        """All of it, as far as what goes before is right."""
        if (self.told and not self._keeps(found, said)) or not self._prompt(found, said):
            return
        said.append(f"decoder: a prompt {self.words} is answered as the same in steps")
        if why := self._begins_anew():
            found.note(f"decoder: {_FEW[1]} tokens behind {_FEW[0]}", "not as steps", note=why)
            return
        for calls in _CALLS:
            self._calls(found, said, calls)
        # What names a cause goes in front.
        said.sort(key=lambda words: _CAUSE not in words)

    def _begins_anew(self) -> str:
        """Why a call of several tokens goes behind nothing that is there; empty where it does, or another."""
        why = _STARTS_OVER
        try:
            if self._off(self._fed(self.given, _FEW)) <= self.limit:
                return ""
        except Raised as fault:
            why = fault.brief(160)
        search = Search(self.make.worker, self.make.worker.loaded)
        for later in going_on.candidates(search, self.make.bound, self.make(1).model):
            self.later = later
            if search.goes(lambda: bool(self._off(self._fed(self.given, _FEW)) <= self.limit)):
                return ""
        self.later = None
        return why

    def _calls(self, found: Findings, said: list[str], calls: Sequence[int]) -> None:
        by = f" by {self.later.target} behind the first" if self.later is not None else ""
        words = f"decoder: calls of {' + '.join(map(str, calls))} tokens {self.words}{by}"
        try:
            told = any(_CAUSE in each for each in said)
            why = "" if told else self._why(calls)
            self._held(found, said, words, self._off(self._fed(self.given, calls)), why=why)
        except Raised as fault:
            refused = refusal(self.subject.bench.submission, fault)
            found.claim(words, bool(refused), measured=refused or fault.brief(160),
                        limit="what steps answer, or a refusal", **self.subject.where("prefill"))  # fmt: skip
            if not refused:
                said.insert(0, f"{words}: {fault.brief(60)}")

    def _why(self, calls: Sequence[int]) -> str:
        """What the first wrong row of such calls sees; empty where none is wrong."""
        if self.subject.bench.left < _LEFT * self.subject.bench.budget:
            return ""

        def run(token: int, calls: Sequence[int]) -> Array:
            return self._fed(self.given if token < 0 else self._other(token), calls)

        return row_causes(run, calls, _ONE_BY_ONE, _WIDTH, self.limit)

    def _fed(self, given: Array, calls: Sequence[int]) -> Array:
        """(S, W) answers of a new decoder; NaN in rows that it does not give."""
        decoder, rows = self.make(1), list[Array]()
        for start, end in pairwise(np.cumsum([0, *calls]).tolist()):
            one = end - start == 1
            if start and not one and self.later is not None:
                going_on.handed(decoder, self.later)
            got = decoder.decode(given[:, start]) if one else decoder.answers(given[:, start:end])[0]
            rows.append(np.pad(got, [(end - start - len(got), 0), (0, 0)], constant_values=np.nan))
        return np.concatenate(rows)

    def _off(self, rows: Array, first: int = 0) -> float:
        """Error against the steps, of rows that both give, from the first on."""
        rows, steps = rows[first:], self.steps[first : len(rows)]
        both = [n for n, pair in enumerate(zip(rows, steps, strict=True)) if not np.isnan(pair).all(1).any()]
        return relative_error(rows[both], steps[both]) if len(rows) - 1 in both else float("nan")

    def _keeps(self, found: Findings, said: list[str]) -> bool:
        """Whether steps see the tokens of the window, every one, and of one layer none before it."""
        seen = [self._seen(token) for token in range(2, _TOTAL - _WIDTH - 1)]
        layers = any(b.takes("layers") for b in self.subject.bound.values())
        fewest, most = min(seen), max(seen)
        right = found.claim(
            f"decoder: steps that a token changes, of {_WIDTH} in a window", fewest >= _WIDTH,
            measured=fewest, limit=_WIDTH, **self.subject.where("decode"),
        )  # fmt: skip
        if not right:
            said.insert(0, f"decoder: a step {self.words} sees {fewest} tokens")
        elif layers and most > _WIDTH + 1 and self._mixes_layers():
            found.note("decoder: a first layer without a window", "sees all", note="as whole texts have it")
        elif layers and most > _WIDTH + 1:
            # Whoever keeps what came before, and sees the token of the step as well, sees one more.
            right = found.claim(
                "decoder: of one layer, steps that a token changes past the window", False,
                measured=most, limit=_WIDTH + 1, **self.subject.where("decode"),
            )  # fmt: skip
            said.insert(0, f"decoder: a step {self.words} sees {most} tokens")
        return right

    def _mixes_layers(self) -> bool:
        """Whether the first layer alone has no window: then the decoder is made of more layers from here on.

        One layer sees all, as it does where the submission computes a whole text without a cache; of several
        layers answers depend on the window.
        """
        search = Search(self.make.worker, self.make.worker.loaded)

        def sees_all(whole: Binding) -> bool:
            own = {**self.make.bound, "prefill": whole}
            return relative_error(self.make(1, own).prefill(self.given), self.steps[-1:]) <= self.limit

        wholes = whole_texts(self.subject, cached=True)
        if not any(search.goes(partial(sees_all, whole)) for whole in wholes):
            return False
        sizes = {**self.make.sizes, "layers": _MIXED}
        self.make = self.subject.maker(**{**sizes, "window": 2 * _TOTAL, "max_len": 2 * _TOTAL})
        all_seen = self._fed(self.given, _ONE_BY_ONE)
        self.make = self.subject.maker(**sizes)
        self.steps = self._fed(self.given, _ONE_BY_ONE)
        return not relative_error(self.steps, all_seen) <= self.limit

    def _seen(self, token: int) -> int:
        """How many steps in a row another token changes, from its own on."""
        pairs = zip(self._fed(self._other(token), _ONE_BY_ONE), self.steps, strict=True)
        after = [bool(np.any(mine != own)) for mine, own in pairs][token:]
        return after.index(False) if False in after else len(after)

    def _other(self, token: int) -> Array:
        """The same input with another token in one place."""
        other = self.given.copy()
        ids = other.dtype.kind == "i"
        other[:, token] = (other[:, token] + 1) % self.make(1).sizes.vocab if ids else other[:, token] + 1.0
        return other

    def _prompt(self, found: Findings, said: list[str]) -> bool:
        """Whether a prompt longer than the window is answered as steps are."""
        calls = (_TOTAL - 2, 1, 1)
        rows = self._fed(self.given, calls)
        words = f"decoder: a prompt of {calls[0]} {self.words}, and 2 steps"
        error = self._off(rows)
        # A prompt may see all of itself, where a step sees the window alone.
        whole = not error <= self.limit and self._seen(0) < calls[0] and self._sees_all(rows, calls)
        why = "" if whole or error <= self.limit else self._why(calls)
        return self._held(found, said, words, error, whole=whole, why=why)

    def _sees_all(self, rows: Array, calls: Sequence[int]) -> bool:
        """Whether the end of a prompt sees its first token, and the steps after it are right."""
        end, first = calls[0] - 1, self._fed(self._other(0), calls)
        return bool(np.any(first[end] != rows[end])) and self._off(rows, calls[0]) <= self.limit

    def _held(
        self,
        found: Findings,
        said: list[str],
        words: str,
        error: float,
        *,
        whole: bool = False,
        why: str = "",
    ) -> bool:
        right = found.limit(
            f"{words}: largest relative error against steps alone, float32", error, self.limit,
            otherwise=Verdict.WARN if whole else Verdict.FAIL, note=_WHOLE if whole else "",
            **self.subject.where("prefill"),
        )  # fmt: skip
        if not right:
            off = f"off the same in steps by {error:.2g}{_CAUSE * bool(why)}{why}"
            said.insert(0, f"{words}: {_WHOLE if whole else off}")
        return right
