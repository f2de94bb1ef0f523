"""The attention inside a decoder, by an independent truth: its scale, and the heads that its queries read.

A decoder that scales its scores wrongly agrees with its own full pass. But where its weights and its
cache can be reached, one of its steps can be foretold. Keys and queries are given the projection of the
values, so that the query of a token is a known multiple of its key; the key stands in the cache. The
weights of the tokens before it among each other follow, whatever it gives itself. If the values of those
tokens are replaced by their weighted mean, each of them by the same, then the step must not change: with
the right scale, and with none but the one that is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.projections import Shape, equalized
from judge_tui.checks.tasks.kv.faces.slots import Slot, arrays, slots
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.head_maps import MAPS
from judge_tui.checks.tolerance import relative_error

__all__ = ["SAME", "Foretold", "foretell"]

Array = npt.NDArray[Any]
_PROMPT = 5
#: Width of a head that is no usual capacity or block; even, for rotary positions.
_WIDTH = 10
#: How near two answers are that are the same, and how far apart others are that show that it matters.
SAME, _OTHER = 1e-4, 1e-2
#: Spread of the scores that the prompt's tokens get.
_SPREAD = 1.5
_RIGHT = "1/√D"


@dataclass(frozen=True, slots=True)
class Foretold:
    """What the attention of a decoder was found to be.

    Attributes:
        scale: The scale that foretells its steps, in words; empty when none does.
        heads: The map of heads under which it does.
        error: How far the step was from what the right scale and map foretell.
        why: Why nothing was established.
    """

    scale: str = ""
    heads: str = ""
    error: float = float("nan")
    why: str = ""

    @property
    def right(self) -> bool:
        """Whether it is softmax(q·k/√D), each head with its own or its group's keys."""
        return self.scale == _RIGHT and self.heads == next(iter(MAPS))

    @property
    def wrong(self) -> str:
        """What is wrong, in words; empty when right, or when nothing was established."""
        if self.why or self.right:
            return ""
        if self.scale != _RIGHT:
            return f"the scores are scaled by {self.scale}, not by 1/√D"
        return self.heads


def foretell(subject: Subject, queries: int = 3, shared: int = 3) -> Foretold:
    """Foretell a step of the decoder.

    Args:
        subject: What is judged.
        queries: Query heads.
        shared: Heads of keys and values.
    """
    decoder = subject.bound.get("decoder")
    if decoder is None or not (decoder.takes("heads") and decoder.takes("embed")):
        return Foretold(why="how many heads it has cannot be told to it")
    try:
        return _Oracle(subject, Shape(queries, shared, _WIDTH)).foretold()
    except _Unreached as why:
        return Foretold(why=str(why))
    except (Raised, BadResult) as fault:
        return Foretold(why=f"with other weights it {fault.message}")


class _Unreached(Exception):
    """Something that the truth needs cannot be reached."""


