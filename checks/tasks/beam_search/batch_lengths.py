"""What the scores of a batch take for a length, where those of each prompt alone are right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from judge_tui.checks.bench import Bench
from judge_tui.checks.tasks.beam_search.lengths import whole_length
from judge_tui.checks.tasks.beam_search.oracle import penalised
from judge_tui.checks.tasks.beam_search.scripts import distinct, hashed
from judge_tui.checks.tasks.beam_search.searching import NARROW, Answer, Search, written

__all__ = ["length_of_the_batch"]

#: Lengths of prompts, K, most new tokens and alpha.
_BATCHES = (((1, 3, 2), 2, 3, 0.8), ((2, 2), 3, 4, 1.0), ((4, 1, 2, 1), 2, 3, 0.6))
_VOCAB = 12
#: Added to the logit of EOS: no beam ends, and every prompt is searched to the last step.
_NEVER = -14.0


@dataclass(frozen=True, slots=True)
class _Taken:
    """The length of which the score of a beam would be right.

    Attributes:
        place: Of its prompt in the batch.
        count: Prompts.
        before: Tokens of its prompt.
        longest: Those of the longest one.
        length: Its tokens.
        taken: What is taken for them; None where that is no whole number.
        told: The beam, in words.
    """

    place: int
    count: int
    before: int
    longest: int
    length: int
    taken: int | None
    told: str


#: Words, behind "as where" → what is taken.
_CAUSES: Mapping[str, Callable[[_Taken], int]] = {
    "one length is counted on for each prompt of the batch, not once a step": lambda one: (
        (one.length - 1) * one.count + one.place + 1
    ),
    "lengths are multiplied by the number of prompts, each of which counts one on": lambda one: (
        one.length * one.count
    ),
    "the place in the batch is added to the length": lambda one: one.length + one.place,
    "the number of prompts is added to the length": lambda one: one.length + one.count,
    "the length of the longest prompt is counted": lambda one: one.length + one.longest,
    "the padding of shorter prompts is counted": lambda one: one.length + one.longest - one.before,
}


def length_of_the_batch(bench: Bench, search: Search) -> str:
    """Which wrong length scores have in a batch alone, as a clause; empty where none has.

    Args:
        bench: Draws the models.
        search: The submission's.
    """
    if search.alone or search.form.unpenalised:
        return ""
    seen = list(_seen(bench, search))
    wrong = [one for one in seen if one.taken != one.length]
    if not wrong:
        return ""
    first = wrong[0]
    at = f"prompt {first.place} of {first.count}: {first.told}"
    if any(one.taken is None for one in seen):
        return ""
    why = next((words for words, of in _CAUSES.items() if all(one.taken == of(one) for one in seen)), "")
    cause = f", as where {why}" if why else ""
    return (
        f"in a batch, and not alone, scores are divided by another length{cause} ({at}, as if of length "
        f"{first.taken} and not {first.length})"
    )


def _seen(bench: Bench, search: Search) -> Iterator[_Taken]:
    """Every beam of each batch, where those of its prompts alone are right."""
    for number, (lengths, width, steps, alpha) in enumerate(_BATCHES):
        rng = bench.rng("batch lengths", number)
        eos = int(rng.integers(_VOCAB))
        script = hashed(rng, _VOCAB, eos, bias=_NEVER)
        prompts = [tuple(distinct(rng, _VOCAB, length, but=(eos,))) for length in lengths]
        alone = [search(script, [prompt], width, steps, alpha) for prompt in prompts]
        if any(_off(answer, 0) for answer in alone):
            return
        together = search(script, prompts, width, steps, alpha)
        for place, prompt in enumerate(prompts):
            for beam in together.beams[place]:
                if beam.score is None or len(beam.tokens) != steps:
                    return
                total = together.truth(beam, place)
                wanted = penalised(total, steps, alpha)
                told = f"{written(beam.tokens, eos)} has {beam.score:.6g} instead of {wanted:.6g}"
                right = abs(beam.score - wanted) <= NARROW * max(1.0, abs(wanted))
                taken = steps if right else whole_length(beam.score, total, alpha)
                yield _Taken(place, len(prompts), len(prompt), max(lengths), steps, taken, told)


def _off(answer: Answer, number: int) -> bool:
    """Whether a score of a prompt is missing or wrong."""
    for beam in answer.beams[number]:
        wanted = penalised(answer.truth(beam, number), len(beam.tokens), answer.alpha)
        if beam.score is None or not abs(beam.score - wanted) <= NARROW * max(1.0, abs(wanted)):
            return True
    return False
