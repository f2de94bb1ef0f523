"""Running a submission's search on scripted models, and what is held against the answers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult
from judge_tui.checks.tasks.beam_search.contract import ALONE, CONTRACT, probed
from judge_tui.checks.tasks.beam_search.lengths import Taken, as_if, whole_length
from judge_tui.checks.tasks.beam_search.oracle import Hyp, path_sum, penalised
from judge_tui.checks.tasks.beam_search.reading import Beam, read
from judge_tui.checks.tasks.beam_search.scripts import Script
from judge_tui.checks.tasks.beam_search.terms import Scored, made_of
from judge_tui.checks.verdict import Verdict

__all__ = ["EXACT", "NARROW", "Answer", "Scores", "Search", "outranks", "written"]

#: A score of float64 sums of exact log-probabilities, renormalised by the submission, is this close.
EXACT = 1e-6
#: So far off are scores in float32, or rounded to four places.
NARROW = 1e-4
#: What a token id loses that is past the end of 16 bits, signed ones; and what no filler of rows is below.
_WORD, _FILLER = 1 << 16, -1000


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search returned.

    Attributes:
        script: The model.
        prompts: What was searched.
        width: K.
        alpha: The penalty's exponent.
        beams: Per prompt, in the order in which they were returned.
        steps: Most new tokens.
        counters: ``model_calls`` and ``model_rows``, as the worker counted them.
        ranks: Whether the scores are what beams are ranked by: raw sums under a penalty are not.
    """

    script: Script
    prompts: tuple[tuple[int, ...], ...]
    width: int
    alpha: float
    beams: list[list[Beam]]
    steps: int
    counters: Mapping[str, Any]
    ranks: bool = True

    def winner(self, prompt: int = 0) -> Beam | None:
        """The best beam: the first, or the best by its own score where the list is in another order."""
        beams = self.beams[prompt]
        if not self.in_order(prompt):
            return max(beams, key=lambda beam: beam.score if beam.score is not None else -math.inf)
        return beams[0] if beams else None

    def in_order(self, prompt: int = 0) -> bool:
        """Whether the list is best first by its own scores; without scores it is taken to be."""
        scores = [beam.score for beam in self.beams[prompt]]
        known = [score for score in scores if score is not None and not math.isnan(score)]
        return (
            not self.ranks
            or len(known) < len(scores)
            or all(
                a >= b - 1e-9
                for a, b in zip(known, known[1:], strict=False)  # noqa: RUF007 - reads as what it says
            )
        )

    def truth(self, beam: Beam, prompt: int = 0) -> float:
        """The true sum of the log-probabilities of a returned beam."""
        return path_sum(self.script.rows, self.prompts[prompt], beam.tokens)

    def unreached(self, beam: Beam, prompt: int = 0) -> bool:
        """Whether a token of a beam has K likelier siblings, so that no search of width K goes that way.

        EOS is left out on both sides: where it ends up is for each way to search to say.
        """
        prefix, eos = list(self.prompts[prompt]), self.script.eos
        for token in beam.tokens:
            row = self.script.rows.row(prefix)
            likelier = int((row > row[token] + NARROW).sum()) - bool(row[eos] > row[token] + NARROW)
            if token != eos and likelier >= self.width:
                return True
            prefix.append(token)
        return False


