"""dQ, dK, dV: against the analytic truth, and against differences of the submission's own forward."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.own_sizes import OwnSizes
from judge_tui.checks.sizes import Sizes
from judge_tui.checks.strides import HOWS, mixed
from judge_tui.checks.tasks.backwards.source import place
from judge_tui.checks.tasks.flash_attention.cases import (
    AXES,
    MOST_ABOUT,
    Shape,
    about,
    cuts,
    heads,
    laid_out,
    scores,
    swept,
)
from judge_tui.checks.tasks.flash_attention_bwd.causing import Causes, causes_of
from judge_tui.checks.tasks.flash_attention_bwd.differenced import against_own_forward
from judge_tui.checks.tasks.flash_attention_bwd.extremes import extremes
from judge_tui.checks.tasks.flash_attention_bwd.held import Figure, Ledger, told
from judge_tui.checks.tasks.flash_attention_bwd.mistakes import causes as explained
from judge_tui.checks.tasks.flash_attention_bwd.narrowed import COMPARED
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import NAMES, Gradients, Problem, posed
from judge_tui.checks.tasks.flash_attention_bwd.reference import gradients as analytic
from judge_tui.checks.tasks.flash_attention_bwd.unequal import unequal
from judge_tui.checks.unanswered import Unanswered
from judge_tui.checks.verdict import Verdict

__all__ = ["gradients", "places"]

#: Share of calls that are wrong where gradients are right for a forward that is wrong itself.
_MOSTLY = 0.7
#: Rows up to which a mistake is looked for by what it would give.
_EXPLAINED = 200


@check(
    "gradients",
    "dQ, dK, dV",
    establishes="The gradients equal the analytic ones over uneven tiles, backward tiles of another size, "
    "heads and batches, causal and not, and the differences of the submission's own forward, if it has one.",
    roles=("forward", "backward"),
    spared=("forward",),
    version=18,
)
def gradients(bench: Bench, found: Findings) -> str:
    """Hold every row of every gradient against the truth, and all against differences of its own forward."""
    attention = Attention(bench, alone=True)
    double, single, calls = Ledger(), Ledger(), Unanswered(compared=COMPARED)
    told_by_call: dict[str, list[tuple[str, ...]]] = {name: [] for name in NAMES}
    problems, own_sizes = list(_problems(bench, attention)), OwnSizes(bench, AXES, MOST_ABOUT)
    # The order is drawn too, so that no position is special.
    for index in bench.rng("order of calls").permutation(len(problems)):
        problem = problems[index]
        pace = own_sizes.pace(scores(problem.case.q.shape))
        with calls.trying(problem.sizes), pace, bench.answers.one() as answer:
            made = attention(problem)
            figures = (double if problem.double else single).hold(problem, made)
            answer.fine = all(figure.verdict is not Verdict.FAIL for figure in figures)
            _explain(told_by_call, made, problem, figures)
    calls.needed(double.figures["dV"], single.figures["dV"])
    count = len(problems)
    with calls.beside():
        count += _replayed(bench, attention, double)
    _about_own_integers(bench, attention, own_sizes, double, calls)
    why = causes_of(bench, attention, double, single, told_by_call)
    where = places(bench, why.causes)
    text = "relative error per row against the analytic gradient"
    double.decide(found, f"{text}, float64 input", where=where)
    single.decide(found, f"{text}, float32 input", where=where)
    own_sizes.tell(found)
    _told_apart(attention, found)
    own = tiles = ""
    with calls.beside():
        own = _own_forward(bench, attention, found, where)
        tiles = unequal(bench, attention, found, where)
    speaks = found.wrong is not None and found.wrong.quantity.endswith(" key tiles")
    text = tiles if speaks else _summary(found, double, single, count, own, where, why)
    text = calls.tell(found, text)
    order = ", ".join(attention.reordered)
    return f"gives ({order}) for the contract's (dQ, dK, dV); so read, {text}" if order else text


def _own_forward(
    bench: Bench, attention: Attention, found: Findings, where: Mapping[str, Mapping[str, Any]]
) -> str:
    """What its own forward says of the gradients, as a clause."""
    if attention.stated is None:
        own = against_own_forward(bench, attention, found, where)
        return f"{own:.1e} off differences of its own forward"
    written = f"L as {attention.stated.written}" if attention.binding.takes("L") else "L is not asked for"
    found.note("O and L", "the judge's own", note=f"No forward was found; {written}.", **attention.place)
    return "no forward was found: O and L were the judge's own"


def _of_its_own(found: Findings, double: Ledger, worst: Figure) -> str:
    """Whether what is wrong on nearly every call is right for its own forward, which is to blame then."""
    mine = [item.ok for item in found.evidence if "own forward" in item.quantity]
    figures = double.figures[worst.name]
    often = sum(figure.verdict is Verdict.FAIL for figure in figures) >= _MOSTLY * len(figures)
    right = bool(mine) and all(mine) and often
    return "it is the gradient of its own forward, which is wrong" if right else ""


def places(bench: Bench, why: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Where each gradient is computed, with what is known of its mistake, as evidence takes it."""
    found = {}
    for name in NAMES:
        file, line = place(bench, "backward", name)
        found[name] = {"file": file, "line": line, "note": why.get(name, "")}
    return found


