"""Small vocabularies, no room, everything ended: inputs at the contract's border."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Fault, Raised
from judge_tui.checks.tasks.beam_search.oracle import beam_search
from judge_tui.checks.tasks.beam_search.parents import misread
from judge_tui.checks.tasks.beam_search.scripts import (
    Script,
    Tokens,
    barred,
    certain,
    distinct,
    hashed,
    stated,
    table,
)
from judge_tui.checks.tasks.beam_search.searching import NARROW, Answer, Scores, Search, written
from judge_tui.checks.verdict import Verdict

__all__ = ["edge_cases"]

_ENDS = "first and last token behind every beam"
_NOTHING, _RUN_OUT = "max_new_tokens = 0", "fewer possible beams than before"
_CERTAIN = "a first token that is certain"
_REFUSAL = re.compile(
    r"raised (Value|Assertion)Error: .*(tokens|steps|length|positive|at least|[>≥]=? ?[01])", re.I
)
#: By how much one of two beams is less likely where they do not tie.
_APART = 0.01
#: Returns what is wrong, or nothing.
Case = Callable[[Bench, Search], str]


@check(
    "edge_cases",
    "borders",
    establishes="V < 2K, a vocabulary of two, all mass on EOS, max_new_tokens of 0 and 1, everything "
    "ended early, eos_token_id 0, EOS within a prompt, impossible tokens and beams, a certain token, "
    "tied scores, sums near -800, and at many V the first and the last token behind every beam are answered, "
    "and answered right.",
    roles=("search",),
    version=15,
)
def edge_cases(bench: Bench, found: Findings) -> str:
    """Try each border on its own, so that one that raises does not hide the others."""
    search = Search(bench)
    bad: list[str] = []
    refused = ""
    for name, case in _CASES.items():
        where, clear = dict[str, Any](search.where), False
        try:
            wrong = case(bench, search)
        except Fault as fault:
            wrong = fault.message
            if isinstance(fault, Raised) and fault.file and fault.line:
                where = {"file": fault.file, "line": fault.line, "output": fault.output}
            # Nothing to do may be refused in so many words: that is no crash, and no wrong answer.
            clear = name == _NOTHING and _REFUSAL.search(wrong) is not None
            # The logarithm of no probability may be one that raises.
            clear = clear or (name in (_RUN_OUT, _CERTAIN) and isinstance(fault, Raised))
        found.claim(
            name, not wrong, measured=wrong or "right", limit="right",
            otherwise=Verdict.WARN if clear else Verdict.FAIL, **where,
        )  # fmt: skip
        if clear:
            refused = f"{name} is refused ({wrong})" if name == _NOTHING else f"{name}: {wrong}"
        elif wrong:
            bad.append(f"{name}: {wrong}")
    short = _fewer(bench, search)
    found.claim(
        "K beams are returned where K exist", not short, measured=short or "K", limit="K",
        otherwise=Verdict.WARN, **search.where,
    )  # fmt: skip
    try:
        ended = _around_eos(bench, search, "last", (False, False, True))
    except Fault as fault:
        ended = fault.message
    found.claim(
        "a prompt that ends with EOS is continued", not ended, measured=ended or "yes", limit="yes",
        note="To call such a prompt finished can be meant.", otherwise=Verdict.WARN, **search.where,
    )  # fmt: skip
    _outside(bench, found, search)
    if bad:
        # As what a token or its parent is read tells more than which sequences that gives elsewhere.
        first = next((told for told in bad if told.startswith(_ENDS) and " is read as " in told), bad[0])
        return f"{len(bad)} of {len(_CASES)} borders: {first}"
    odd = short or refused or (ended and f"a prompt that ends with EOS is not continued ({ended})")
    right = len(_CASES) - bool(refused)
    return f"{right} of {len(_CASES)} borders are right" + (f", but {odd}" if odd else "")


def _small(rng: np.random.Generator, vocab: int, bias: float = 0.0) -> tuple[Script, Tokens]:
    eos = int(rng.integers(vocab))
    return hashed(rng, vocab, eos, bias=bias), tuple(distinct(rng, vocab, vocab - 1, but=(eos,)))


def _few_tokens(bench: Bench, search: Search) -> str:
    """V below 2K: 3 below 8, and others."""
    for draw in range(6):
        vocab, width = (3, 4) if draw < 2 else bench.sizes("few", draw).shape((3, 7), (4, 9))
        script, prompt = _small(bench.rng("few", draw), vocab)
        if wrong := _all(search, search(script, [prompt], width, 3, 0.0), 3):
            return f"V = {vocab}, K = {width}: {wrong}"
    return ""


def _two_tokens(bench: Bench, search: Search) -> str:
    for width in (1, 2, 5):
        script, prompt = _small(bench.rng("two", width), 2)
        if wrong := _all(search, search(script, [prompt], width, 3, 0.0), 3):
            return f"K = {width}: {wrong}"
    return ""


def _all_eos(bench: Bench, search: Search) -> str:
    """EOS has all but 1e-6 of the mass wherever a sequence stands."""
    for draw, vocabs in enumerate(((3, 6), (30, 90))):
        rng, vocab = bench.rng("all", draw), bench.sizes("all", draw).between(*vocabs)
        eos = int(rng.integers(vocab))
        script = table(rng, vocab, eos, {(): {eos: math.log1p(-1e-6)}}, default={eos: math.log1p(-1e-6)})
        prompt = tuple(distinct(rng, vocab, 2, but=(eos,)))
        for width in (1, 3):
            if wrong := _all(search, search(script, [prompt], width, 4, 0.0), 4):
                return f"V = {vocab}, K = {width}: {wrong}"
    return ""


def _no_room(bench: Bench, search: Search) -> str:
    """max_new_tokens = 0: no beams, or one that is empty; its score is the submission's choice."""
    script, prompt = _small(bench.rng("none"), bench.sizes("none").between(5, 14))
    for prompts in ([prompt], [prompt, prompt[:2]]):
        for group in search(script, prompts, 3, 0, 0.6).beams:
            tokens = [beam.tokens for beam in group if beam.tokens not in ((), (script.eos,))]
            if tokens:
                return f"{written(tokens[0], script.eos)} was generated"
    return ""


