"""Whether a perplexity is the exponential of the loss beside it."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.ternary_training.figures import Figure

__all__ = ["Pair", "counts_bits", "pairs"]

#: log perplexity and loss may differ by this much beside the rounding of what was written: both may be
#: averages in float16 or bfloat16 of losses near 10.
_SLACK = 5e-3
#: Exponents that perplexities are cut off at, lest they overflow.
_CAPS = (10.0, 20.0, 50.0, 100.0)
#: What tells that a loss counts bits: its name, a base-2 logarithm, or a division by log 2. The log2(3) bits
#: of a ternary weight are no loss.
_BITS = re.compile(
    r"bits?[ _-]*(?:per[ _-]*(?:char|byte|tok|word|sym|pred)|ppl|perp|loss|nll)"
    r"|(?:loss|nll|entropy|ppl|perplexity)[ _-]*(?:in[ _-]*)?[(\[]?bits?\b"
    r"|(?<![a-z])bp[cbwt](?![a-z])|log2(?!\(\s*3)|\blog\(\s*2(?:\.0*)?\s*\)|\bln_?2\b",
    re.IGNORECASE,
)
_MOST_TEXT = 1 << 20


@dataclass(frozen=True, slots=True)
class Pair:
    """A perplexity and the loss of the same text at the same moment.

    Attributes:
        loss: The loss.
        perplexity: The perplexity.
        off: |log perplexity − loss|, and what rounding explains of it.
        allowed: The largest difference that is still the same.
        bits: Whether it is 2 to the power of the loss.
    """

    loss: Figure
    perplexity: Figure
    off: float
    allowed: float
    bits: bool

    @property
    def agrees(self) -> bool:
        """Whether the two say the same."""
        return self.off <= self.allowed or self.bits


def counts_bits(submission: Submission) -> bool:
    """Whether anything in a submission's files says that a loss counts bits, and not nats."""
    texts = (submission.read_bytes(name)[:_MOST_TEXT] for name in submission.files)
    return any(_BITS.search(text.decode("utf-8", "replace")) for text in texts)


def pairs(figures: Sequence[Figure]) -> list[Pair]:
    """Every perplexity with the loss that it belongs to, where the log says which.

    A perplexity whose name does not say of which text may be of any loss in its row: it is held against the
    one that it is closest to.
    """
    rows: dict[tuple[object, ...], list[Figure]] = defaultdict(list)
    for figure in figures:
        rows[figure.row].append(figure)
    found: list[Pair] = []
    for row in rows.values():
        losses = [figure for figure in row if figure.name.kind == "loss" and math.isfinite(figure.value)]
        for figure in row:
            if figure.name.kind == "perplexity" and figure.value > 0 and math.isfinite(figure.value):
                own = [loss for loss in losses if _of_one(loss, figure)]
                if own:
                    found.append(min((_pair(loss, figure) for loss in own), key=lambda pair: pair.off))
    return found


def _of_one(loss: Figure, perplexity: Figure) -> bool:
    """Whether both are of one text and one moment, as far as their names say."""
    one, other = loss.name, perplexity.name
    if loss.run != perplexity.run or one.moment != other.moment:
        return False
    return one.split == other.split or not other.split


def _pair(loss: Figure, perplexity: Figure) -> Pair:
    value, stated = float(loss.value), float(perplexity.value)
    rounding = loss.value.half + perplexity.value.half / stated
    off = abs(math.log(stated) - value)
    capped = any(abs(stated / math.exp(cap) - 1) < 1e-2 and value >= cap - 1e-2 for cap in _CAPS)
    bits = abs(math.log2(stated) - value) <= rounding / math.log(2) + _SLACK and value > 0.1
    return Pair(loss, perplexity, 0.0 if capped else off, rounding + _SLACK, bits)