class Search:
    """The submission's search.

    Args:
        bench: Where it runs.

    Attributes:
        form: How beams are written.
        alone: Whether it takes one prompt a call; a batch is as many calls then.

    Raises:
        Fault: Unbound, or it cannot even answer the contract's sample.
    """

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.binding = bench.binding("search")
        returns = self.binding.returns
        given = {name: returns[name].steps[-1][1] for name in ("tokens", "score") if name in returns}
        sample = CONTRACT.sample(bench.rng("form"))
        value = bench.call("search", sample.inputs).value("results")
        self.form, _beams = probed(value, sample.inputs, given)
        self.alone = self.binding.takes(ALONE)

    @property
    def where(self) -> dict[str, Any]:
        """File and line of the search, for evidence."""
        return {"file": self.binding.file, "line": self.binding.line}

    def __call__(
        self,
        script: Script,
        prompts: Sequence[Sequence[int]],
        width: int,
        steps: int,
        alpha: float,
        *,
        worker: Worker | None = None,
    ) -> Answer:
        """Search.

        Args:
            script: The model.
            prompts: Token ids per prompt.
            width: K.
            steps: Most new tokens.
            alpha: The penalty's exponent.
            worker: Another process than the shared one.

        Raises:
            Fault: It raised, hung, died, or did not return beams of tokens of the vocabulary.
        """
        lists = [list(prompt) for prompt in prompts]
        counters: Counter[str] = Counter()
        beams: list[list[Beam]] = []
        for batch in [[one] for one in lists] if self.alone else [lists]:
            returned = self.bench.call(
                "search", {ALONE: batch[0] if self.alone else []}, worker=worker, model=script.model,
                prompts=batch, beam_width=width, max_new_tokens=steps, alpha=alpha, eos_token_id=script.eos,
                vocab_size=script.vocab_size, pad_token_id=-1,
            )  # fmt: skip
            beams += read(returned.value("results"), self.form, batch, steps, script.eos)
            counters.update(returned.result.counters)
        for beam in (beam for group in beams for beam in group):
            if wrapped := [t for t in beam.negative if t < _FILLER and t + _WORD < script.vocab_size]:
                raise BadResult(
                    f"returned token {wrapped[0]}, which is {wrapped[0] + _WORD} of a vocabulary of "
                    f"{script.vocab_size} in a signed word of 16 bits"
                )
            if outside := [t for t in beam.tokens if not 0 <= t < script.vocab_size]:
                raise BadResult(f"returned token {outside[0]}, outside the vocabulary of {script.vocab_size}")
        kept = tuple(tuple(prompt) for prompt in prompts)
        ranks = alpha == 0.0 or not self.form.unpenalised
        return Answer(script, kept, width, alpha, beams, steps, counters, ranks)