def _one_step(bench: Bench, search: Search) -> str:
    """max_new_tokens = 1: the K likeliest tokens."""
    for draw, widths in enumerate(((1, 1), (2, 4), (4, 7))):
        rng, (width, vocab) = bench.rng("one", draw), bench.sizes("one", draw).shape(widths, (12, 40))
        script, prompt = _small(rng, vocab, 1.0)
        answer = search(script, [prompt[:5]], width, 1, 0.0)
        truth = beam_search(script.rows, prompt[:5], width, 1, 0.0, script.eos)
        returned = {beam.tokens for beam in answer.beams[0]}
        if truth.margin > 1e-3 and returned != truth.sequences:
            lost = next(iter(truth.sequences - returned), None)
            told = written(lost or next(iter(returned - truth.sequences)), script.eos)
            return f"K = {width}: {told} is {'missing' if lost else 'returned'}"
    return ""


def _ended_early(bench: Bench, search: Search) -> str:
    """All K beams end at steps 1 and 2 of more; in a batch, beside a prompt that goes on."""
    return next(filter(None, (_beside_one_that_goes_on(bench, search, draw) for draw in range(4))), "")


def _beside_one_that_goes_on(bench: Bench, search: Search, draw: int) -> str:
    rng = bench.rng("ended", draw)
    vocab, steps = bench.sizes("ended", draw).shape((40, 90), (5, 10))
    eos, c, d, *rest = distinct(rng, vocab, 7)
    one, other = (rest[0], rest[1]), (rest[2],)
    ends = {eos: math.log(0.98)}
    entries: dict[Tokens, dict[int, float]] = {one: {eos: -1.0, c: -0.8}, (*one, c): ends, other: {d: -0.1}}
    for step in range(1, steps):
        entries[*other, *[d] * step] = {d: -0.1}
    script = table(rng, vocab, eos, entries)
    for width in (2, 3):
        answer = search(script, [one, other, one], width, steps, 0.0)
        for number in range(3):
            if wrong := _best(answer, steps, width, number):
                return f"K = {width}, prompt {number}: {wrong}"
    return ""


