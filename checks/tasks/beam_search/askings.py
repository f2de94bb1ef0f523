"""Behind which prompt of a batch the model was asked for a token, read off the scores that came back.

A beam has to go on behind its own prompt and its own tokens. Where rows of a batch are laid out in one order
and read in another, the model answers for another prompt, and the sum that is returned shows for which.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from judge_tui.checks.tasks.beam_search.reading import Beam
from judge_tui.checks.tasks.beam_search.scripts import Tokens
from judge_tui.checks.tasks.beam_search.searching import NARROW, Answer, written

__all__ = ["asked_of_another"]

#: Sums in float32 are this close; of some ten thousand some come so near by chance, seldom twice.
_CLOSE, _LEAST = 2e-6, 2
#: Most sums that are looked through for a beam.
_MOST = 100_000


def asked_of_another(answers: Sequence[Answer]) -> str:
    """Which token is scored behind which other prompt, as a clause; empty where not every score says so.

    Args:
        answers: Searches of several prompts each, alpha being 0.
    """
    told: list[str] = []
    for answer in answers:
        for number, beams in enumerate(answer.beams):
            for beam in beams:
                if beam.score is None:
                    return ""
                if abs(beam.score - answer.truth(beam, number)) <= NARROW:
                    continue
                found = _explained(answer, number, beam, beam.score)
                if not found:
                    return ""
                told.append(found)
    return told[0] if len(told) >= _LEAST else ""


def _explained(answer: Answer, number: int, beam: Beam, score: float) -> str:
    """The texts, one a token, of which the sum is the score: as many of the beam's own as can be."""
    rows, tokens, eos = answer.script.rows, beam.tokens, answer.script.eos
    texts = [list(_texts(answer, number, tokens[:place])) for place in range(len(tokens))]
    if np.prod([len(each) for each in texts]) > _MOST:
        return ""
    sums, others = np.zeros(1), np.zeros(1, int)
    for place, each in enumerate(texts):
        values = np.array([rows.row([*answer.prompts[who], *text])[tokens[place]] for who, text in each])
        foreign = np.array([(who, text) != (number, tokens[:place]) for who, text in each], int)
        sums, others = np.add.outer(sums, values).ravel(), np.add.outer(others, foreign).ravel()
    close = np.flatnonzero(np.abs(sums - score) <= _CLOSE * max(1.0, abs(score)))
    if not len(close):
        return ""
    chosen = np.unravel_index(int(close[np.argmin(others[close])]), tuple(map(len, texts)))
    asked = [each[int(at)] for each, at in zip(texts, chosen, strict=True)]
    first = next((at for at, one in enumerate(asked) if one != (number, tokens[:at])), None)
    if first is None or asked[first][0] == number:
        return ""
    who, text = asked[first]
    return (
        f"the model is asked behind another prompt: {tokens[first]}, which goes on from "
        f"{written(tokens[:first], eos)} of prompt {number}, is scored by its answer to prompt {who} with "
        f"{written(text, eos)}"
    )


def _texts(answer: Answer, number: int, own: Tokens) -> Iterator[tuple[int, Tokens]]:
    """Prompts and what may stand behind them: the beam's own tokens, or those of their beams."""
    seen: set[tuple[int, Tokens]] = set()
    for who, beams in enumerate(answer.beams):
        for text in (own, *(beam.tokens[: len(own)] for beam in beams if who != number)):
            if (who, text) not in seen:
                seen.add((who, text))
                yield who, text