@dataclass(slots=True)
class Scores:
    """Scores of returned beams against the model, over many searches.

    Attributes:
        error: Largest error against logprob / length^alpha, EOS counted in the length.
        shorter: The same with EOS left out of the length.
        without: Beams whose score only that explains: EOS left out of a length that is not all EOS.
        count: Beams.
        lengths: What the scores take for the lengths, where there is a penalty.
        repeated: Beams that were returned twice.
        resumed: Beams that go on after EOS.
        unreached: Beams that no search of their width comes to.
        unnumbered: Possible beams whose score is NaN, in words.
        beams: What came back with a score.
    """

    search: Search
    error: float = 0.0
    shorter: float = 0.0
    raw_error: float = 0.0
    without: int = 0
    count: int = 0
    lengths: list[Taken] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    resumed: list[str] = field(default_factory=list)
    unreached: list[str] = field(default_factory=list)
    unnumbered: list[str] = field(default_factory=list)
    beams: list[Scored] = field(default_factory=list)
    _furthest: tuple[str, Taken | None] = ("", None)
    _searches: int = 0

    @property
    def worst(self) -> str:
        """The beam that is furthest off, in words, and of what length or terms its score would be right."""
        told, taken = self._furthest
        length = as_if(taken, self.lengths) if taken else ""
        return told + (length or (f", as where {cause}" if (cause := self.cause) else ""))

    @property
    def within(self) -> str:
        """How close scores are, in words."""
        return f"scores within {self.error:.1g}" if self.count else "no score is returned"

    @property
    def furthest(self) -> str:
        """The beam that is furthest off, in words."""
        return self._furthest[0]

    @property
    def cause(self) -> str:
        """What alone explains every score by the terms of its sum, in words; empty where nothing does."""
        return made_of(self.beams) if self.error > NARROW else ""

    def add(self, answer: Answer, prompt: int = 0) -> None:
        """Hold every beam of a prompt against the model."""
        beams, eos = answer.beams[prompt], answer.script.eos
        seen: set[tuple[int, ...]] = set()
        self._searches += 1
        for beam in beams:
            if beam.tokens in seen:
                self.repeated.append(written(beam.tokens, eos))
            if eos in beam.tokens[:-1]:
                self.resumed.append(written(beam.tokens, eos))
            elif answer.unreached(beam, prompt):
                self.unreached.append(f"{written(beam.tokens, eos)} at K = {answer.width}")
            seen.add(beam.tokens)
            if beam.tokens and beam.score is not None:
                self._score(beam, answer, prompt)

    def _score(self, beam: Beam, answer: Answer, prompt: int) -> None:
        self.count += 1
        assert beam.score is not None
        total, eos = answer.truth(beam, prompt), answer.script.eos
        alpha = 0.0 if self.search.form.unpenalised else answer.alpha
        length, taken = len(beam.tokens), None
        wanted = penalised(total, length, alpha)
        self.beams.append(
            Scored(answer.script.rows, answer.prompts[prompt], beam.tokens, eos, alpha, beam.score)
        )
        off = _off(beam.score, wanted)
        if math.isnan(beam.score) and total > -math.inf:
            twice = sum(other.tokens == beam.tokens for other in answer.beams[prompt]) > 1
            also = ", and is returned twice" if twice else ""
            self.unnumbered.append(
                f"{written(beam.tokens, eos)} has a score of NaN instead of {wanted:.6g}{also}"
            )
        if alpha:
            whole = length if off <= NARROW else whole_length(beam.score, total, alpha)
            taken = Taken(
                self._searches,
                length,
                len(answer.prompts[prompt]),
                answer.steps,
                whole,
                beam.tokens[-1] == eos,
            )
            self.lengths.append(taken)
        if off > self.error:
            self.error = off
            told = f"{written(beam.tokens, eos)} has {beam.score:.6g} instead of {wanted:.6g}"
            self._furthest = (told, taken)
        without = length - (beam.tokens[-1] == eos)
        # The score of a sequence that holds nothing but EOS is the submission's choice then.
        other = _off(beam.score, penalised(total, without, alpha)) if without else 0.0
        self.shorter = max(self.shorter, other if not math.isnan(beam.score) else math.inf)
        self.without += without > 0 and off > NARROW and other <= EXACT
        if beam.raw is not None:
            self.raw_error = max(self.raw_error, _off(beam.raw, total))

    @property
    def excludes_eos(self) -> bool:
        """Whether every score is exact once EOS is left out of the length, and some only then."""
        return self.error > NARROW and self.shorter <= EXACT and self.without > 0

    @property
    def may_exclude_eos(self) -> bool:
        """The same, or there are no scores to tell by and EOS is taken off what is returned."""
        return self.excludes_eos or (not self.count and self.search.form.stripped)

    def hold(self, found: Findings, **where: Any) -> Verdict:
        """Decide by the scores: exact, off as float32 is, of the other length convention, or wrong."""
        if not self.count:
            found.claim(
                "a score is returned", False, measured="tokens only", limit="tokens and score",
                otherwise=Verdict.WARN, **where,
            )  # fmt: skip
            return Verdict.WARN
        otherwise = Verdict.WARN if self.error <= NARROW else Verdict.FAIL
        if self.excludes_eos:
            otherwise = Verdict.AMBIGUOUS
            where["note"] = "The scores are exact when EOS is left out of the length."
        quantity = "score against the model's log-probabilities, largest relative error"
        where.setdefault("note", self.worst if self.error > EXACT else "")
        ok = found.limit(quantity, self.error, EXACT, otherwise=otherwise, **where)
        return Verdict.PASS if ok else otherwise


def outranks(total: float, tokens: Sequence[int], best: Hyp, alpha: float, *, scored: bool = True) -> bool:
    """Whether a sequence is as good as the best where EOS is no part of a length.

    Args:
        total: Its log-probability.
        tokens: It.
        best: The best where EOS counts.
        alpha: Length penalty's exponent.
        scored: Whether scores are told, and show how a lone EOS is scored: in any way, then; else by its sum.
    """
    eos = best.tokens[-1] if best.finished else None
    lengths = [
        len(t) - (tuple(t[-1:]) == (eos,)) if eos is not None else len(t) for t in (tokens, best.tokens)
    ]
    if scored and 0 in lengths:
        return True
    return penalised(total, lengths[0], alpha) >= penalised(best.logprob, lengths[1], alpha) - 1e-9


def _off(score: float, wanted: float) -> float:
    """Relative error, absolute below one; NaN and infinities are infinitely off."""
    error = abs(score - wanted) / max(1.0, abs(wanted))
    return error if math.isfinite(error) else math.inf


def written(tokens: Sequence[int], eos: int) -> str:
    """A sequence for people."""
    return "[" + " ".join("EOS" if token == eos else str(token) for token in tokens) + "]"