def _eos_zero(bench: Bench, search: Search) -> str:
    """EOS with id 0, which is false."""
    rng, vocab = bench.rng("zero"), bench.sizes("zero").between(30, 60)
    c, *prompt = distinct(rng, vocab, 4, but=(0,))
    key = tuple(prompt)
    script = table(rng, vocab, 0, {key: {0: -0.7, c: -1.2}, (*key, c): {c: -0.3}, (*key, 0): {c: -0.01}})
    for width in (1, 2):
        if wrong := _best(search(script, [key], width, 3, 0.0), 3, width):
            return f"K = {width}: {wrong}"
    return ""


def _eos_in_prompt(bench: Bench, search: Search) -> str:
    """EOS at the head of a prompt, or between two texts: a beam ends by what it generates."""
    return _around_eos(bench, search, "first", (True, False, False)) or _around_eos(
        bench, search, "between", (False, True, False)
    )


def _around_eos(bench: Bench, search: Search, name: str, places: Sequence[bool]) -> str:
    """What is wrong with the answer to a prompt that has EOS in some places."""
    rng, vocab = bench.rng("within", name), bench.sizes("within", name).between(30, 60)
    eos, c, d, *rest = distinct(rng, vocab, 6)
    prompt = tuple(eos if place else token for place, token in zip(places, rest, strict=True))
    entries: dict[Tokens, dict[int, float]] = {
        prompt: {c: -0.3, d: -2.0},
        (*prompt, c): {d: -0.4},
        (*prompt, c, d): {eos: -0.2},
    }
    script = table(rng, vocab, eos, entries)
    for width in (1, 2):
        if wrong := _best(search(script, [prompt], width, 5, 0.0), 5, width):
            return f"EOS {name}, K = {width}: {wrong}"
    return ""


def _ties(bench: Bench, search: Search) -> str:
    """All tokens tie exactly: any choice is right, but it must be the same one in every run and process."""
    rng, vocab = bench.rng("ties"), bench.sizes("ties").between(6, 12)
    eos = int(rng.integers(vocab))
    script = hashed(rng, vocab, eos, scale=0.0)
    prompt = tuple(distinct(rng, vocab, 2, but=(eos,)))
    first, again = (search(script, [prompt], 3, 3, 0.0) for _ in range(2))
    with bench.fresh() as worker:
        elsewhere = search(script, [prompt], 3, 3, 0.0, worker=worker)
    runs = [[beam.tokens for beam in answer.beams[0]] for answer in (first, again, elsewhere)]
    if runs[0] != runs[1]:
        return "a second run chooses other beams"
    if runs[0] != runs[2]:
        return "another process chooses other beams"
    for beam in first.beams[0]:
        off = 0.0 if beam.score is None else abs(beam.score - first.truth(beam))
        if not off <= NARROW:
            return f"{written(beam.tokens, eos)} has {beam.score:.6g} instead of {first.truth(beam):.6g}"
    return next(filter(None, (_tied_pair(bench, search, draw) for draw in range(4))), "")


def _tied_pair(bench: Bench, search: Search, draw: int) -> str:
    """Two beams tie, and one of them goes on to the best: at K = 2 there is room for both."""
    wrong = _paired(bench, search, draw, 0.0)
    if not wrong:
        return ""
    apart = "" if _paired(bench, search, draw, _APART) else (
        f", though both are kept where one is {_APART:g} less likely: different beams of one score are taken "
        "for one, or pushed out by each other"
    )  # fmt: skip
    return f"two beams with one score, K = 2: {wrong}{apart}"


