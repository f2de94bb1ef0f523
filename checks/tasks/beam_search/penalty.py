"""Whether the length penalty ranks as logprob / length^alpha, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.tasks.beam_search.disagreement import ALPHA, MISTAKEN, STEPS, Draw, by_mistake, by_rank
from judge_tui.checks.tasks.beam_search.exponents import Won, of_another_exponent
from judge_tui.checks.tasks.beam_search.kept_by_place import left_in_its_place
from judge_tui.checks.tasks.beam_search.mistaken import ENDED_FIRST, sets_of
from judge_tui.checks.tasks.beam_search.oracle import VARIANTS, Found, beam_search, penalised
from judge_tui.checks.tasks.beam_search.places import penalty_place
from judge_tui.checks.tasks.beam_search.scripts import Script, Tokens, distinct, hashed, table, wide
from judge_tui.checks.tasks.beam_search.searching import EXACT, Scores, Search, outranks, written
from judge_tui.checks.tasks.beam_search.stopping import hold_stopping
from judge_tui.checks.verdict import Verdict

__all__ = ["Crossing", "crossings", "length_penalty"]

_ALPHAS = (0.0, 0.3, 0.35, 0.6, 0.73, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class Crossing:
    """A short and a long sequence that change places at one alpha.

    Attributes:
        name: Their sums and lengths.
        script: The model.
        prompt: The prompt.
        steps: Most new tokens.
        alphas: Exponents to try.
        flip: The exponent at which they tie.
    """

    name: str
    script: Script
    prompt: Tokens
    steps: int
    alphas: tuple[float, ...]
    flip: float


@dataclass(slots=True)
class _Tally:
    right: int = 0
    excused: int = 0
    wrong: list[str] = field(default_factory=list)
    winners: list[Won] = field(default_factory=list)
    rows: list[tuple[str, ...]] = field(default_factory=list)


@check(
    "length_penalty",
    "logprob / length^alpha",
    establishes="Winners change at exactly the alphas that logprob / length^alpha says, over generated "
    "tokens, and the returned scores are that number.",
    roles=("search",),
    version=14,
)
def length_penalty(bench: Bench, found: Findings) -> str:
    """Search tables with a crossover on both sides of it; then see what ranks beams inside the search."""
    search = Search(bench)
    tally, scores = _Tally(), Scores(search)
    for crossing in crossings(bench.rng("tables")):
        for index, alpha in enumerate(crossing.alphas):
            _tried(search, tally, scores, crossing, alpha, 2 + index % 2)
        # Where ended beams leave a place free, one beam may go on and win; every score is penalised.
        scores.add(search(crossing.script, [crossing.prompt], 1, crossing.steps, crossing.alphas[-1]))
    _mixed(bench, search, scores)
    where = penalty_place(search)
    total = tally.right + len(tally.wrong)
    excused = scores.may_exclude_eos and tally.excused == len(tally.wrong)
    found.claim(
        "winner on each side of the crossover, searches", not tally.wrong,
        otherwise=Verdict.AMBIGUOUS if excused else Verdict.FAIL,
        measured=f"{tally.right} of {total}", limit=f"{total} of {total}",
        note=tally.wrong[0] if tally.wrong else "",
        table=(("sequences", "flips at", "alpha", "winner", "returned first", "score"), *tally.rows), **where,
    )  # fmt: skip
    exact = scores.hold(found, **where)
    if search.form.unpenalised:
        found.claim(
            "the returned score is penalised", False, measured="the raw sum", limit="logprob / length^alpha",
            otherwise=Verdict.WARN, **where,
        )  # fmt: skip
    if search.form.raw is not None:
        found.limit(
            "accumulated log-probability beside the score, largest relative error", scores.raw_error, EXACT,
            otherwise=Verdict.WARN, **where,
        )  # fmt: skip
    if not scores.count and excused and tally.wrong:
        return f"EOS is left out of the length: {tally.wrong[0]}; the challenge's wording allows it"
    if exact is Verdict.AMBIGUOUS and (excused or not tally.wrong):
        return f"EOS is left out of the length: {scores.worst}; the challenge's wording allows it"
    inside, worse = _ranked_by(bench, found, search)
    worse = _mistaken(bench, found, search) or worse
    if (tally.wrong and not excused) or exact is Verdict.FAIL:
        why = left_in_its_place(bench, search) or of_another_exponent(tally.winners)
        cause = f"{why}: " if why else ""
    if tally.wrong and not excused:
        scored = f"; {scores.worst}" if exact is Verdict.FAIL else ""
        often = f"the wrong winner in {len(tally.wrong)} of {total} searches"
        return f"{cause}{often}: {tally.wrong[0]}{scored}"
    if exact is Verdict.FAIL:
        return f"{cause}scores are off by {scores.error:.2g} (limit {EXACT:g}): {scores.worst}"
    worse = worse or hold_stopping(bench, found, search)
    if worse:
        return worse
    if search.form.unpenalised:
        return f"{total} of {total} winners right, but the raw sum is returned as the score; {inside}"
    return f"{total} of {total} winners right on both sides of the crossovers, {scores.within}; {inside}"


def _mixed(bench: Bench, search: Search, scores: Scores) -> None:
    """Hold the scores of beams of many lengths, which change places from step to step."""
    for number, alpha in enumerate((0.7, 1.0, 0.7, 1.0)):
        rng, sizes = bench.rng("mixed", number), bench.sizes("mixed", number)
        vocab, width, steps = sizes.shape((4, 9), (3, 5), (3, 6))
        eos, *others = distinct(rng, vocab, 3)
        script = hashed(rng, vocab, eos, bias=-0.5)
        scores.add(search(script, [tuple(others)], width + 8 * (number % 2), steps, alpha))


def _tried(
    search: Search, tally: _Tally, scores: Scores, crossing: Crossing, alpha: float, width: int
) -> None:
    script = crossing.script
    answer = search(script, [crossing.prompt], width, crossing.steps, alpha)
    scores.add(answer)
    best = beam_search(script.rows, crossing.prompt, width, crossing.steps, alpha, script.eos).best
    winner = answer.winner()
    told = "nothing" if winner is None else written(winner.tokens, script.eos)
    returned = winner.tokens if winner else ()
    tally.winners.append(Won(script, crossing.prompt, crossing.steps, width, alpha, returned))
    if winner is not None and winner.tokens == best.tokens:
        tally.right += 1
    elif winner is not None and outranks(
        answer.truth(winner), winner.tokens, best, alpha, scored=winner.score is not None
    ):
        tally.excused += 1
        tally.wrong.append(
            f"{crossing.name} at alpha {alpha:.3g}: {told} instead of {written(best.tokens, script.eos)}"
        )
    else:
        tally.wrong.append(
            f"{crossing.name} at alpha {alpha:.3g} (flips at {crossing.flip:.3f}): {told} instead of "
            f"{written(best.tokens, script.eos)}"
        )
    score = "–" if winner is None or winner.score is None else f"{winner.score:.6g}"
    expected = written(best.tokens, script.eos)
    tally.rows.append((crossing.name, f"{crossing.flip:.3f}", f"{alpha:.3g}", expected, told, score))


def crossings(rng: np.random.Generator) -> Iterator[Crossing]:
    """The two crossovers of the contract, the long one live or ended, some of other lengths, one past 1."""
    for ended in (False, True):
        yield _crossing(rng, (-3.0, -5.0), (1, 2), ended, _ALPHAS)
        yield _crossing(rng, (-2.0, -2.5), (1, 2), ended, _ALPHAS)
    for index in range(6):
        short = int(rng.integers(1, 4))
        long_ = int(rng.integers(max(short + 1, 3), 6))
        flip = float(rng.uniform(0.25, 0.9))
        low = float(rng.uniform(-3.2, -2.2))
        high = low * (long_ / short) ** flip
        yield _crossing(rng, (low, high), (short, long_), bool(index % 2), (flip - 0.04, flip + 0.04))
    flip, low = float(rng.uniform(1.1, 1.5)), float(rng.uniform(-2.4, -1.8))
    yield _crossing(rng, (low, low * 2**flip), (1, 2), True, (flip - 0.04, flip + 0.04))


def _crossing(
    rng: np.random.Generator,
    sums: tuple[float, float],
    lengths: tuple[int, int],
    ended: bool,
    alphas: tuple[float, ...],
) -> Crossing:
    vocab = wide(rng)
    eos, short, long_ = distinct(rng, vocab, 3)
    prompt = tuple(distinct(rng, vocab, int(rng.integers(2, 6)), but=(eos, short, long_)))
    entries: dict[Tokens, dict[int, float]] = {}
    for token, total, length, ends in (
        (short, sums[0], lengths[0], True),
        (long_, sums[1], lengths[1], ended),
    ):
        for step, part in enumerate(_parts(total, length)):
            last = step == length - 1 and ends
            entries.setdefault((*prompt, *[token] * step), {})[eos if last else token] = part
    flip = math.log(sums[1] / sums[0]) / math.log(lengths[1] / lengths[0])
    name = f"{sums[0]:.3g} at {lengths[0]} against {sums[1]:.3g} at {lengths[1]}{' ended' if ended else ''}"
    # One that has ended must not be extended past its length, so there is room for more steps.
    steps = lengths[1] + (1 if ended else 0)
    return Crossing(name, table(rng, vocab, eos, entries), prompt, steps, alphas, flip)


def _parts(total: float, length: int) -> list[float]:
    """Log-probabilities that add up to ``total``, the first the smallest."""
    if length == 1:
        return [total]
    first = total * 0.7
    return [first, *[(total - first) / (length - 1)] * (length - 1)]


def _ranked_by(bench: Bench, found: Findings, search: Search) -> tuple[str, str]:
    """What ranks beams inside the search, by draws on which raw sum and penalised score disagree."""
    counts, worse = dict.fromkeys(VARIANTS, 0), ""
    draws = by_rank(bench.seed)
    for draw in draws:
        answer = search(draw.script, [draw.prompt], draw.width, STEPS, draw.alpha)
        winner = answer.winner()
        tokens = winner.tokens if winner else ()
        for variant in VARIANTS:
            counts[variant] += draw.truths[variant].best.tokens == tokens
        reached = penalised(answer.truth(winner), len(tokens), ALPHA) if winner else -math.inf
        least = min(truth.best.score(ALPHA) for truth in draw.truths.values())
        if reached < least - 1e-9 or draw.script.eos in tokens[:-1]:
            worse = worse or (
                f"at K = {draw.width}, alpha {ALPHA} the best returned is {written(tokens, draw.script.eos)} "
                f"at {reached:.4g}, worse than any ranking inside the search gives ({least:.4g})"
            )
    by = next((v for v in VARIANTS if counts[v] == len(draws)), None)
    told = "in a way of its own" if by is None else "by raw sum" if by.rank == "sum" else "by penalised score"
    if by is not None and by.finished != "pool":
        told = f"with {by}"
    found.note(
        "beams are ranked inside the search", told,
        note=f"On {len(draws)} draws on which they disagree, the winner is that of penalised score in "
        f"{counts[VARIANTS[0]]}, of raw sum in {counts[VARIANTS[1]]}. The challenge allows both.",
        **search.where,
    )  # fmt: skip
    if worse:
        what = "winner at a width of 2 is one that some ranking gives"
        found.claim(what, False, measured=worse, **search.where)
    elif by is VARIANTS[1]:
        found.conclude(Verdict.AMBIGUOUS)
        told += f", where penalised score gives other winners in {len(draws)} draws; both are allowed"
    return f"inside the search beams are ranked {told}", worse


def _mistaken(bench: Bench, found: Findings, search: Search) -> str:
    """Whether a search ranks its beams by something else while searching, by the sets that this gives."""
    fit: list[str] = []
    for mistake in MISTAKEN:
        draws, fitting = by_mistake(bench.seed, mistake), 0
        for draw, wrong in draws:
            beams = search(draw.script, [draw.prompt], draw.width, STEPS, draw.alpha).beams[0]
            fitting += frozenset(beam.tokens for beam in beams) == wrong.sequences
        always = bool(draws) and fitting == len(draws)
        found.claim(
            f"sets that are returned where {mistake} while searching", not always,
            measured=f"{fitting} of {len(draws)}", limit="not all", **search.where,
        )  # fmt: skip
        if always:
            fit.append(f"{mistake} while searching{_as_well(draws)} ({fitting} of {len(draws)} sets)")
    return " or ".join(fit)


def _as_well(draws: Sequence[tuple[Draw, Found]]) -> str:
    """What gives the same sets: a beam that ended early stays the best where length makes others worse."""
    kept = all(
        wrong.sequences
        in sets_of(draw.script.rows, draw.prompt, draw.width, STEPS, draw.alpha, draw.script.eos, ENDED_FIRST)
        for draw, wrong in draws
    )
    return f", or {ENDED_FIRST}" if kept else ""
