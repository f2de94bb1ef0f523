"""Whether a beam goes on by what the model says after that beam, or after another one.

What a model is handed for a beam (its tokens, a state, a row of a cache) has to move with the beam when
the best are chosen. Where it stays in its place, or moves by the choices of another step, the next token is
scored as if it stood behind another beam, and the sum that is returned shows behind which.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.beam_search.reading import Beam
from judge_tui.checks.tasks.beam_search.scripts import Tokens, distinct, hashed
from judge_tui.checks.tasks.beam_search.searching import NARROW, Answer, Search, written

__all__ = ["Foreign", "foreign", "foreign_in", "searched"]

#: V, K and most new tokens: so few that every history of every step can be written down.
_SEARCHES = ((8, 3, 3), (9, 2, 3), (7, 3, 3), (9, 4, 3), (5, 3, 4), (5, 2, 4))
#: Added to the logit of EOS: it is in no reach of a search then.
_NEVER = -14.0
#: Sums in float32 are this close; some ten thousand histories seldom come so near by chance.
_CLOSE = 2e-6
#: So many beams have to say it: one may do so by chance.
_LEAST = 2


@dataclass(frozen=True, slots=True)
class Foreign:
    """A beam whose score is right once a token of it is taken to follow another history.

    Attributes:
        beam: Its tokens.
        place: 0-based place of the first such token.
        after: The generated tokens after which the model was asked for it.
        score: What was returned.
        own: What its tokens have.
    """

    beam: Tokens
    place: int
    after: Tokens
    score: float
    own: float

    def told(self, eos: int) -> str:
        """Which token is scored behind which history, as a clause."""
        return (
            f"{self.beam[self.place]} behind {written(self.beam[: self.place], eos)} is scored by the "
            f"model's answer to {written(self.after, eos)}, another beam's history: "
            f"{written(self.beam, eos)} has {self.score:.6g} instead of {self.own:.6g}"
        )


def searched(bench: Bench, search: Search) -> list[Answer]:
    """Searches so small that every history can be written down, alpha being 0; none where one breaks.

    Args:
        bench: Draws the models, in which no beam ends.
        search: The submission's.
    """
    answers = []
    for number, (vocab, width, steps) in enumerate(_SEARCHES):
        rng = bench.rng("histories", number)
        eos = int(rng.integers(vocab))
        script = hashed(rng, vocab, eos, bias=_NEVER)
        prompt = tuple(distinct(rng, vocab, 2, but=(eos,)))
        try:
            answers.append(search(script, [prompt], width, steps, 0.0))
        except Fault:
            return []
    return answers


def foreign(answers: Sequence[Answer]) -> str:
    """What shows that the model is asked of other beams' histories; empty where not every score does.

    Args:
        answers: What :func:`searched` gives.
    """
    told: list[str] = []
    for answer in answers:
        found = list(foreign_in(answer))
        if None in found:
            return ""
        told += [one.told(answer.script.eos) for one in found if one is not None]
    return told[0] if len(told) >= _LEAST else ""


def foreign_in(answer: Answer) -> Iterator[Foreign | None]:
    """Every beam of the first prompt whose score is not its tokens', alpha being 0.

    Yields:
        Behind which history a token of it is scored; ``None`` where no history explains its score.
    """
    for beam in answer.beams[0]:
        if beam.score is None:
            yield None
        elif not abs(beam.score - answer.truth(beam)) <= NARROW:  # NaN is of no history
            yield _explained(answer, beam, beam.score)


def _explained(answer: Answer, beam: Beam, score: float) -> Foreign | None:
    """The histories, one a token, of which the sum is the score: as many of the beam's own as can be."""
    rows, prompt, tokens = answer.script.rows, answer.prompts[0], beam.tokens
    histories = [
        list(itertools.product(range(rows.vocab_size), repeat=place)) for place in range(len(tokens))
    ]
    sums, others = np.zeros(1), np.zeros(1, int)
    for place, behind in enumerate(histories):
        values = np.array([rows.row([*prompt, *history])[tokens[place]] for history in behind])
        foreign = np.array([history != tokens[:place] for history in behind], int)
        sums, others = np.add.outer(sums, values).ravel(), np.add.outer(others, foreign).ravel()
    close = np.flatnonzero(np.abs(sums - score) <= _CLOSE * max(1.0, abs(score)))
    if not len(close):
        return None
    best = int(close[np.argmin(others[close])])
    chosen = np.unravel_index(best, tuple(map(len, histories)))
    asked = [behind[int(at)] for behind, at in zip(histories, chosen, strict=True)]
    place = next(at for at, history in enumerate(asked) if history != tokens[:at])
    return Foreign(tokens, place, asked[place], score, answer.truth(beam))