def _paired(bench: Bench, search: Search, draw: int, apart: float) -> str:
    """What is wrong where the better of two beams is at first so much less likely."""
    rng, vocab = bench.rng("pair", draw), bench.sizes("pair", draw).between(30, 90)
    eos, a, b, c, *rest = distinct(rng, vocab, 6)
    prompt, better = tuple(rest), (a, b)[draw % 2]
    first = {a: math.log(0.45), b: math.log(0.45)}
    first[better] -= apart
    on, worse = {c: math.log(0.9)}, {c: math.log(0.5)}
    script = table(rng, vocab, eos, {
        prompt: first, (*prompt, a): on if better == a else worse, (*prompt, b): on if better == b else worse,
    })  # fmt: skip
    return _best(search(script, [prompt], 2, 2, 0.0), 2, 2)


def _impossible(bench: Bench, search: Search) -> str:
    """Tokens of log-probability -inf beside more than enough others."""
    for draw, width in enumerate((1, 2, 3)):
        rng, vocab = bench.rng("impossible", draw), bench.sizes("impossible", draw).between(20, 60)
        eos = int(rng.integers(vocab))
        prompt = tuple(distinct(rng, vocab, 3, but=(eos,)))
        script = barred(rng, vocab, eos, prompt)
        if wrong := _all(search, search(script, [prompt], width, 3, 0.0), 3):
            return f"K = {width}: {wrong}"
    return ""


def _far_below(bench: Bench, search: Search) -> str:
    """A sum past what exp can tell from 0, of log-probabilities that it can: as exact as any other."""
    for draw in range(2):
        rng = bench.rng("far below", draw)
        a, b, eos = distinct(rng, 3, 3)
        one, other, last = (-400.0 - float(rng.uniform(0.0, 9.0)) for _ in range(3))
        script = stated(3, eos, {
            (a,): {a: 0.0, b: one, eos: -700.0}, (a, a): {a: 0.0, b: other, eos: -690.0},
            (a, b): {a: 0.0, b: last, eos: -650.0},
        }, {a: 0.0, b: -400.0, eos: -600.0})  # fmt: skip
        answer = search(script, [(a,)], 6, 2, 0.0)
        lost = [beam for beam in answer.beams[0] if beam.score == -math.inf]
        if lost and all(answer.truth(beam) > -math.inf for beam in lost):
            told = f"{written(lost[0].tokens, eos)} of {answer.truth(lost[0]):.0f} has a score of -inf"
            return f"{told}, as where probabilities are multiplied: exp of it is 0"
        if wrong := _all(search, answer, 2):
            return wrong
    return ""


def _certain_first(bench: Bench, search: Search) -> str:
    """One first token has all of the probability, a sum of 0; behind it every token is possible."""
    for draw in range(4):
        rng, vocab = bench.rng("first", draw), bench.sizes("first", draw).between(8, 40)
        eos, a, *rest = distinct(rng, vocab, 6)
        prompt, other = tuple(rest), tuple(rest[:2])
        behind, beside, elsewhere = (_spread(rng, vocab) for _ in range(3))
        script = certain(vocab, eos, {prompt: {a: 1.0}, (*prompt, a): behind, other: beside}, elsewhere)
        for width in (2, 3):
            prompts = [prompt, other] if draw % 2 else [prompt]
            for steps in (1, 3):
                answer = search(script, prompts, width, steps, 0.0)
                if wrong := _all(search, _without_fillers(answer), steps):
                    return f"K = {width}: {wrong}"
    return ""


def _spread(rng: np.random.Generator, vocab: int) -> dict[int, float]:
    """Probabilities of all tokens, none of which is tiny."""
    return dict(enumerate(0.9 * rng.dirichlet(np.ones(vocab)) + 0.1 / vocab))


def _beams_run_out(bench: Bench, search: Search) -> str:
    """Fewer and fewer beams can go on: EOS is certain behind one, or behind all."""
    for draw in range(6):
        rng, vocab = bench.rng("run out", draw), bench.sizes("run out", draw).between(8, 40)
        eos, a, b, c, d, *prompt = distinct(rng, vocab, 7)
        first = {a: 0.6, b: 0.4} if draw % 3 else {eos: 1.0}
        entries: dict[Tokens, dict[int, float]] = {tuple(prompt): first}
        if draw % 3 == 2:
            entries[*prompt, b] = {c: 0.7, d: 0.3}
        script = certain(vocab, eos, entries, {eos: 1.0})
        for width in (2, 3):
            answer = search(script, [tuple(prompt)], width, 4, 0.0)
            if wrong := _all(search, _without_fillers(answer), 4):
                return f"K = {width}: {wrong}"
    return ""


