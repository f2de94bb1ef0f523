"""Whether parent and token of a candidate are read right where the candidates of all beams stand in one row.

Its place there divided by V is the parent, what is left over the token. Arithmetic that is inexact (a product
with 1 / V, a division in few digits, a whole number of few bits, rounding in place of flooring) is wrong at
some V alone, and there at the two ends of a beam's stretch: token 0 and token V - 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.beam_search.oracle import path_sum
from judge_tui.checks.tasks.beam_search.scripts import Script, Tokens, distinct
from judge_tui.checks.tasks.beam_search.searching import NARROW, Answer, Scores, Search, written
from judge_tui.checks.worker.scripted.models import rows_of

__all__ = ["SIZES", "Model", "misread", "scripted"]

_SMALL = range(6, 65)
#: Where a product with 1 / V in float32 or float64 misses, beside powers of two and what is past them.
_TELLING = (82, 98, 103, 107, 127, 128, 129, 257)
#: V of language models, whose tokens or places do not go into 16 bits, or into the digits of few.
_LARGE = (32_000, 50_257, 65_537)
#: The K best of each beam may stand in the row, or the 2K best: then these are what is divided by.
_WIDE = (25, 29, 41, 49, 55, 61)

#: V and K of each search.
SIZES = (
    *((vocab, 2 + vocab % 4) for vocab in (*_SMALL, *_TELLING)),
    *((2 * width + 3, width) for width in _WIDE),
    *((vocab, 3) for vocab in _LARGE),
)

#: Beams are this far apart; all else is further behind than the last of the widest.
_APART, _BEHIND = 0.1, -40.0
#: What other tokens have together behind any other text, so that its answer is none of those before.
_ELSEWHERE = 1e-3
_STEPS = 3
#: So many V are told.
_TOLD = 4


@dataclass(frozen=True, slots=True)
class Model:
    """Any token but EOS first, then token 0, then token V - 1: each of K beams goes on in one way alone.

    Attributes:
        script: The model.
        prompt: The prompt.
        firsts: The K first tokens, likeliest first.
    """

    script: Script
    prompt: Tokens
    firsts: tuple[int, ...]

    def texts(self, steps: int) -> list[Tokens]:
        """What a search of K returns, best first."""
        return [(first, 0, self.script.vocab_size - 1)[:steps] for first in self.firsts]


def misread(bench: Bench, search: Search) -> str:
    """What is wrong where token 0 and token V - 1 extend every beam, at all of :data:`SIZES`.

    Raises:
        Fault: The search does not answer; the message says at which V.
    """
    wrong: dict[int, str] = {}
    for vocab, width in SIZES:
        model = scripted(bench.rng("parents", vocab, width), vocab, width)
        try:
            told = _amiss(search, model)
        except Fault as fault:
            fault.message = f"V = {vocab}, K = {width}: {fault.message}"
            raise
        if told:
            wrong[vocab] = f"V = {vocab}, K = {width}: {told}"
        if len(wrong) == _TOLD:
            break
    first, *others = wrong or [0]
    also = f"; wrong at V = {', '.join(map(str, others))} as well" if others else ""
    return f"{wrong[first]}{also}" if wrong else ""


def scripted(rng: np.random.Generator, vocab: int, width: int) -> Model:
    """A model of V for a search of K.

    Args:
        rng: Draws its tokens.
        vocab: V, at least 2 more than K.
        width: K.
    """
    eos = int(rng.integers(1, vocab - 1))
    firsts = distinct(rng, vocab, width, but=(eos,))
    prompt = [int(token) for token in rng.integers(1, vocab - 1, 2)]
    prompt = [token if token != eos else 0 for token in prompt]
    sure = _row(vocab, {0: 0.0})
    spec = {
        "kind": "table",
        "prefixes": [prompt, *([*prompt, first] for first in firsts)],
        "rows": np.array(
            [_row(vocab, {token: -_APART * at for at, token in enumerate(firsts)}), *[sure] * width]
        ),
        "default": _row(vocab, {vocab - 1: 0.0}, float(np.log(_ELSEWHERE / vocab))),
    }
    return Model(Script(spec, rows_of(spec), eos), tuple(prompt), tuple(firsts))


def _row(vocab: int, stated: dict[int, float], behind: float = _BEHIND) -> np.ndarray:
    logits = np.full(vocab, behind)
    logits[list(stated)] = list(stated.values())
    return np.asarray(logits - np.logaddexp.reduce(logits))


def _amiss(search: Search, model: Model) -> str:
    """What is wrong with the search of a model; of its first wrong step where the tokens are."""
    width = len(model.firsts)
    answer = search(model.script, [model.prompt], width, _STEPS, 0.0)
    texts = model.texts(_STEPS)
    if sorted(beam.tokens for beam in answer.beams[0]) == sorted(texts):
        scores = Scores(search)
        scores.add(answer)
        return scores.worst if scores.error > NARROW else ""
    shorter = search(model.script, [model.prompt], width, _STEPS - 1, 0.0)
    return _read_as(shorter, model.texts(_STEPS - 1)) or _read_as(answer, texts)


def _read_as(answer: Answer, texts: list[Tokens]) -> str:
    """As what the first text that is missing was read, in words; empty where none is missing."""
    beams = answer.beams[0]
    returned = [beam.tokens for beam in beams]
    lost = [text for text in texts if text not in returned]
    if not lost:
        return f"{len(beams)} beams are returned" if len(beams) != len(texts) else ""
    taken = _in_place_of(answer, lost[0], texts) or ()
    heads = [text[0] for text in texts]
    if len(taken) != len(lost[0]) or taken[1:-1] != lost[0][1:-1] or taken[0] not in heads:
        return f"{written(lost[0], answer.script.eos)} is missing"
    parent, beam = heads.index(taken[0]), heads.index(lost[0][0])
    token, wrong = lost[0][-1], taken[-1]
    elsewhere = not token and wrong == answer.script.vocab_size - 1
    if wrong == answer.script.eos or (elsewhere and any(each.score is None for each in beams)):
        # EOS may be put behind what is too short, and V - 1 is what the model says behind any other text.
        return f"{written(lost[0], answer.script.eos)} is missing"
    if parent == beam:
        bits = {1 << 8: 8, 1 << 16: 16}.get(token - wrong)
        why = f", as where ids are kept in {bits} bits" if bits else ""
        return f"token {token} of beam {beam} is read as token {wrong}{why}"
    if token == wrong:
        return f"the parent of token {token} is read as beam {parent} and not {beam}"
    return f"token {token} of beam {beam} is read as token {wrong} of beam {parent}"


def _in_place_of(answer: Answer, lost: Tokens, texts: list[Tokens]) -> Tokens | None:
    """The returned tokens that have a missing text's score; without scores, what is returned too much."""
    total = path_sum(answer.script.rows, answer.prompts[0], lost)
    beams = [beam for beam in answer.beams[0] if beam.tokens]
    if all(beam.score is not None for beam in beams):
        near = [beam.tokens for beam in beams if abs((beam.score or 0.0) - total) <= NARROW]
        return near[0] if len(near) == 1 else None
    spare = [beam.tokens for beam in beams]
    for text in texts:
        if text in spare:
            spare.remove(text)
    return spare[0] if len(spare) == 1 else None
