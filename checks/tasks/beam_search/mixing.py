"""How the prompts of a batch get in each other's way, told where it explains every answer of some batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge_tui.checks.bench import Bench
from judge_tui.checks.tasks.beam_search.askings import asked_of_another
from judge_tui.checks.tasks.beam_search.oracle import beam_search, path_sum
from judge_tui.checks.tasks.beam_search.reading import Beam
from judge_tui.checks.tasks.beam_search.scripts import Tokens, distinct, hashed
from judge_tui.checks.tasks.beam_search.searching import NARROW, Answer, Search, written
from judge_tui.checks.tasks.beam_search.taken_apart import taken_apart

__all__ = ["mixed_up"]

#: Lengths of prompts: alike, and not.
_ALIKE, _UNLIKE = (3, 3, 3, 3), (2, 5, 3, 1, 4)
_VOCAB, _WIDTH, _STEPS = 15, 2, 4
_NEVER = -14.0


@dataclass(frozen=True, slots=True)
class _Batch:
    """A batch in which no beam ends, beside its prompts alone.

    Attributes:
        together: What came for all.
        right: What a right search gives for each.
        alone: What came for each, one call after another, from a process of their own.
    """

    together: Answer
    right: Sequence[tuple[Tokens, ...]]
    alone: Sequence[tuple[Tokens, ...]]

    @property
    def prompts(self) -> Sequence[Tokens]:
        """Token ids."""
        return self.together.prompts

    @property
    def wrong(self) -> list[int]:
        """Prompts that get something else than alone."""
        pairs = zip(self.together.beams, self.right, strict=True)
        return [number for number, (one, other) in enumerate(pairs) if _tokens(one) != other]

    def exchanged(self) -> list[int] | None:
        """Whose answer each prompt gets; None where some get nobody's."""
        own = self.right
        got = [_tokens(beams) for beams in self.together.beams]
        if not all(one in own for one in got) or len(set(own)) < len(own):
            return None
        return [own.index(one) for one in got]

    def behind(self, number: int) -> int | None:
        """The other prompt behind which the scores of a prompt's beams are right."""
        rows, beams = self.together.script.rows, self.together.beams[number]
        for other, prompt in enumerate(self.prompts):
            sums = [(path_sum(rows, prompt, beam.tokens), beam.score) for beam in beams]
            if other != number and all(
                score is not None and abs(total - score) <= NARROW * max(1.0, abs(total))
                for total, score in sums
            ):
                return other
        return None


def _tokens(beams: Sequence[Beam]) -> tuple[Tokens, ...]:
    return tuple(beam.tokens for beam in beams)


def mixed_up(
    bench: Bench, search: Search, tried: Sequence[tuple[Answer, Sequence[Sequence[Beam]]]] = ()
) -> str:
    """What explains wrong answers in a batch, as a clause; empty where nothing does.

    Args:
        bench: Draws the models.
        search: The submission's.
        tried: Batches in which beams end as well, each beside what its prompts get alone.
    """
    alike, unlike = _batches(bench, search)
    if any(batch.alone[0] != batch.right[0] for batch in (alike, unlike)):
        return ""
    told = (_left_behind((alike, unlike)), _shared_width((alike, unlike)), *_of_others((alike, unlike)))
    if first := next((words for words in told if words), ""):
        return first
    if asked := asked_of_another([alike.together, unlike.together]):
        return asked
    got = [_tokens(beams) for beams in alike.together.beams]
    if alike.wrong and (apart := taken_apart(alike.together.script.rows, alike.prompts, _WIDTH, _STEPS, got)):
        return apart
    if not alike.wrong and not unlike.wrong:
        return _ended_elsewhere(tried) or _cut_off(tried) or _once_ended(tried)
    return _by_place(alike, unlike)


def _by_place(alike: _Batch, unlike: _Batch) -> str:
    """Which prompts are wrong, where their lengths or their places tell."""
    lengths = [len(prompt) for prompt in unlike.prompts]
    longest = lengths.index(max(lengths))
    others = [number for number in range(len(lengths)) if number != longest]
    if not alike.wrong and unlike.wrong == others:
        return (
            "prompts of one length are right, and of unequal ones the longest: all shorter ones are wrong, "
            "as where their padding is read"
        )
    if not alike.wrong:
        return f"prompts of one length are right, {len(unlike.wrong)} of {len(lengths)} of unequal ones wrong"
    if all(batch.wrong == list(range(1, len(batch.prompts))) for batch in (alike, unlike)):
        return "the first prompt of a batch is right, and all that come after it are wrong"
    return ""


def _shared_width(batches: Sequence[_Batch]) -> str:
    """Whether as many beams come back for all prompts as should for each."""
    if all(sum(map(len, batch.together.beams)) == batch.together.width for batch in batches):
        return "as many beams are kept in all as should be for each prompt: the best K of the whole batch"
    return ""