def _problems(bench: Bench, attention: Attention) -> Iterator[Problem]:
    for causal in attention.causal:
        for index, (shape, tile, back, name) in enumerate(_cuts(bench.sizes("cuts", causal))):
            rng = bench.rng(index, causal)
            yield posed(rng, shape, tile, causal, back=back, name=name)
            if index % 2:
                rng = bench.rng(index, causal, "single")
                yield posed(rng, shape, tile, causal, back=back, dtype=np.float32, name=name)
        rng = bench.rng("large", causal)
        yield posed(rng, (1, 2, 26, 8), 8, causal, back=6, spread=30.0, name="scores times 30")
        yield from extremes(bench, causal)
        for turn in range(3):
            yield _strided(bench, turn, causal)
        rng = bench.rng("small", causal)
        faint = posed(rng, (2, 1, 10, 4), 4, causal, name="one batch entry with dO of 1e-6")
        faint.d_out[1] *= 1e-6
        yield faint
    for index, (shape, tile, back, spread) in enumerate(swept()):
        rng, causal = bench.rng("swept", index), attention.causal[index % len(attention.causal)]
        yield posed(rng, shape, tile, causal, back=back, spread=spread, name="every small size")


def _strided(bench: Bench, turn: int, causal: bool) -> Problem:
    """Q, K, V and dO in four orders of memory: an array is its values, whatever its strides."""
    sizes = bench.sizes("strided", turn, causal)
    shape, tile = (2, *heads(sizes, (5, 30), (2, 12))[1:]), sizes.between(2, 9)
    problem = posed(bench.rng("strided", turn, causal), shape, tile, causal, back=sizes.between(2, 9))
    (d_out,) = mixed(turn + 3, problem.d_out)
    case = laid_out(problem.case, turn)
    name = f"{case.name}, dO {HOWS[(turn + 3) % len(HOWS)]}"
    return replace(problem, case=replace(case, name=name), d_out=d_out)


