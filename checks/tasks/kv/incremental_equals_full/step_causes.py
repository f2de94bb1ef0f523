"""A decode step that is wrong: from which length on, where stored rows have gone, or what of its weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.remote import Handle
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.projections import Shape
from judge_tui.checks.tasks.kv.faces.slots import Kept, arrays_of
from judge_tui.checks.tasks.kv.incremental_equals_full.kept_rows import moved
from judge_tui.checks.tasks.kv.incremental_equals_full.turning import from_where
from judge_tui.checks.tasks.kv.incremental_equals_full.weighing import weighed
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import cut, drawn
from judge_tui.checks.tasks.kv.words.misplaced import misplaced
from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tolerance import relative_error

__all__ = ["Rerun", "Stream", "astray"]

Array = npt.NDArray[Any]
Stream = tuple[Array, Array, Array]
#: The share of the budget that must be left for looking closer.
_LEFT = 0.3
#: Calls of all runs that look for what sequences and layers share, and how far an answer moves that does.
_CALLS, _MOVES = 300, 1e-4
_AT_ONCE = "wrong from the first step on"
#: Steps in which what is wrong from the first on may come right.
_LONG = 72


@dataclass(frozen=True, slots=True)
class Rerun:
    """A case that can be run anew.

    Attributes:
        opened: Makes its layers, all empty.
        streams: Queries, keys and values of each, (B, H, N, D).
        prompt: Tokens that go in before the steps.
        whole: Whether at once.
        limit: Relative error of a right step.
    """

    opened: Callable[[], Sequence[Cached]]
    streams: Sequence[Stream]
    prompt: int
    whole: bool
    limit: float

    def why(self, subject: Subject) -> str:
        """What can be told of its first wrong step, as the end of a sentence."""
        if subject.bench.left < _LEFT * subject.bench.budget:
            return ""
        try:
            wrong = self._wrong()
            if not wrong:
                return ""
            at = min(wrong)
            every = len(wrong) == self._tokens - at
            on = f"from {at + 1} on" if every else f"at {at + 1}"
            words, prompt = f"right up to {at} token{'s' * (at != 1)}, wrong {on}", self.prompt
            if at == self.prompt:
                at, words = self._after_shorter()
                prompt = at
                words = _right_later(subject, self.limit) if words == _AT_ONCE else words
        except Fault:
            return ""
        clauses = [words, self._cause(subject, prompt, at)]
        return f": {'; '.join(filter(None, clauses))}"

    @property
    def _tokens(self) -> int:
        return int(self.streams[0][0].shape[2])

    def _wrong(self) -> list[int]:
        """Positions of steps that are wrong."""
        layers = self._fed(self.prompt)
        steps = range(self.prompt, self._tokens)
        return [t for t in steps if self._is_wrong(0, t, self._step(layers, t)[0])]

    def _after_shorter(self) -> tuple[int, str]:
        """The shortest prompt behind which a step is wrong, where one token less is right; and its words."""

        def wrong(stored: int) -> bool:
            return self._is_wrong(0, stored - 1, self._step(self._fed(stored - 1), stored - 1)[0])

        if self.prompt < 1 or wrong(1):
            return self.prompt, _AT_ONCE
        first, words = from_where(wrong, 1, self.prompt + 1)
        return first - 1, words

    def _fed(self, prompt: int, streams: Sequence[Stream] | None = None) -> Sequence[Cached]:
        layers = self.opened()
        for layer, stream in zip(layers, streams or self.streams, strict=True):
            layer.feed(*cut(stream, 0, prompt), whole=self.whole)
        return layers

    def _step(self, layers: Sequence[Cached], t: int, streams: Sequence[Stream] | None = None) -> list[Array]:
        given = zip(layers, streams or self.streams, strict=True)
        return [layer.feed(*cut(stream, t, t + 1)) for layer, stream in given]

    def _is_wrong(self, layer: int, t: int, out: Array) -> bool:
        q, k, v = self.streams[layer]
        truth = attention(q[:, :, t : t + 1], k[:, :, : t + 1], v[:, :, : t + 1])
        return not relative_error(out, truth) <= self.limit

    def _cause(self, subject: Subject, prompt: int, at: int) -> str:
        try:
            layers = self._fed(prompt)
            for t in range(prompt, at):
                self._step(layers, t)
            before = _arrays(layers[0])
            out = self._step(layers, at)[0]
        except Fault:
            return ""
        q, k, v = (x[:, :, : at + 1] for x in self.streams[0])
        if told := astray(layers[0], k, v, self.limit):
            return f"read back, {told}"
        sizes = layers[0].sizes
        shape = Shape(sizes.query_heads or sizes.heads, sizes.heads, sizes.head_dim)
        told = moved(shape, _arrays(self.opened()[0]), _arrays(layers[0]), before, at) if at > 1 else ""
        if told and not told.endswith(": wrong"):
            return f"the step that adds token {at} changes what was stored before it: {told}"

        def asked(streams: Sequence[Stream]) -> Array:
            anew = self._fed(prompt, streams)
            for t in range(prompt, at + 1):
                answer = self._step(anew, t, streams)[0]
            return answer

        def ask(values: Array) -> Array:
            return asked([(q, k, values), *(cut(stream, 0, at + 1) for stream in self.streams[1:])])

        calls = len(layers) * (at + 2 - prompt + (1 if self.whole else prompt))
        if told := self._mixed(asked, out, at, calls):
            return told
        told = weighed(subject, ask, out, (q[:, :, -1:], k, v), calls)
        return f"in the weights of the step, {told}" if told else ""

    def _mixed(self, asked: Callable[[Sequence[Stream]], Array], out: Array, at: int, calls: int) -> str:
        """Whether what another sequence or another layer was fed reaches the first layer's answers."""
        batch, layers = out.shape[0], len(self.streams)
        if batch * layers == 1 or batch * layers * calls > _CALLS:
            return ""
        streams = [cut(stream, 0, at + 1) for stream in self.streams]
        moves = np.zeros((batch, layers, batch), bool)
        for b in range(batch):
            for layer in range(layers):
                q, k, v = streams[layer]
                other = v.copy()
                other[b] = v[b, :, ::-1] + 1.0
                answer = asked([(q, k, other) if n == layer else one for n, one in enumerate(streams)])
                with np.errstate(invalid="ignore"):
                    moves[b, layer] = np.abs(answer - out).max(axis=(1, 2, 3)) > _MOVES
        for b in range(batch):
            if (gone := np.argwhere(moves[:, :, b])).size:
                foreign = [(i, n) for i, n in gone.tolist() if (i, n) != (b, 0)]
                if foreign:
                    i, n = foreign[0]
                    of = f"sequence {i}{f' in layer {n}' if layers > 1 else ''}"
                    own = f"the answer of sequence {b}{' in layer 0' if layers > 1 else ''}"
                    alone = "" if moves[b, 0, b] else ", and nothing of its own"
                    return f"{own} takes in what {of} was fed{alone}"
        return ""


