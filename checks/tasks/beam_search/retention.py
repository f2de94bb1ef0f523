"""Whether a finished beam keeps its score and competes to the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.tasks.beam_search.disagreement import STEPS, by_finished
from judge_tui.checks.tasks.beam_search.finishing import hold_finishing
from judge_tui.checks.tasks.beam_search.mistaken import goes_wrong
from judge_tui.checks.tasks.beam_search.oracle import VARIANTS, Variant, beam_search
from judge_tui.checks.tasks.beam_search.places import eos_place
from judge_tui.checks.tasks.beam_search.scripts import Script, Tokens, distinct, table, wide
from judge_tui.checks.tasks.beam_search.searching import NARROW, Answer, Scores, Search, written
from judge_tui.checks.verdict import Verdict

__all__ = ["Case", "cases", "eos_retention"]

_WIDTHS = (1, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class Case:
    """A search whose winner every right beam search agrees on.

    Attributes:
        name: What is special.
        script: The model.
        prompt: The prompt.
        steps: Most new tokens.
        widths: K.
        alpha: The penalty's exponent.
    """

    name: str
    script: Script
    prompt: Tokens
    steps: int
    widths: tuple[int, ...] = _WIDTHS
    alpha: float = 0.0

    def best(self, width: int) -> Tokens:
        """The winner."""
        return beam_search(
            self.script.rows, self.prompt, width, self.steps, self.alpha, self.script.eos
        ).best.tokens


@dataclass(slots=True)
class _Tally:
    """Winners over all searches."""

    right: int = 0
    lost: list[str] = field(default_factory=list)
    rows: list[tuple[str, ...]] = field(default_factory=list)
    alphas: dict[bool, set[float]] = field(default_factory=lambda: {True: set(), False: set()})

    @property
    def at(self) -> str:
        """At which alpha winners are lost, as a clause; empty where others are lost or kept as well."""
        lost, kept = self.alphas[False], self.alphas[True]
        if len(lost) != 1 or not kept or lost & kept:
            return ""
        return f", all at alpha {next(iter(lost)):g} and none at another"

    def add(self, case: Case, width: int, answer: Answer) -> bool:
        """Count a search; whether its winner is right."""
        best, winner, eos = case.best(width), answer.winner(), case.script.eos
        told = "nothing" if winner is None else written(winner.tokens, eos)
        right = winner is not None and winner.tokens == best
        self.alphas[right].add(case.alpha)
        if right:
            self.right += 1
        else:
            self.lost.append(
                f"{case.name}, K = {width}: {told} is returned as the best instead of {written(best, eos)}"
            )
        score = "–" if winner is None or winner.score is None else f"{winner.score:.6g}"
        self.rows.append((case.name, str(width), f"{case.alpha:g}", written(best, eos), told, score))
        return right


@check(
    "eos_retention",
    "finished beams compete",
    establishes="A finished beam keeps its exact score, is not expanded again, and wins over a worse one "
    "that goes on, at widths 1 to 4; one that is not finished goes on. "
    "Of many that finish one after another the K best are returned.",
    roles=("search",),
    version=14,
)
def eos_retention(bench: Bench, found: Findings) -> str:
    """Search tables whose best sequence ends before the others; then see how finished beams are kept."""
    search = Search(bench)
    tally, scores, short, seen = _Tally(), Scores(search), list[str](), list[Answer]()
    for case in cases(bench.rng("tables")):
        for width in case.widths:
            with bench.answers.one() as asked:
                answer = search(case.script, [case.prompt], width, case.steps, case.alpha)
                asked.fine = tally.add(case, width, answer)
            scores.add(answer)
            seen.append(answer)
            short += _cut_short(answer, case.steps)
    where = eos_place(search)
    total = tally.right + len(tally.lost)
    found.claim(
        "the best sequence is returned first, searches", not tally.lost, measured=f"{tally.right} of {total}",
        limit=f"{total} of {total}", note=tally.lost[0] if tally.lost else "",
        table=(("case", "K", "alpha", "best", "returned first", "score"), *tally.rows), **where,
    )  # fmt: skip
    exact = scores.hold(found, **where)
    found.claim(
        "beams that no search of their width comes to: K siblings of a token are likelier",
        not scores.unreached, measured=len(scores.unreached), limit=0,
        note=scores.unreached[0] if scores.unreached else "", **where,
    )  # fmt: skip
    odd = scores.resumed or scores.repeated
    found.claim(
        "sequences that go on after EOS, or are returned twice", not odd,
        measured=len(scores.resumed) + len(scores.repeated), limit=0, note=odd[0] if odd else "", **where,
    )  # fmt: skip
    kept = _kept_as(bench, found, search, short)
    found.claim(
        "sequences that end neither with EOS nor at max_new_tokens", not short, measured=len(short), limit=0,
        otherwise=Verdict.WARN, note=f"{short[0]}; where a search stops once its best is decided, the "
        "others are not what a search of K comes to" if short else "", **where,
    )  # fmt: skip
    amiss, explained = hold_finishing(bench, found, search)
    if explained:
        return amiss
    if tally.lost:
        lost = (
            f"the best sequence is lost in {len(tally.lost)} of {total} searches{tally.at} ({tally.lost[0]})"
        )
        if cause := scores.cause:
            return f"{lost}; scores are wrong as where {cause}: {scores.furthest}"
        way = goes_wrong(seen, exact=scores.error <= NARROW)
        return f"all {total} winners are as where {way}: {lost}" if way else lost
    if scores.unnumbered:
        return scores.unnumbered[0]
    if scores.resumed:
        return f"finished beams are expanded again: {scores.resumed[0]}"
    if scores.repeated:
        return f"{scores.repeated[0]} is returned twice"
    if scores.unreached:
        return f"no search of that width comes to {scores.unreached[0]}"
    if exact is Verdict.FAIL:
        return f"scores are off by {scores.error:.2g} (limit 1e-06): {scores.worst}"
    if amiss:
        return amiss
    if exact is Verdict.AMBIGUOUS:
        return (
            f"the finished beam wins {total} of {total} searches; EOS is left out of the length: "
            f"{scores.worst}; the challenge's wording allows it"
        )
    told = f"the finished beam wins {total} of {total} searches, {scores.within}"
    if short:
        return f"{told}, but {len(short)} other beams are cut short: {short[0]}"
    return f"{told}; {kept}"


def _cut_short(answer: Answer, steps: int) -> list[str]:
    """Beams of the first prompt that have neither ended nor come to the most new tokens."""
    return [
        f"{written(beam.tokens, answer.script.eos)} has {len(beam.tokens)} of {steps} tokens and no EOS"
        for beam in answer.beams[0]
        if 0 < len(beam.tokens) < steps and answer.script.eos not in beam.tokens
    ]


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """Tables: EOS at once, late, crowded by live beams, at the last step, and beaten by what ends later."""
    start = int(rng.integers(4))
    for index in range(3):
        vocab = wide(rng)
        eos = (0, vocab - 1, int(rng.integers(1, vocab - 1)))[index]
        # Prompts of one length would not tell what is counted with them from any other constant.
        prompt, (c, d, e, f, g, h) = _drawn(rng, vocab, eos, 1 + (start + index) % 4)
        down = float(rng.uniform(0.9, 1.1)) if index else 1.0
        first = {eos: -3.0 * down, c: -4.0 * down, d: -4.5 * down, e: -4.8 * down}
        entries = {prompt: first}
        for token in (c, d, e):
            entries[*prompt, token] = {token: -1.0}
            entries[*prompt, token, token] = {token: -1.0}
        script = _table(rng, vocab, eos, prompt, entries)
        yield Case("EOS at -3 against -5", script, prompt, 2)
        yield Case("EOS at -3 against -6", script, prompt, 3, (2, 3), 0.3)
        crowd = {eos: -3.0, c: -3.1, d: -3.2, e: -3.3, f: -3.4, g: -3.5, h: -3.6}
        entries = {prompt: crowd}
        for token in (c, d, e, f, g, h):
            entries[*prompt, token] = {token: -0.3}
            entries[*prompt, token, token] = {token: -1.6}
        yield Case("more live beams than places", _table(rng, vocab, eos, prompt, entries), prompt, 3)
        if index == 0:
            continue
        entries = {prompt: {c: -0.5, d: -2.0}, (*prompt, c): {eos: -2.5, c: -3.0}, (*prompt, c, c): {c: -1.0},
                   (*prompt, d): {d: -3.5}, (*prompt, d, d): {d: -0.5}}  # fmt: skip
        script = _table(rng, vocab, eos, prompt, entries)
        yield Case("EOS at the second step", script, prompt, 4, (2, 3))
        # Tells a length without EOS from a score that is merely wrong, which a lone EOS cannot.
        yield Case("EOS at the second step", script, prompt, 4, (2,), 0.3)
        entries = {prompt: {c: -0.9}, (*prompt, c): {eos: -0.6, d: -1.1}}
        yield Case("EOS at the last step", _table(rng, vocab, eos, prompt, entries), prompt, 2)
        entries = {
            prompt: {eos: -3.0, c: -0.2},
            (*prompt, c): {d: -0.3, eos: -3.5},
            (*prompt, c, d): {eos: -0.4},
        }
        yield Case("a better one ends later", _table(rng, vocab, eos, prompt, entries), prompt, 5)


def _drawn(rng: np.random.Generator, vocab: int, eos: int, length: int) -> tuple[Tokens, list[int]]:
    tokens = distinct(rng, vocab, 6, but=(eos,))
    prompt = distinct(rng, vocab, length, but=(eos, *tokens))
    return tuple(prompt), tokens


def _table(
    rng: np.random.Generator,
    vocab: int,
    eos: int,
    prompt: Tokens,
    entries: dict[Tokens, dict[int, float]],
) -> Script:
    """With rows behind EOS that lure a search into going on there."""
    lure = next(token for token in entries[prompt] if token != eos)
    ends = [(*prefix, eos) for prefix, row in entries.items() if eos in row]
    return table(rng, vocab, eos, {**entries, **{end: {lure: -0.001} for end in ends}})


def _kept_as(bench: Bench, found: Findings, search: Search, short: list[str]) -> str:
    """Note where finished beams are kept, by sets on which a pool and side lists differ; decides nothing.

    Beams that these searches cut short are added to ``short``.
    """
    counts: dict[Variant, int] = dict.fromkeys(VARIANTS, 0)
    draws, other, better = by_finished(bench.seed), 0, 0
    for draw in draws:
        answer = search(draw.script, [draw.prompt], draw.width, STEPS, draw.alpha)
        short += _cut_short(answer, STEPS)
        returned = frozenset(beam.tokens for beam in answer.beams[0])
        fitting = [v for v in VARIANTS if draw.truths[v].sequences == returned]
        for variant in fitting:
            counts[variant] += 1
        other += not fitting
        winner = answer.winner()
        better += winner is not None and winner.tokens != draw.truths[VARIANTS[0]].best.tokens
    likeliest = max(VARIANTS, key=lambda v: counts[v])
    if counts[likeliest] < len(draws):
        kept = "in a way of its own"
    elif likeliest.finished == "pool":
        kept = "in the pool of K"
    else:
        kept = f"in {likeliest}"
    found.note(
        "finished beams are kept", kept, limit="in the pool of K",
        note=f"Of {len(draws)} draws on which they differ, the returned set is a pool's in "
        f"{counts[VARIANTS[0]]}, a side list's in {counts[VARIANTS[2]]}, a refilled side list's in "
        f"{counts[VARIANTS[3]]}, another in {other}; the winner is not the pool's in {better}. "
        "The challenge asks for a pool; a side list is no error.",
        **search.where,
    )  # fmt: skip
    return f"they are kept {kept} ({counts[likeliest]} of {len(draws)} sets)"