def _cuts(sizes: Sizes) -> Iterator[tuple[Shape, int, int, str]]:
    """Those of the forward, each with tiles of the backward of another size."""
    for shape, tile, name in cuts(sizes):
        back = sizes.between(max(1, shape[2] // 12), shape[2] + 3)
        yield shape, tile, tile if name == "large T" else back, name
    width = sizes.between(3, 12)
    yield heads(sizes, width, width), sizes.between(1, width), sizes.between(1, width), "N = D"
    yield (1, 1, 1, 1), 1, 1, "N = D = T = 1"


def _about_own_integers(
    bench: Bench, attention: Attention, own: OwnSizes, ledger: Ledger, calls: Unanswered
) -> None:
    """Sizes about which its source may take another path."""
    for one, shape, tile in about(own, bench.sizes("about", "others")):
        causal, rng = attention.causal[0], bench.rng("about", str(one))
        problem = posed(rng, shape, tile, causal, back=tile, spread=2.0, name=str(one))
        trying = own.trying(one, scores(shape))
        with calls.trying(problem.sizes), trying, bench.answers.one() as answer:
            figures = ledger.hold(problem, attention(problem))
            answer.fine = all(figure.verdict is not Verdict.FAIL for figure in figures)


def _explain(
    why: dict[str, list[tuple[str, ...]]], made: Gradients, problem: Problem, figures: list[Figure]
) -> None:
    # One tile, one row or one number cannot tell mistakes apart; what cancels is no mistake.
    length, width = problem.case.q.shape[2:]
    wrong = {figure.name for figure in figures if figure.verdict is Verdict.FAIL}
    if wrong and problem.double and min(length, width) > 3 and problem.tile < length < _EXPLAINED:
        for name, texts in explained(made, analytic(problem), problem).items():
            if name in wrong:
                why[name].append(texts)


def _replayed(bench: Bench, attention: Attention, ledger: Ledger) -> int:
    """Two draws of one shape in one process and a third in another, where replayed answers show."""
    sizes = bench.sizes("replay")
    shape, tile = heads(sizes, (2, 16), (2, 12)), sizes.between(2, 6)
    first, second, third = (
        posed(bench.rng("replay", i), shape, tile, attention.causal[0], name=f"draw {i + 1} of one shape")
        for i in range(3)
    )
    # Both forwards before either backward: a cache that is not its own shows.
    runs = [attention.run(problem) for problem in (first, second)]
    if not _kept_apart(attention):
        runs = runs[1:]
    for run in runs:
        ledger.hold(run.problem, attention.backward(run))
    with bench.fresh() as worker:
        for file in attention.files:
            worker.load(file)
        ledger.hold(third, attention(third, worker=worker))
    return len(runs) + 1


def _kept_apart(attention: Attention) -> bool:
    """Whether the forward's state reaches the backward through something that a call gave."""
    return bool(attention.carrier)


def _told_apart(attention: Attention, found: Findings) -> None:
    """What was settled by trying, and settings that it cannot be told."""
    place = attention.place
    if attention.reordered:
        order = ", ".join(attention.reordered)
        found.claim("the gradients come as (dQ, dK, dV)", False, measured=f"({order})",
                    otherwise=Verdict.WARN, **place)  # fmt: skip
    if not (attention.binding.takes("tile_size") or attention.binding.takes("tile_k")):
        found.note("its backward takes a tile size", "no", note="The forward's, or its own, were used.")
    if not attention.switch:
        kind = "causal" if attention.causal == (True,) else "full"
        found.note("can be told whether to mask", "no", note=f"Only {kind} attention was differentiated.")


def _summary(
    found: Findings,
    double: Ledger,
    single: Ledger,
    count: int,
    own: str,
    where: Mapping[str, Mapping[str, Any]],
    causes: Causes,
) -> str:
    lower, narrow, worst = causes.lower, single.worst(), causes.worst(double)
    beyond = narrow.badness > double.worst().badness and narrow.verdict is not Verdict.PASS
    if beyond and not (causes.known and worst.verdict is Verdict.FAIL):
        worst = narrow
    why = str(where[worst.name].get("note", "")) if worst.verdict is Verdict.FAIL else ""
    why = why or _of_its_own(found, double, worst)
    if worst.verdict is Verdict.FAIL:
        what = f"{worst.error:.2g} off the analytic gradient"
        what = what if worst.error == worst.error else "NaN or infinite where the gradient is not"
        if lower is not None:
            return f"{lower.text}; {worst.name} is at worst {what} (limit {worst.most:.1g}): {told(worst)}"
        return f"{worst.name} is {what} (limit {worst.most:.1g}): {why or told(worst)}"
    if found.verdict is Verdict.FAIL:
        wrong = next(item for item in found.evidence if item.ok is False and "own forward" in item.quantity)
        return f"right by the formula, but not of its own forward: {wrong.quantity} is {wrong.measured}"
    if worst.verdict is Verdict.WARN:
        kind = "float64" if worst.problem.double else "float32"
        return (
            f"{worst.name} is {worst.error:.1e} off on {kind} input, where {kind} arithmetic reaches "
            f"{worst.own:.1e}; within {worst.most:.1e}{f'; {lower.text}' if lower is not None else ''}"
        )
    return (
        f"{worst.name} {worst.error:.1e} off the analytic gradient, worst row of {count} calls "
        f"(limit {worst.own:.1e}); {own}"
    )