def _right_later(subject: Subject, limit: float) -> str:
    """Whether steps that are wrong from the first on are right behind more tokens, as a clause."""
    cached = subject.cached(subject.sizes(1, _LONG + 4, narrow=True))
    q, k, v = stream = drawn(subject.bench.rng("right later"), cached.sizes, _LONG)
    right = []
    for t in range(_LONG):
        out = cached.feed(*cut(stream, t, t + 1))
        truth = attention(q[:, :, t : t + 1], k[:, :, : t + 1], v[:, :, : t + 1])
        right += [t + 1] if relative_error(out, truth) <= limit else []
    if not right:
        return _AT_ONCE
    if right == list(range(right[0], _LONG + 1)):
        return f"wrong up to {right[0] - 1} token{'s' * (right[0] > 2)}, right from {right[0]} on"
    return f"right with {_spans(right)} tokens, wrong with others up to {_LONG}"


def _spans(numbers: Sequence[int]) -> str:
    """Whole numbers as spans: 25 to 32, 49 to 64."""
    starts = [n for n in numbers if n - 1 not in numbers]
    ends = [n for n in numbers if n + 1 not in numbers]
    told = [f"{a} to {b}" if b > a else f"{a}" for a, b in zip(starts, ends, strict=True)]
    return ", ".join([*told[:4], *(["…"] if len(told) > 4 else [])])


def _arrays(cached: Cached) -> Kept:
    """What the cache of a single sequence holds; nothing of what cannot be looked into."""
    roots = [state for state in cached.states if isinstance(state, Handle)]
    if cached.sizes.batch > 1:
        return {}
    try:
        return arrays_of(cached.worker, roots)
    except Fault:
        return {}


def astray(cached: Cached, k: Array, v: Array, limit: float) -> str:
    """Where what was stored has gone, as far as a cache can be read; empty where it is as it was fed.

    Args:
        cached: The cache.
        k: (B, G, N, D), all keys that went in.
        v: As k.
        limit: Relative error of a row that is right.
    """
    try:
        pairs = [cached.stored(b) for b in range(cached.sizes.batch)]
    except Fault:
        return ""
    for i, (name, truth) in enumerate((("keys", k), ("values", v))):
        if any(pair[i].shape != truth[:1].shape for pair in pairs):
            continue
        got = np.concatenate([pair[i] for pair in pairs])
        if told := misplaced(got, truth, limit):
            return f"{name}: {told}"
    return ""