def _without_fillers(answer: Answer) -> Answer:
    """An answer without impossible beams that say so: they may fill the list."""
    beams = [beam for beam in answer.beams[0] if answer.truth(beam) > -math.inf or _finite(beam.score)]
    return replace(answer, beams=[beams, *answer.beams[1:]])


def _finite(score: float | None) -> bool:
    return score is not None and math.isfinite(score)


_CASES: dict[str, Case] = {
    "V < 2K": _few_tokens,
    "V = 2": _two_tokens,
    "all mass on EOS": _all_eos,
    _NOTHING: _no_room,
    "max_new_tokens = 1": _one_step,
    "all beams ended early": _ended_early,
    "eos_token_id = 0": _eos_zero,
    "EOS within a prompt": _eos_in_prompt,
    "log-probabilities of -inf": _impossible,
    _CERTAIN: _certain_first,
    _RUN_OUT: _beams_run_out,
    "exact ties": _ties,
    "sums near -800": _far_below,
    _ENDS: misread,
}


def _all(search: Search, answer: Answer, steps: int) -> str:
    """What is wrong with the best beam of a prompt at alpha 0, or with any that fills the list up to K."""
    scores = Scores(search)
    scores.add(answer)
    if scores.unnumbered:
        return scores.unnumbered[0]
    if wrong := _best(answer, steps, answer.width):
        return wrong
    if len(answer.beams[0]) > answer.width:
        return f"{len(answer.beams[0])} beams are returned"
    if scores.repeated or scores.resumed:
        how = "is returned twice" if scores.repeated else "goes on after EOS"
        return f"{(scores.repeated or scores.resumed)[0]} {how}"
    return scores.worst if scores.error > NARROW else ""


def _best(answer: Answer, steps: int, width: int, number: int = 0) -> str:
    """What is wrong with the best beam of a prompt, at alpha 0."""
    script, prompt = answer.script, answer.prompts[number]
    winner = answer.winner(number)
    if winner is None:
        return "no beam is returned"
    if not winner.tokens:
        return "an empty sequence is returned as the best"
    truth = beam_search(script.rows, prompt, width, steps, 0.0, script.eos).best
    told = written(winner.tokens, script.eos)
    if answer.truth(winner, number) < truth.logprob - 1e-9 or script.eos in winner.tokens[:-1]:
        return f"{told} is returned as the best instead of {written(truth.tokens, script.eos)}"
    if winner.tokens[-1] != script.eos and len(winner.tokens) < steps:
        return f"{told} stops before it ends"
    return ""


def _fewer(bench: Bench, search: Search) -> str:
    """Fewer beams than asked for, on a model where a right search of any kind has K."""
    rng, vocab = bench.rng("fewer"), bench.sizes("fewer").between(24, 60)
    eos = int(rng.integers(vocab))
    script = hashed(rng, vocab, eos, bias=-6.0)
    prompt = tuple(distinct(rng, vocab, 3, but=(eos,)))
    count = len(search(script, [prompt], 3, 4, 0.0).beams[0])
    return "" if count == 3 else f"{count} beams are returned for K = 3"


def _outside(bench: Bench, found: Findings, search: Search) -> None:
    """Inputs outside the contract: told, never held against it."""
    rng = bench.rng("outside")
    script = hashed(rng, 9, int(rng.integers(9)))
    for name, prompts in (("no prompts", []), ("an empty prompt", [()])):
        try:
            groups = search(script, prompts, 2, 3, 0.0).beams
            told = f"answers with {sum(map(len, groups))} beams"
        except Fault as fault:
            told = fault.message
        found.note(name, told, note="Outside the contract.")
