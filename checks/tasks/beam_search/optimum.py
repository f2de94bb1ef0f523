"""Whether nothing is lost that a search of that width must find."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.sizes import Sizes
from judge_tui.checks.tasks.beam_search.few_tokens import hold_few_tokens
from judge_tui.checks.tasks.beam_search.glued import glued
from judge_tui.checks.tasks.beam_search.histories import foreign, searched
from judge_tui.checks.tasks.beam_search.mistaken import goes_wrong, sizes_of_wrong, stopped_early
from judge_tui.checks.tasks.beam_search.oracle import VARIANTS, Found, Hyp, beam_search, exhaustive
from judge_tui.checks.tasks.beam_search.reaches import sets
from judge_tui.checks.tasks.beam_search.scripts import Script, Tokens, distinct, hashed, table
from judge_tui.checks.tasks.beam_search.searching import NARROW, Answer, Scores, Search, outranks, written
from judge_tui.checks.verdict import Verdict

__all__ = ["exhaustive_optimum"]

_STEPS = 5
#: V and steps of models all of whose sequences can be written down.
_TINY = ((3, 3), (3, 4), (4, 3), (5, 2), (6, 2))
#: What is added to the logit of EOS.
_BIASES = (-0.5, -1.0, 0.5, 0.0)
#: The tiny models on which the best beam ends, and one that ends later wins under the penalty.
_LATER = (2, 3)
#: V and K of a wide search.
_LARGE = ((40, 80), (12, 24))


@dataclass(frozen=True, slots=True)
class _Tiny:
    """A model small enough to write down every sequence."""

    name: str
    script: Script
    prompt: Tokens
    steps: int

    @property
    def width(self) -> int:
        """V^steps: nothing is pruned."""
        return int(self.script.vocab_size**self.steps)

    def truth(self, alpha: float) -> Found:
        """Every sequence, best first."""
        return exhaustive(self.script.rows, self.prompt, self.steps, alpha, self.script.eos)


@dataclass(slots=True)
class _Whole:
    """Searches without pruning.

    Attributes:
        scores: Of all that came back.
        wrong: Winners that are not the best of all, in words.
        other: The same where EOS is left out of the length.
        rows: Of a table.
        unsorted: Answers that are not best first.
        seen: The answers.
    """

    scores: Scores
    wrong: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    rows: list[tuple[str, ...]] = field(default_factory=list)
    unsorted: int = 0
    seen: list[Answer] = field(default_factory=list)

    def add(self, tiny: _Tiny, answer: Answer) -> None:
        """Hold one winner."""
        self.scores.add(answer)
        self.seen.append(answer)
        self.unsorted += not answer.in_order()
        alpha, best = answer.alpha, tiny.truth(answer.alpha).best
        told, expected = _told(answer), written(best.tokens, tiny.script.eos)
        self.rows.append((tiny.name, str(tiny.width), f"{alpha:g}", expected, told))
        if told != expected:
            # Where EOS is left out of the length another best is length_penalty's business.
            excused = self.scores.may_exclude_eos and _excused(answer, best, alpha)
            missed = self.other if excused else self.wrong
            missed.append(f"{tiny.name}, K = {tiny.width}, alpha {alpha:g}: {told} instead of {expected}")


@check(
    "exhaustive_optimum",
    "nothing is lost",
    establishes="With K ≥ V^steps the true best of all sequences is returned; at narrow widths the best is "
    "at least that of a right beam search; where no beam ends, all K are those of every right one.",
    roles=("search",),
    version=17,
)
def exhaustive_optimum(bench: Bench, found: Findings) -> str:
    """Search tiny vocabularies without pruning, then wider ones at K = 2 to 5."""
    search = Search(bench)
    whole = _Whole(Scores(search))
    for tiny in _tinies(bench):
        for alpha in (0.0, 0.7):
            whole.add(tiny, search(tiny.script, [tiny.prompt], tiny.width, tiny.steps, alpha))
    wrong, other, rows = whole.wrong, whole.other, whole.rows
    right = len(rows) - len(wrong) - len(other)
    found.claim(
        "the best of all sequences, searches", not wrong, measured=f"{right} of {len(rows)}",
        limit=f"{len(rows) - len(other)} of {len(rows)}", note=(wrong or other or [""])[0],
        table=(("model", "K", "alpha", "best of all", "returned first"), *rows), **search.where,
    )  # fmt: skip
    narrow, pruned = _narrow(bench, search)
    count = len(pruned)
    found.claim(
        "best of narrow searches, at least that of a right beam search", not narrow,
        measured=f"{count - len(narrow)} of {count}", limit=f"{count} of {count}",
        note=narrow[0] if narrow else "", **search.where,
    )  # fmt: skip
    amiss, searches = sets(bench, search)
    found.claim(
        "sets that every right search returns, one size or another large", not amiss,
        measured=f"{searches - len(amiss)} of {searches}", limit=f"{searches} of {searches}",
        note=amiss[0] if amiss else "", **search.where,
    )  # fmt: skip
    few, missing, small = hold_few_tokens(bench.seed, found, search)
    unsorted = whole.unsorted
    found.claim(
        "beams are returned best first, searches", not unsorted,
        measured=f"{len(rows) - unsorted} of {len(rows)}",
        limit=f"{len(rows)} of {len(rows)}", otherwise=Verdict.WARN, **search.where,
    )  # fmt: skip
    lost = ""
    if wrong:
        lost = f"the best of all sequences is missed in {len(wrong)} of {len(rows)} searches: {wrong[0]}"
    elif narrow:
        lost = f"{len(narrow)} of {count} narrow searches prune too much: {narrow[0]}"
    elif few or amiss:
        lost = few or f"{len(amiss)} of {searches} sets are not those of a right search: {amiss[0]}"
    if lost and (cause := whole.scores.cause):
        return f"scores are wrong as where {cause}: {whole.scores.furthest}; {lost}"
    if lost:
        whole.seen += [*pruned, *small]
        return _because(bench, search, found, lost, whole)
    if missing or unsorted:
        odd = missing or f"{unsorted} of {len(rows)} lists are not best first"
        return f"the best is found, but {odd}"
    but = f" ({len(other)} with another best by its own scores, which length_penalty judges)" if other else ""
    return (
        f"the best of all sequences in {right} of {len(rows)} searches{but}, a right one in {count} of "
        f"{count} narrow ones"
    )


def _because(bench: Bench, search: Search, found: Findings, lost: str, whole: _Whole) -> str:
    """What was lost, behind its cause where winners or scores tell one, else with the sizes where it is."""
    seen = whole.seen
    if way := goes_wrong(seen, exact=whole.scores.error <= NARROW):
        return f"all {len(seen)} winners are as where {way}: {lost}"
    answers = searched(bench, search)
    if told := glued(answers):
        found.claim(
            "every score stands beside the tokens of its own beam", False, measured="other tokens",
            limit="its own", note=told, **search.where,
        )  # fmt: skip
        return f"{told}; {lost}"
    told = foreign(answers)
    if not told:
        return f"{lost}{sizes_of_wrong(seen)}"
    found.claim(
        "every token is scored behind the tokens of its own beam", False, measured="another beam's",
        limit="its own", note=told, **search.where,
    )  # fmt: skip
    return f"the model is not asked of the beam that goes on: {told}; {lost}"


def _excused(answer: Answer, best: Hyp, alpha: float) -> bool:
    """Whether the winner is the best by the other convention of length."""
    winner = answer.winner()
    if winner is None:
        return False
    told = winner.score is not None
    return outranks(answer.truth(winner), winner.tokens, best, alpha, scored=told)


def _told(answer: Answer) -> str:
    winner = answer.winner()
    return "nothing" if winner is None else written(winner.tokens, answer.script.eos)


def _tinies(bench: Bench) -> Iterator[_Tiny]:
    for number, bias in enumerate(_BIASES):
        for attempt in range(300):
            vocab, steps = _TINY[bench.sizes("tiny", number, attempt).between(0, len(_TINY) - 1)]
            rng = bench.rng("tiny", number, attempt)
            eos = int(rng.integers(vocab))
            # Whether a prompt that ends with EOS is finished is another check's business.
            prompt = tuple(int(t) for t in rng.choice([t for t in range(vocab) if t != eos], 2))
            tiny = _Tiny(f"V = {vocab}, {steps} steps", hashed(rng, vocab, eos, bias=bias), prompt, steps)
            raw, ranked = tiny.truth(0.0), tiny.truth(0.7)
            # In two of the four the penalty makes another sequence the best: to leave it out shows.
            turns = number % 2 == 0 or raw.best.tokens != ranked.best.tokens
            if (
                min(raw.margin, ranked.margin) > 1e-3
                and turns
                and (number not in _LATER or _later(tiny, ranked))
            ):
                yield tiny
                break
    yield _trap(bench.rng("trap"))


def _later(tiny: _Tiny, truth: Found) -> bool:
    """Whether one that ends later wins where the best beam has ended before."""
    rows, eos = tiny.script.rows, tiny.script.eos
    return stopped_early(rows, tiny.prompt, tiny.width, tiny.steps, 0.7, eos) != truth.best.tokens


def _trap(rng: np.random.Generator) -> _Tiny:
    """The best sequence begins with the least likely token."""
    eos, *others = distinct(rng, 4, 4)
    prompt = (eos, others[0])
    sure = {others[0]: math.log(0.96)}
    # Sequences that end at once must not win by their one step.
    script = table(rng, 4, eos, {
        prompt: {token: math.log(chance) for token, chance in zip(others, (0.14, 0.46, 0.35), strict=True)},
        (*prompt, others[0]): sure,
        (*prompt, others[0], others[0]): {others[1]: math.log(0.97)},
    }, default={eos: math.log(0.1)})  # fmt: skip
    return _Tiny("V = 4, least likely first token", script, prompt, 3)


def _narrow(bench: Bench, search: Search) -> tuple[list[str], list[Answer]]:
    """Winners at alpha 0 that are worse than those of every right way to search; and all answers."""
    wrong: list[str] = []
    answers: list[Answer] = []
    for script, prompt, width, least in _narrow_draws(bench.seed):
        answer = search(script, [prompt], width, _STEPS, 0.0)
        answers.append(answer)
        winner = answer.winner()
        reached = answer.truth(winner) if winner else -math.inf
        early = winner is not None and len(winner.tokens) < _STEPS and script.eos not in winner.tokens
        if reached < least - 1e-9 or early:
            what = "stops short at" if early else "is"
            wrong.append(
                f"V = {script.vocab_size}, K = {width}: the best {what} {_told(answer)} with {reached:.4g}, "
                f"a right one has {least:.4g}"
            )
    return wrong, answers


@functools.lru_cache(maxsize=8)
def _narrow_draws(seed: int) -> tuple[tuple[Script, Tokens, int, float], ...]:
    """Models, prompts, widths, and the least that a right search reaches: more than a narrower one."""
    found: list[tuple[Script, Tokens, int, float]] = []
    for index in range(4):
        script, prompt = _overtaking(np.random.default_rng([seed, 4, index]), alike=index < 2)
        width = 2 + index % 2
        found.append((script, prompt, width, _least(script, prompt, width)[0]))
    for index in range(300):
        rng = np.random.default_rng([seed, 5, index])
        vocab, width = int(rng.integers(9, 16)), 2 + len(found) % 4
        eos = int(rng.integers(vocab))
        script = hashed(rng, vocab, eos, scale=0.6, bias=-0.5)
        prompt = tuple(distinct(rng, vocab, 3, but=(eos,)))
        least, margin = _least(script, prompt, width)
        narrower = beam_search(script.rows, prompt, width - 1, _STEPS, 0.0, eos).best.logprob
        if margin > 1e-3 and narrower < least - 1e-3:
            found.append((script, prompt, width, least))
        if len(found) == 14:
            break
    rng = np.random.default_rng([seed, 6])
    vocab, width = Sizes(rng).shape(*_LARGE)
    eos, *rest = distinct(rng, vocab, 4)
    script, prompt = hashed(rng, vocab, eos, bias=-0.5), tuple(rest)
    return (*found, (script, prompt, width, _least(script, prompt, width)[0]))


def _least(script: Script, prompt: Tokens, width: int) -> tuple[float, float]:
    """The worst best of all right ways to search, and the smallest gap that decided any."""
    truths = [
        beam_search(script.rows, prompt, width, _STEPS, 0.0, script.eos, variant) for variant in VARIANTS
    ]
    return min(truth.best.logprob for truth in truths), min(truth.margin for truth in truths)


def _overtaking(rng: np.random.Generator, *, alike: bool) -> tuple[Script, Tokens]:
    """The second beam wins in the end; ``alike``: after both have ended in the same token."""
    vocab = int(rng.integers(40, 90))
    eos, a, b, c, e = distinct(rng, vocab, 5)
    prompt = tuple(distinct(rng, vocab, 2, but=(eos, a, b, c, e)))
    share = {token: math.log(0.9) for token in (c, e)}
    entries: dict[Tokens, dict[int, float]] = {
        prompt: {a: math.log(0.5), b: math.log(0.4)},
        (*prompt, a): {c: share[c]},
        (*prompt, b): {c if alike else e: share[e]},
        (*prompt, b, c if alike else e): {a: math.log(0.95)},
        (*prompt, b, c if alike else e, a): {b: math.log(0.95)},
        (*prompt, b, c if alike else e, a, b): {eos: math.log(0.95)},
    }
    return table(rng, vocab, eos, entries), prompt
