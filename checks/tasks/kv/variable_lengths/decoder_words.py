"""Why a sequence of a decoder's ragged batch is not what it is alone: what reaches it, where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.faces.projections import Shape
from judge_tui.checks.tasks.kv.faces.slots import Kept, arrays, slots
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tolerance import relative_error

__all__ = ["batch_words", "more_words"]

Array = npt.NDArray[Any]
#: The share of the budget that must be left for looking closer.
_LEFT = 0.3
#: How near rows are that are the same, whichever way they came in; steps that are tried.
_SAME, _STEPS = 1e-4, 3


def batch_words(subject: Subject, lengths: Sequence[int], given: Array, limit: float) -> str:
    """What is seen of a wrong answer of prompts of several lengths and steps, as the end of a sentence.

    Args:
        subject: What is judged.
        lengths: Of the prompts.
        given: (B, N) ids or (B, N, E): prompts as long as the longest, and steps behind them.
        limit: Relative error of a right answer.
    """
    if subject.bench.left < _LEFT * subject.bench.budget:
        return ""
    try:
        for make in _makers(subject):
            if told := _Batch(make, lengths, given, limit).told():
                return f": {told}"
    except Fault:
        return ""
    return ""


def more_words(subject: Subject, lengths: Sequence[int], given: Array, limit: float) -> str:
    """What a wrong row of further tokens at once sees, behind prompts of several lengths; as above."""
    if subject.bench.left < _LEFT * subject.bench.budget:
        return ""
    try:
        for make in _makers(subject):
            if told := _More(make, lengths, given, limit).told():
                return f": {told}"
    except Fault:
        return ""
    return ""


def _makers(subject: Subject) -> list[Maker]:
    """What makes decoders of one layer, where they can be told so, and as they are."""
    made = (subject.bound[role] for role in ("decoder", "state") if role in subject.bound)
    one_layer = any(each.takes("layers") for each in made)
    return [subject.maker(layers=1), subject.maker()] if one_layer else [subject.maker()]


class _Batch:
    def __init__(self, make: Maker, lengths: Sequence[int], given: Array, limit: float) -> None:
        self.make, self.lengths, self.given, self.limit = make, list(lengths), given, limit
        self.longest = max(lengths)

    def told(self) -> str:
        """What is seen of the first wrong answers; empty where all are right."""
        for steps in range(_STEPS + 1):
            out, decoder = self._run(self.given, steps)
            wrong = [b for b in range(len(out)) if not self._right(out, b, steps)]
            if wrong:
                clauses = [self._which(wrong), *self._reaching(wrong[0], steps, out)]
                clauses.append(self._place(decoder, wrong[0], steps) if steps else "")
                return "; ".join(filter(None, clauses))
        return ""

    def _run(self, given: Array, steps: int) -> tuple[Array, Decoder]:
        decoder = self.make(len(self.lengths))
        out = decoder.prefill(given[:, : self.longest], np.array(self.lengths))
        for t in range(self.longest, self.longest + steps):
            out = decoder.decode(given[:, t])
        return out, decoder

    def _own(self, b: int, steps: int) -> list[int]:
        return [*range(self.lengths[b]), *range(self.longest, self.longest + steps)]

    def _right(self, out: Array, b: int, steps: int) -> bool:
        alone = self.make(1).prefill(self.given[b : b + 1, self._own(b, steps)])
        return relative_error(out[b : b + 1], alone) <= self.limit

    def _which(self, wrong: list[int]) -> str:
        right = [b for b in range(len(self.lengths)) if b not in wrong]
        if right and all(self.lengths[b] == self.longest for b in right):
            return "right for the longest sequence alone"
        if right == [0]:
            return "right for the first sequence alone"
        return ""

    def _reaching(self, b: int, steps: int, out: Array) -> list[str]:
        """What reaches the answer of a sequence and should not."""
        told = []
        for words, rows, places in (
            ("its padding", [b], range(self.lengths[b], self.longest)),
            ("what other sequences were fed", [i for i in range(len(out)) if i != b], range(self.longest)),
        ):
            other = self.given.copy()
            for row in rows:
                # a token of the same row, in another order, so that ids stay ids
                other[row, list(places)] = self.given[row, [(place + 1) % self.longest for place in places]]
            if (self._run(other, steps)[0][b] != out[b]).any():
                told.append(f"{words} reaches the answer of sequence {b}")
        return told

    def _place(self, decoder: Decoder, b: int, steps: int) -> str:
        """Where the newest token of a sequence is stored as standing, if elsewhere."""
        token, stands = self.longest + steps - 1, self.lengths[b] + steps - 1
        sizes = decoder.sizes
        shape = Shape(sizes.heads, sizes.kv_heads or sizes.heads, sizes.embed // sizes.heads)
        count = self.longest + steps + 2
        alone = self.make(1)
        empty = arrays(self.make(1))
        alone.prefill(np.repeat(self.given[b : b + 1, token : token + 1], count, axis=1))
        known = [slot.seen[:, :count] for slot in slots(empty, arrays(alone), shape, count)]
        kept = _row(arrays(decoder), b, len(self.lengths))
        found = [slot.seen for slot in slots(_row(arrays(self.make(len(self.lengths))), b, len(self.lengths)),
                                             kept, shape, 1)]  # fmt: skip
        if not known or len(found) != len(known):
            return ""
        at = {
            position
            for place in range(min(seen.shape[1] for seen in found))
            for position in range(count)
            if all(_near(one[:, place], other[:, position]) for one, other in zip(found, known, strict=True))
        }
        if not at or stands in at:
            return ""
        return f"the step of sequence {b}, at {stands}, is stored as one that stands at position {min(at)}"


class _More:
    """Tokens at once behind prompts of several lengths; the arguments are those of :func:`more_words`."""

    def __init__(self, make: Maker, lengths: Sequence[int], given: Array, limit: float) -> None:
        self.make, self.lengths, self.given, self.limit = make, list(lengths), given, limit
        self.longest, self.tokens = max(lengths), int(given.shape[1])

    def _run(self, given: Array) -> Array:
        decoder = self.make(len(self.lengths))
        decoder.prefill(given[:, : self.longest], np.array(self.lengths))
        return decoder.answers(given[:, self.longest :])

    def told(self) -> str:
        """Which tokens the first wrong row sees and should not, or the other way round."""
        rows = self._run(self.given)
        count = rows.shape[1]
        for b, length in enumerate(self.lengths):
            for row in range(self.tokens - count, self.tokens):
                own = [*range(length), *range(self.longest, row + 1)]
                at = row - (self.tokens - count)
                alone = self.make(1).prefill(self.given[b : b + 1, own])
                if not relative_error(rows[b : b + 1, at], alone) <= self.limit:
                    return self._seen(b, at, own, rows[b, at])
        return ""

    def _seen(self, b: int, at: int, own: list[int], out: Array) -> str:
        sees = []
        for token in range(self.tokens):
            other = self.given.copy()
            other[b, token] = self.given[b, (token + 1) % self.tokens]
            if (other[b, token] == self.given[b, token]).all():
                other[b, token] = self.given[b, (token + 2) % self.tokens]
            if (self._run(other)[b, at] != out).any():
                sees.append(token)
        names = {
            "tokens of its prompt that it does not see": [
                t for t in own if t < self.longest and t not in sees
            ],
            "earlier tokens of the call that it does not see": [
                t for t in own if t >= self.longest and t not in sees
            ],
            "padding that it sees": [t for t in sees if self.lengths[b] <= t < self.longest],
            "later tokens of the call that it sees": [t for t in sees if t > own[-1]],
        }
        told = [f"{len(tokens)} {words}" for words, tokens in names.items() if tokens]
        which = f"row {at} of the call, of sequence {b}, whose prompt has {self.lengths[b]}"
        if not told:
            return f"{which}: it sees all of its own tokens and no others, but as if they stood elsewhere"
        return f"{which}: {', '.join(told)}"


def _row(kept: Kept, b: int, batch: int) -> Kept:
    """What one sequence of a batch has of arrays with an axis of sequences."""
    own: Kept = {}
    for path, (handle, values, dtype) in kept.items():
        axes = [axis for axis, n in enumerate(values.shape) if n == batch]
        if len(axes) == 1:
            own[path] = handle, np.take(values, [b], axis=axes[0]), dtype
    return own


def _near(one: Array, other: Array) -> bool:
    size = float(np.abs(other).max())
    return bool(size > 0 and np.abs(one - other).max() <= _SAME * size)
