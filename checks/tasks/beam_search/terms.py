"""Of what terms a wrong score is made, told only where one mistake explains all wrong scores of a check.

What a sum may hold besides its own terms, or lack, is known: the log-probability of EOS behind a beginning of
the sequence, the terms of the prompt, a term twice, the sum of its parent once more.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from judge_tui.checks.tasks.beam_search.oracle import penalised
from judge_tui.checks.worker.scripted.models import Rows

__all__ = ["Scored", "made_of"]

Tokens: TypeAlias = "tuple[int, ...]"
#: Scores are this close, relative above one.
_CLOSE = 1e-6
#: A single score may be so by chance.
_LEAST = 2
#: Beginnings of which any may be counted.
_BEGINNINGS = 8


@dataclass(frozen=True, slots=True)
class Scored:
    """A beam with its score.

    Attributes:
        rows: The model.
        prompt: What was searched.
        tokens: What was generated.
        eos: Ends a sequence.
        alpha: The penalty's exponent, 0 where raw sums come back.
        score: What was returned.
    """

    rows: Rows
    prompt: Tokens
    tokens: Tokens
    eos: int
    alpha: float
    score: float

    @property
    def ended(self) -> bool:
        """Whether EOS is its last token."""
        return self.tokens[-1] == self.eos

    def terms(self) -> list[float]:
        """The log-probability of each token."""
        return [float(self.row(at)[token]) for at, token in enumerate(self.tokens)]

    def row(self, at: int) -> np.ndarray:
        """What the model says behind so many of the tokens."""
        return np.asarray(self.rows.row([*self.prompt, *self.tokens[:at]]))

    def of(self, total: float) -> float:
        """The score of a sum."""
        return penalised(total, len(self.tokens), self.alpha)

    def is_(self, score: float) -> bool:
        """Whether a score is what was returned."""
        return score == self.score or abs(score - self.score) <= _CLOSE * max(1.0, abs(score))

    @property
    def right(self) -> bool:
        """Whether its score is its own."""
        return self.is_(self.of(sum(self.terms())))


#: A beam → the scores that a mistake may give it.
Mistake: TypeAlias = "Callable[[Scored], Iterator[float] | Sequence[float]]"


def _sums(beam: Scored) -> list[float]:
    return list(itertools.accumulate(beam.terms()))


def _again(part: slice, times: float, *, ended: bool = False) -> Mistake:
    """Some of its terms counted so many times more; all others, or those that have not ended, are right."""

    def scores(beam: Scored) -> list[float]:
        terms = beam.terms()
        more = 0.0 if ended and not beam.ended else times * sum(terms[part])
        return [beam.of(sum(terms) + more)]

    return scores


def _prompt(beam: Scored) -> list[float]:
    own = beam.prompt
    more = sum(float(beam.rows.row(list(own[:at]))[own[at]]) for at in range(1, len(own)))
    return [beam.of(sum(beam.terms()) + more)]


def _ends_of_beginnings(beam: Scored) -> Iterator[float]:
    """EOS behind none, some or all of its beginnings; behind the whole as well where it has not ended."""
    count = min(len(beam.tokens) - beam.ended + (not beam.ended), _BEGINNINGS)
    ends, total = [float(beam.row(at)[beam.eos]) for at in range(count)], sum(beam.terms())
    for chosen in itertools.product((0.0, 1.0), repeat=count):
        yield beam.of(total + sum(end for end, taken in zip(ends, chosen, strict=True) if taken))


def _end_behind(beam: Scored) -> list[float]:
    more = 0.0 if beam.ended else float(beam.row(len(beam.tokens))[beam.eos])
    return [beam.of(sum(beam.terms()) + more)]


def _one_of(times: float) -> Mistake:
    """Some one of its terms counted so many times more."""
    return lambda beam: [beam.of(sum(beam.terms()) + times * term) for term in (*beam.terms(), 0.0)]


def _carried(beam: Scored) -> list[float]:
    score = 0.0
    for length, term in enumerate(beam.terms(), 1):
        score = penalised(score + term, length, beam.alpha)
    return [score]


def _other_last(beam: Scored) -> Iterator[float]:
    """The last token is another one."""
    before = sum(beam.terms()[:-1])
    return (beam.of(before + float(value)) for value in beam.row(len(beam.tokens) - 1))


def _raised(beam: Scored, exponent: float) -> float:
    """The score with another exponent."""
    return penalised(sum(beam.terms()), len(beam.tokens), exponent)


def _likeliest(beam: Scored) -> list[float]:
    return [beam.of(sum(float(beam.row(at).max()) for at in range(len(beam.tokens))))]


def _kept_as(narrowed: Callable[[float], float]) -> Mistake:
    """Sums are in fewer digits after every step."""

    def scores(beam: Scored) -> list[float]:
        total = 0.0
        for term in beam.terms():
            total = narrowed(total + term)
        return [beam.of(total), narrowed(beam.of(total))]

    return scores


def _rounded(places: int) -> Mistake:
    return _kept_as(lambda total: round(total, places))


#: Words, behind "as where" → what scores may be then. The first that explains all is told.
_MISTAKES: Mapping[str, Mistake] = {
    "the log-probability of EOS is not in the sum": _again(slice(-1, None), -1.0, ended=True),
    "the log-probability of EOS is in the sum twice": _again(slice(-1, None), 1.0, ended=True),
    "the last token's log-probability is not in the sum": _again(slice(-1, None), -1.0),
    "the last token's log-probability is in the sum twice": _again(slice(-1, None), 1.0),
    "the first token's log-probability is not in the sum": _again(slice(1), -1.0),
    "the first token's log-probability is in the sum twice": _again(slice(1), 1.0),
    "the sum of the parent is added once more": _again(slice(-1), 1.0),
    "every log-probability is in the sum twice": _again(slice(None), 1.0),
    "the last token's log-probability alone is the score": lambda beam: [beam.of(beam.terms()[-1])],
    "the sums of all beginnings are added up": lambda beam: [beam.of(sum(_sums(beam)))],
    "the log-probabilities of the prompt's tokens are in the sum": _prompt,
    "the log-probability of EOS behind a whole sequence is in the sum, though it has not ended": _end_behind,
    "an already penalised score is carried on as the sum": _carried,
    "the sum is multiplied by length^alpha": lambda beam: [
        sum(beam.terms()) * len(beam.tokens) ** beam.alpha
    ],
    "the penalty is ((5 + length) / 6)^alpha": lambda beam: [
        sum(beam.terms()) / ((5 + len(beam.tokens)) / 6) ** beam.alpha
    ],
    "length^alpha is cut to a whole number": lambda beam: [
        sum(beam.terms()) / max(math.floor(len(beam.tokens) ** beam.alpha + 1e-12), 1)
    ],
    "length^alpha is rounded to a whole number": lambda beam: [
        sum(beam.terms()) / max(round(len(beam.tokens) ** beam.alpha), 1)
    ],
    "the exponent is half of alpha": lambda beam: [_raised(beam, beam.alpha / 2)],
    "the exponent is 1 - alpha": lambda beam: [_raised(beam, 1.0 - beam.alpha)],
    "the sum is divided by alpha times the length": lambda beam: [
        sum(beam.terms()) / ((beam.alpha or 1.0) * len(beam.tokens))
    ],
    "the sum is divided by the length, whatever alpha is": lambda beam: [
        sum(beam.terms()) / len(beam.tokens)
    ],
    "the sum is divided by alpha^length": lambda beam: [
        sum(beam.terms()) / (beam.alpha or 1.0) ** len(beam.tokens)
    ],
    "the logarithm of the length is taken for it": lambda beam: [
        penalised(sum(beam.terms()), math.log(1 + len(beam.tokens)), beam.alpha)
    ],
    "the sign is turned": lambda beam: [-beam.of(sum(beam.terms()))],
    "a probability is the score, and not its logarithm": lambda beam: [
        math.exp(sum(beam.terms())),
        math.exp(beam.of(sum(beam.terms()))),
        beam.of(math.exp(sum(beam.terms()))),
    ],
    "probabilities are added up, and not their logarithms": lambda beam: [
        beam.of(sum(math.exp(term) for term in beam.terms()))
    ],
    "sums are kept in float16": _kept_as(lambda total: float(np.float16(total))),
    **{f"sums are rounded to {n} place{'s' * (n > 1)} at every step": _rounded(n) for n in (1, 2, 3, 4)},
    "logarithms are of base 2": lambda beam: [beam.of(sum(beam.terms())) / math.log(2.0)],
    "logarithms are of base 10": lambda beam: [beam.of(sum(beam.terms())) / math.log(10.0)],
    "the likeliest token's log-probability counts for each token": _likeliest,
    "the log-probability of EOS behind beginnings of a sequence, which ended there on the way, is in its own "
    "sum as well": _ends_of_beginnings,
    "one of its log-probabilities is in the sum twice": _one_of(1.0),
    "one of its log-probabilities is not in the sum": _one_of(-1.0),
    "the log-probability of another token counts for the last one": _other_last,
}  # fmt: skip


def made_of(beams: Sequence[Scored]) -> str:
    """What alone explains every score, the right ones too, in words behind "as where"; empty for nothing.

    Args:
        beams: All that came back with a score.
    """
    wrong = [beam for beam in beams if not beam.right]
    if len(wrong) < _LEAST:
        return ""
    if all(beam.score == -math.inf for beam in wrong):
        return _impossible(beams, wrong)
    if any(not math.isfinite(beam.score) for beam in wrong):
        return ""
    right = [beam for beam in beams if beam.right]
    for words, mistake in _MISTAKES.items():
        if all(any(map(beam.is_, mistake(beam))) for beam in (*wrong, *right)):
            return words
    return ""


def _impossible(beams: Sequence[Scored], wrong: Sequence[Scored]) -> str:
    """Which beams come back with a score of -inf, though they are possible."""
    which = "beams that have ended" if all(beam.ended for beam in wrong) else "beams"
    sound = [beam for beam in beams if beam.right and beam.ended]
    where = (
        ", at alpha = 0 alone"
        if sound and all(b.alpha for b in sound) and not any(b.alpha for b in wrong)
        else ""
    )
    return f"{which} are kept with a score of -inf instead of their own{where}"
