"""What a decoder has stored for its tokens, against a prompt of the same: which, and as standing where."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.faces.projections import Shape
from judge_tui.checks.tasks.kv.faces.slots import Kept, Slot, arrays, changed, slots
from judge_tui.checks.tasks.kv.incremental_equals_full.kept_rows import moved
from judge_tui.checks.tasks.kv.incremental_equals_full.slot_shapes import guessed
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.misplaced import span

__all__ = ["Stored", "stored"]

Array = npt.NDArray[Any]
#: How near rows are that are the same, whichever way they came in.
_SAME = 1e-4
#: Places and tokens that are looked for at most, and positions past the last token.
_MOST, _PAST = 24, 6
#: The share of the budget that must be left for looking closer.
_LEFT = 0.3


class Stored:
    """What is stored after calls, and after one prompt of the same tokens.

    Args:
        make: Makes decoders of one layer, or of a few.
        given: (1, N) ids or (1, N, E), all tokens that went in.
        decoder: A decoder after them.

    Attributes:
        shape: Heads, and their width.
        same: Whether what is stored can be seen, and is what the prompt stores.
        words: What is stored otherwise, as a clause; empty where nothing is seen, or known.
    """

    def __init__(self, make: Maker, given: Array, decoder: Decoder) -> None:
        self.make, self.given, self.tokens = make, given, int(given.shape[1])
        prompted, self._empty = make(1), arrays(make(1))
        prompted.prefill(given)
        after, truth = arrays(decoder), arrays(prompted)
        self.shape = self._shape(decoder, truth)
        self.same, self.words = False, _fewer(self.shape, self._empty, truth, self.tokens)
        if not self.words:
            self._compare(after, truth)

    def _shape(self, decoder: Decoder, truth: Kept) -> Shape:
        """Heads and width as it was told them; as its arrays have them where that fits none."""
        sizes = decoder.sizes
        told = Shape(sizes.heads, sizes.kv_heads or sizes.heads, sizes.embed // sizes.heads)
        fits = slots(self._empty, truth, told, 1)
        return told if fits else guessed(self._empty, truth, self.tokens) or told

    def _compare(self, after: Kept, truth: Kept) -> None:
        ours, theirs = (slots(self._empty, each, self.shape, self.tokens) for each in (after, truth))
        shapes = [[slot.seen.shape for slot in kept] for kept in (ours, theirs)]
        if not ours or shapes[0] != shapes[1]:
            rows = {shape[1] for shape in shapes[0]}
            if len(rows) == 1 and {shape[1] for shape in shapes[1]} == {self.tokens}:
                self.words = f"its cache has {rows.pop()} rows for {self.tokens} tokens"
            return
        wrong = _rows_apart(ours, theirs)
        self.same = not wrong
        if wrong and not (words := self._places(ours, wrong)):
            told = moved(self.shape, self._empty, after, truth, self.tokens)
            known = told and not told.endswith(": wrong")
            words = f"in the cache, but not after one prompt of all: {told}" if known else ""
        self.words = words if wrong else ""

    def _places(self, kept: list[Slot], wrong: list[int]) -> str:
        """What stands in places whose rows are wrong: nothing, or a token as one that stands elsewhere."""
        known = {token: self._everywhere(token) for token in range(min(self.tokens, _MOST))}
        empty, found = list[int](), dict[int, tuple[int, int]]()
        for place in wrong[:_MOST]:
            rows = [slot.seen[:, place] for slot in kept]
            if not any(row.any() for row in rows):
                empty.append(place)
                continue
            fits = (
                (token, position)
                for token in sorted(known, key=lambda token: token != place)
                # where positions do not matter, every one of them fits
                for position in sorted(range(self.tokens + _PAST), key=lambda n: (n != token, n != place))
                if _alike(rows, [seen[:, position] for seen in known[token]])
            )
            if (at := next(fits, None)) is None:
                return ""
            found[place] = at
        told = [_standing(found)] if found else []
        if empty:
            told.append(
                f"{span('place', empty, self.tokens)} of the cache stay{'s' * (len(empty) == 1)} empty"
            )
        return " and ".join(told)

    def _everywhere(self, token: int) -> list[Array]:
        """What is stored of a token that stands everywhere, of every array of keys or values."""
        # what stands before a token does not matter to what is stored of it in a first layer
        count = self.tokens + _PAST
        repeated = np.repeat(self.given[:, token : token + 1], count, axis=1)
        prompted = self.make(1)
        prompted.prefill(repeated)
        kept = slots(arrays(self.make(1)), arrays(prompted), self.shape, count)
        return [slot.seen[:, :count].copy() for slot in kept]


def stored(
    subject: Subject, feed: Callable[[Decoder], None], given: Array,
    bound: Mapping[str, Binding] | None = None, **sizes: Any,
) -> str:  # fmt: skip
    """What a decoder of one layer, if it can be one, stores otherwise than a prompt of the same tokens.

    Args:
        subject: What is judged.
        feed: Hands all tokens to a new decoder of one sequence, in whatever calls.
        given: (1, N) ids or (1, N, E), all tokens.
        bound: Other callables that play its roles.
        sizes: Of it, besides.

    Returns:
        A clause; empty where nothing is seen or known.
    """
    if subject.bench.left < _LEFT * subject.bench.budget:
        return ""
    made = (subject.bound[role] for role in ("decoder", "state") if role in subject.bound)
    try:
        make = subject.maker(layers=1) if any(each.takes("layers") for each in made) else subject.maker()
        decoder = make(1, bound, **sizes)
        feed(decoder)
        return Stored(make, given, decoder).words
    except Fault:
        return ""


def _standing(found: dict[int, tuple[int, int]]) -> str:
    """Places, and which token stands there as one of which position."""
    places = list(found)
    tokens, positions = ([found[place][i] for place in places] for i in (0, 1))
    which = span("token", tokens, max(tokens) + 1)
    are = "is" if len(tokens) == 1 else "are"
    told = [f"{which} {are} stored"]
    if tokens != places:
        told.append(f"in the place{'s' * (len(places) > 1)} of {span('token', places, max(places) + 1)}")
    if positions != tokens:
        by = {position - token for token, position in zip(tokens, positions, strict=True)}
        if len(tokens) == 1:
            told.append(f"as one that stands at position {positions[0]}")
        elif len(set(positions)) == 1:
            told.append(f"as if all stood at position {positions[0]}")
        elif len(by) == 1:
            step = by.pop()
            told.append(f"as if they stood {abs(step)} {'later' if step > 0 else 'earlier'}")
        else:
            told.append(f"as if they stood at positions {', '.join(map(str, positions[:6]))}")
    return " ".join(told)


def _alike(rows: list[Array], others: list[Array]) -> bool:
    def near(one: Array, other: Array) -> bool:
        size = max(float(np.abs(other).max()), 1e-300)
        return one.shape == other.shape and bool(np.abs(one - other).max() <= _SAME * size)

    return len(rows) == len(others) > 0 and all(map(near, rows, others))


def _rows_apart(ours: list[Slot], theirs: list[Slot]) -> list[int]:
    """Places whose rows are not the same."""
    apart = []
    for one, other in zip(ours, theirs, strict=True):
        size = max(float(np.abs(other.seen).max()), 1e-300)
        apart.append((~(np.abs(one.seen - other.seen) <= _SAME * size)).any(axis=(0, 2)))
    return np.flatnonzero(np.any(apart, axis=0)).tolist()


def _fewer(shape: Shape, empty: Kept, truth: Kept, tokens: int) -> str:
    """Whether a cache that grows has another number of rows than tokens after a prompt of so many."""
    rows = {slot.seen.shape[1] for slot in slots(empty, truth, shape, 1)}
    grows = not any(path in empty for path in changed(empty, truth))
    if len(rows) == 1 and grows and rows != {tokens} and (held := rows.pop()) < tokens:
        return f"after a prompt of {tokens} tokens its cache has {held} rows"
    return ""