class _Oracle:
    def __init__(self, subject: Subject, shape: Shape) -> None:
        self.shape = shape
        embed = shape.queries * shape.width
        self.make = subject.maker(layers=1, heads=shape.queries, kv_heads=shape.shared, embed=embed)
        rng = subject.bench.rng("foretold", shape.queries, shape.shared)
        self.given = self.make(1).draw(rng, _PROMPT + 1)
        self.random = rng.standard_normal((shape.shared, _PROMPT, shape.width))

    def foretold(self) -> Foretold:
        right, nearest = next(iter(MAPS)), float("nan")
        # Maps that are the same for so many heads are tried once.
        maps: dict[tuple[int, ...], str] = {tuple(made(self.shape.queries, self.shape.shared)): words
                for words, made in reversed(MAPS.items())}  # fmt: skip
        if self.shape.queries == self.shape.shared:
            maps = {(): right}
        for words in sorted(maps.values(), key=list(MAPS).index):
            heads = MAPS[words](self.shape.queries, self.shape.shared)
            factor = self._factor(heads)
            for first in (1, 0):
                found, error = self._scale(heads, factor, first)
                if words == right and np.isnan(nearest):
                    nearest = error
                if found:
                    return Foretold(found, words, error)
        return Foretold(why="no usual scale foretells its steps from the keys in its cache", error=nearest)

    def _decoder(self, heads: Array, factor: float) -> tuple[Decoder, list[Slot]]:
        """A decoder with equal projections after the prompt, and where it keeps keys and values."""
        decoder = self.make(1)
        if not equalized(decoder.worker, decoder.model, self.shape, heads, factor):
            raise _Unreached("its projections to queries, keys and values cannot be told by their names")
        before = arrays(decoder)
        decoder.prefill(self.given[:, :_PROMPT])
        kept = slots(before, arrays(decoder), self.shape, _PROMPT)
        return decoder, _pair(kept)

    def _read(self, heads: Array, factor: float, values: int) -> tuple[Array, Array]:
        """Keys of the prompt (G, P, D), and of the token after it (G, D)."""
        decoder, pair = self._decoder(heads, factor)
        before = arrays(self.make(1))
        past = pair[1 - values].seen[:, :_PROMPT].copy()
        decoder.decode(self.given[:, _PROMPT])
        after = _pair(slots(before, arrays(decoder), self.shape, _PROMPT + 1))
        return past, after[1 - values].seen[:, _PROMPT].copy()

    def _factor(self, heads: Array) -> float:
        """What spreads the scores of the prompt's tokens so that the scale matters.

        It is negative, so that a token's own key, which is most like its query, weighs least.
        """
        past, new = self._read(heads, 1.0, 1)
        scores = np.einsum("gd,gnd->gn", new, past) / np.sqrt(self.shape.width)
        spread = float(np.median(scores.std(axis=1)))
        if not spread > 0:
            raise _Unreached("its keys are all alike")
        return -_SPREAD / spread

    def _scale(self, heads: Array, factor: float, values: int) -> tuple[str, float]:
        """The scale that foretells the step; ``values`` is which of the pair holds the values."""
        past, new = self._read(heads, factor, values)
        truth = self._step(heads, factor, values, self.random)
        scores = factor * np.einsum("gd,gnd->gn", new, past)
        width, right = self.shape.width, float("nan")
        even = self._step(heads, factor, values, _mean(0.0 * scores, self.random))
        if not relative_error(even, truth) > _OTHER:
            return "", right
        for words, scale in {
            _RIGHT: width**-0.5, "1": 1.0, "1/D": 1.0 / width, "√D": width**0.5,
            "1/√E": (self.shape.queries * width) ** -0.5, "1/E": 1.0 / (self.shape.queries * width),
            "1/√H": self.shape.queries**-0.5, "1/√(G·D)": (self.shape.shared * width) ** -0.5,
            "1/√(2D)": (2 * width) ** -0.5, "1/√(D/2)": (width / 2) ** -0.5,
        }.items():  # fmt: skip
            step = self._step(heads, factor, values, _mean(scale * scores, self.random))
            error = relative_error(step, truth)
            right = error if words == _RIGHT else right
            if error <= SAME:
                return words, right
        return "", right

    def _step(self, heads: Array, factor: float, values: int, new: Array) -> Array:
        """The step after the prompt, with other values for the prompt's tokens."""
        decoder, pair = self._decoder(heads, factor)
        slot = pair[values]
        scale = float(np.abs(slot.seen[:, :_PROMPT]).max()) or 1.0
        slot.seen[:, :_PROMPT] = scale * new
        decoder.worker.fill(slot.handle, slot.whole.astype(slot.dtype))
        return decoder.decode(self.given[:, _PROMPT])


def _mean(scores: Array, values: Array) -> Array:
    """For every token the mean of the values weighted by softmax(scores): (G, P, D)."""
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    mean = np.einsum("gn,gnd->gd", weights, values)
    return np.repeat(mean[:, None], values.shape[1], axis=1)


def _pair(kept: list[Slot]) -> list[Slot]:
    """The last two slots that hold the same first token: keys as they are stored, and values.

    Raises:
        _Unreached: There are none: keys are stored scaled, or not as arrays.
    """
    for second in reversed(range(len(kept))):
        for first in reversed(range(second)):
            one, other = kept[first].seen[:, 0], kept[second].seen[:, 0]
            if one.any() and relative_error(one, other) <= 1e-5:
                return [kept[first], kept[second]]
    raise _Unreached("the keys and values that it keeps cannot be told among its arrays")
