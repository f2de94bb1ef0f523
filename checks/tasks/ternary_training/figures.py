"""Figures of a training run: what a name in a log stands for, and a number with its digits."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self

__all__ = ["BASELINE", "Figure", "Name", "Number", "Split", "counts", "says_only_which", "words"]

Split = Literal["train", "held-out", ""]

_LOSS = frozenset({"loss", "losses", "nll", "xent", "ce", "crossentropy"})
_PERPLEXITY = frozenset({"ppl", "ppls", "perplexity", "perplexities", "ppx"})
_HELD = frozenset({
    "val", "valid", "validation", "eval", "evaluation", "test", "held", "heldout", "holdout", "dev", "unseen",
})  # fmt: skip
_TRAIN = frozenset({"train", "training", "tr", "trn"})
_STEP = frozenset({"step", "steps", "iter", "iters", "iteration", "iterations", "update", "updates", "it"})
_EPOCH = frozenset({"epoch", "epochs", "batch", "batches", "tokens", "round", "rounds"})
#: What may stand beside these words (``tokens_per_sec`` is no step).
_COUNTING = frozenset(
    {"global", "seen", "total", "num", "n", "id", "idx", "train", "training", "trained", "current"}
)
#: With one of these a name is one figure of the run and no point of its curve.
_MOMENT = frozenset({
    "final", "best", "min", "max", "last", "initial", "first", "start", "end", "before", "after", "lowest",
})  # fmt: skip
#: With one of these a name that says loss means something else.
_OTHER = frozenset({
    "scale", "scaling", "grad", "norm", "weight", "weights", "lr", "aux", "reg", "delta", "diff", "drop",
    "improvement", "ratio", "reduction", "target", "time", "fn", "function", "type", "gap", "change",
    "percent", "std", "variance", "var", "times", "seconds", "timestamp", "timestamps", "lrs", "norms",
    "count", "counts",
})  # fmt: skip
#: What a name is of that does not say loss itself, though what stands above it does.
_ELSE = _OTHER | frozenset({
    "second", "secs", "sec", "ms", "elapsed", "wall", "walltime", "wallclock", "date", "duration", "runtime",
    "eta", "speed", "throughput", "tps", "tok", "samples", "examples", "sequences", "acc", "accuracy",
    "sparsity", "zeros", "temperature", "num", "number", "size", "length", "seed", "momentum", "beta", "rate",
    "learning", "progress", "memory", "mem", "mb", "gb", "every", "window", "smoothing", "interval",
    "version", "width", "height", "rank", "world", "index", "idx", "id",
})  # fmt: skip
#: What counts, where it stands beside a loss.
_INDEX = frozenset({"x", "i", "t", "index", "idx", "at", "pos", "position"})
#: What a run is called that is compared with.
BASELINE = frozenset({"baseline", "float", "fp32", "fp16", "bf16", "full", "dense", "teacher", "unquantized"})
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def words(name: str) -> frozenset[str]:
    """The words of a name, in lower case (``valLoss`` → val, loss)."""
    text = re.sub(r"cross[ _-]entropy", "crossentropy", _CAMEL.sub(" ", name).lower())
    return frozenset(re.split(r"[^a-z0-9]+", re.sub(r"held[ _-]out", "heldout", text))) - {""}


class Number(float):
    """A number as a log has it.

    Attributes:
        half: Half a unit of its last digit: how far rounding may have moved it.
    """

    half: float

    def __new__(cls, text: str) -> Self:
        """Read a number; thousands may be set off by commas."""
        made = super().__new__(cls, text.replace(",", ""))
        mantissa, _, exponent = text.lower().partition("e")
        digits = len(mantissa.partition(".")[2])
        try:
            made.half = 0.5 * 10.0 ** (int(exponent or 0) - digits)
        except (ValueError, OverflowError):
            made.half = 0.0
        return made


@dataclass(frozen=True, slots=True)
class Name:
    """What a name in a log stands for.

    Attributes:
        kind: ``loss``, ``perplexity``, ``step`` or ``epoch``; empty for what does not matter here.
        split: Which text it is about; empty where the name does not say.
        moment: Words as ``final`` or ``best``: it is one figure, and no point of a curve.
    """

    kind: Literal["loss", "perplexity", "step", "epoch", ""]
    split: Split = ""
    moment: frozenset[str] = frozenset()

    @classmethod
    def of(cls, parts: Iterable[str]) -> Name:
        """Read a name, or a path of keys, the last of which matters most."""
        return _named(tuple(parts))


@functools.lru_cache(maxsize=4096)
def _named(parts: tuple[str, ...]) -> Name:
    each = [words(part) for part in parts]
    every = frozenset().union(*each)
    split: Split = ""
    for own in reversed(each):
        if own & (_HELD | _TRAIN):
            split = "held-out" if own & _HELD else "train"
            break
    last = each[-1] if each else frozenset()
    says = bool(last & (_LOSS | _PERPLEXITY))
    if last & _STEP and last <= _STEP | _COUNTING:
        return Name("step", split)
    if not says and last & _EPOCH and last <= _EPOCH | _COUNTING:
        return Name("epoch", split)
    if says and last & _MOMENT and last & (_STEP | _EPOCH):
        # When the loss was best, and not what it was.
        return Name("", split)
    if every & (_LOSS | _PERPLEXITY) and not last & (_OTHER if says else _ELSE):
        inner = last if last & (_LOSS | _PERPLEXITY) else every
        return Name("perplexity" if inner & _PERPLEXITY else "loss", split, every & _MOMENT)
    return Name("", split)


def counts(name: str) -> bool:
    """Whether a name may be of what only counts: a step, an epoch, an abscissa."""
    return bool(words(name) & (_STEP | _EPOCH | _INDEX))


def says_only_which(name: str) -> bool:
    """Whether a name says of which text or moment something is, and not what."""
    return words(name) <= _HELD | _TRAIN | _MOMENT


@dataclass(frozen=True, slots=True)
class Figure:
    """One loss or perplexity of a log.

    Attributes:
        name: What it is.
        value: The figure.
        step: Where in training; ``None`` where the log does not say (rows in any order).
        run: Which run, for files that hold several.
        file: The log.
        line: 1-based.
        row: Figures of one row were taken at one moment.
    """

    name: Name
    value: Number
    step: float | None
    run: str
    file: str
    line: int
    row: tuple[object, ...]