def _once_ended(tried: Sequence[tuple[Answer, Sequence[Sequence[Beam]]]]) -> str:
    """Whether batches go wrong in which beams end."""
    wrong = any(
        _tokens(beams) != _tokens(own)
        for together, alone in tried
        for beams, own in zip(together.beams, alone, strict=True)
    )
    return "batches in which no beam ends are right: it goes wrong once one of the batch has ended" * wrong


def _left_behind(batches: Sequence[_Batch]) -> str:
    """Whether a call changes what a later one gives."""
    if all(batch.alone == batch.right for batch in batches):
        return ""
    return "a call leaves something behind: the first one is right, and later ones with other prompts are not"


def _of_others(batches: Sequence[_Batch]) -> Iterator[str]:
    """Answers that are other prompts' own, or scored behind other prompts."""
    # of unequal prompts what is another's may be cut at its own length
    alike, unlike = (batch.exchanged() for batch in batches)
    if alike and alike != list(range(len(alike))) and unlike != list(range(len(batches[1].prompts))):
        yield _whose(alike, batches[0].together.width)
    behind = [(number, batch.behind(number)) for batch in batches for number in batch.wrong]
    if behind and all(other is not None for _number, other in behind):
        number, other = behind[0]
        yield f"tokens are scored as if they stood behind another prompt (those of {number} behind {other})"


def _whose(order: Sequence[int], width: int) -> str:
    """How prompts get others' answers: whose each one gets, of a search with K beams for each."""
    many = len(order)
    if len(set(order)) == 1:
        return f"every prompt gets the answer to prompt {order[0]}"
    number = next(n for n, whose in enumerate(order) if n != whose)
    one = f"prompt {number} gets the answer to prompt {order[number]}"
    for laid, read, whose in (
        ("beam by beam", "prompt by prompt", [place * width % many for place in range(many)]),
        ("prompt by prompt", "beam by beam", [place // width for place in range(many)]),
    ):
        if list(order) == whose:
            return f"the rows of prompts and beams are laid out {laid} and read {read}: {one}"
    if len(set(order)) < many:
        return f"prompts get the answers to others: {one}"
    return f"answers change places: {one}"


def _ended_elsewhere(tried: Sequence[tuple[Answer, Sequence[Sequence[Beam]]]]) -> str:
    """Whether beams that ended for another prompt stand among a prompt's own."""
    for together, alone in tried:
        rows, eos = together.script.rows, together.script.eos
        for number, beams in enumerate(together.beams):
            own = _tokens(alone[number])
            for beam in beams:
                if together.alpha or beam.score is None or beam.tokens in own or beam.tokens[-1:] != (eos,):
                    continue
                for other, prompt in enumerate(together.prompts):
                    total = path_sum(rows, prompt, beam.tokens)
                    theirs = other != number and beam.tokens in _tokens(alone[other])
                    if theirs and abs(total - beam.score) <= NARROW:
                        told = f"{written(beam.tokens, eos)} of prompt {other} comes back for prompt {number}"
                        return f"beams that ended for one prompt are kept among another's: {told}"
    return ""


def _cut_off(tried: Sequence[tuple[Answer, Sequence[Sequence[Beam]]]]) -> str:
    """Whether all that is wrong are beams which stop before they end, as they do not alone."""
    wrong = cut = 0
    for together, alone in tried:
        eos, steps = together.script.eos, together.steps
        for beams, own in zip(together.beams, alone, strict=True):
            if _tokens(beams) == _tokens(own):
                continue
            wrong += 1
            cut += any(
                len(beam.tokens) < steps and eos not in beam.tokens and beam.tokens not in _tokens(own)
                for beam in beams
            )
    return "a prompt's search is cut off when that of another one is over" if wrong and cut == wrong else ""


def _batches(bench: Bench, search: Search) -> list[_Batch]:
    batches = []
    for number, lengths in enumerate((_ALIKE, _UNLIKE)):
        rng = bench.rng("mixing", number)
        eos = int(rng.integers(_VOCAB))
        script = hashed(rng, _VOCAB, eos, bias=_NEVER)
        prompts = [tuple(distinct(rng, _VOCAB, length, but=(eos,))) for length in lengths]
        right = [beam_search(script.rows, prompt, _WIDTH, _STEPS, 0.0, eos).hyps for prompt in prompts]
        with bench.fresh() as worker:
            alone = [search(script, [p], _WIDTH, _STEPS, 0.0, worker=worker).beams[0] for p in prompts]
        together = search(script, prompts, _WIDTH, _STEPS, 0.0)
        own = [tuple(hyp.tokens for hyp in hyps) for hyps in right]
        batches.append(_Batch(together, own, [_tokens(beams) for beams in alone]))
    return batches
