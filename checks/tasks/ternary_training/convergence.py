"""Whether the recorded run learned: the loss falls, and perplexity is that of text that was held out."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Skipped
from judge_tui.checks.tasks.ternary_training import curve, heldout
from judge_tui.checks.tasks.ternary_training.believable import below
from judge_tui.checks.tasks.ternary_training.divided import divided
from judge_tui.checks.tasks.ternary_training.figures import BASELINE, Figure, Name, words
from judge_tui.checks.tasks.ternary_training.logs.files import figures
from judge_tui.checks.tasks.ternary_training.loss_unit import powers_of_two_of_nats
from judge_tui.checks.tasks.ternary_training.perplexity import Pair, counts_bits, pairs
from judge_tui.checks.verdict import Curve, Verdict

__all__ = ["convergence"]

#: A fall of less than this share of the first loss is hardly one.
_HARDLY = 0.01
#: Shares of what is held out that may be in the training part as well, and past which it was not held out:
#: common phrases of texts, no index, names of files that may be split within, and what is read off the source
#: and not seen: repeated texts that are cut in two, a part of what is trained on, a figure of it, and two
#: orders of one whole; where those only look like two, that is no proof.
_ALLOWED = {
    "passages": (0.05, 0.5), "entries": (0.0, 0.0), "names": (0.0, 1.0), "repetitions": (0.0, 1.0),
    "variables": (0.0, 1.0), "evaluations": (0.0, 1.0), "orders": (0.0, 0.5), "likely orders": (0.0, 1.0),
}  # fmt: skip
#: What follows from two orders, as a clause.
_ORDERS = {
    "orders": "what is held out is trained on as well",
    "likely orders": "unless those are one order, what is held out is trained on as well",
}
#: Rows without a step may be settings that are compared, unless there are so many.
_UNORDERED = 20
#: Points of a curve that the evidence carries.
_SHOWN = 200

Series = list[Figure]


@check(
    "convergence",
    "recorded training run",
    establishes="The recorded loss falls, perplexity is exp(loss) of held-out text, and no file shows that "
    "text to have been trained on.",
    budget=30,
    version=7,
)
def convergence(bench: Bench, found: Findings) -> str:
    """Read the logs among the submission's files; nothing of it is run."""
    every = figures(bench.submission)
    if not every:
        seen = ", ".join(bench.submission.files[:4])
        raise Skipped(f"no file records a loss or a perplexity: a training log is not among {seen}")
    logs = sorted({figure.file for figure in every})
    told = [
        _decided(found, lambda: _believed(bench, found, every)),
        _decided(found, lambda: _trained(found, every)),
        _decided(found, lambda: _consistent(bench, found, pairs(every))),
        _decided(found, lambda: _held_out(bench, found, logs)),
        _decided(found, lambda: _evaluated(found, every)),
    ]
    wrong = [clause for fine, clause in told if not fine]
    rest = [clause for fine, clause in told if fine and found.verdict is not Verdict.FAIL]
    return "; ".join(clause for clause in (*wrong, *rest) if clause)


def _decided(found: Findings, part: Callable[[], str]) -> tuple[bool, str]:
    """Whether nothing that a part of the check claims failed, and its clause of the summary."""
    before = len(found.evidence)
    clause = part()
    return all(item.ok is not False for item in found.evidence[before:]), clause


def _trained(found: Findings, every: Sequence[Figure]) -> str:
    """The longest training curve that is no baseline decides; the others are evidence."""
    curves = sorted(_curves(every, "train"), key=_rank)
    if not curves:
        curves = sorted(_curves(every, "held-out"), key=_rank)
    if not curves:
        single = [f for f in every if f.name.kind == "loss"]
        found.conclude(Verdict.SKIP)
        found.note("training losses on record", len(single), unit="figures", **_place((single or every)[0]))
        return f"no loss curve is recorded, only {len(every)} single figures"
    for series in curves[1:4]:
        finite = [float(figure.value) for figure in series if math.isfinite(figure.value)]
        if len(finite) >= curve.ENOUGH:
            shape = curve.trend(finite)
            told = f"{shape.first:.4g} to {shape.last:.4g}"
            found.note(f"another curve, {series[0].run}: first to last loss", told)
    held = curves[0][0].name.split == "held-out"
    return _falls(found, curves[0], "held-out loss" if held else "training loss")


def _falls(found: Findings, series: Series, what: str) -> str:
    values = [float(figure.value) for figure in series]
    finite = [value for value in values if math.isfinite(value)]
    shown = _curve(series, what)
    if len(values) < curve.ENOUGH:
        found.conclude(Verdict.SKIP)
        found.note(f"{what}, points on record", len(values), limit=curve.ENOUGH, **_place(series[0]))
        return f"{len(values)} recorded losses are too few for a curve"
    if not math.isfinite(values[-1]) or len(finite) < max(curve.ENOUGH, 0.9 * len(values)):
        first = next(figure for figure in series if not math.isfinite(figure.value))
        found.claim(f"{what} is finite", False, measured=first.value, curve=shown, **_place(first))
        return f"the {what} is {first.value} from {_at(first)} on"
    if len(finite) < len(values):
        first = next(figure for figure in series if not math.isfinite(figure.value))
        found.claim(f"{what} is finite", False, measured=first.value, otherwise=Verdict.WARN, **_place(first))
    shape = curve.trend(finite)
    span = f"{shape.first:.4g} to {shape.last:.4g} over {len(values)} points"
    found.claim(
        f"{what} falls, median of the first against median of the last points",
        shape.falls,
        measured=shape.last,
        limit=shape.first,
        otherwise=Verdict.WARN if shape.may_fall else Verdict.FAIL,
        curve=shown,
        note=f"standard error {shape.error:.2g}; {series[0].file}",
        **_place(series[-1]),
    )
    if not shape.falls and shape.may_fall:
        return f"the {what} goes from {span}, too few to tell a fall from noise"
    if not shape.falls:
        return f"the {what} does not fall: {span}, standard error {shape.error:.2g}"
    if shape.share < _HARDLY:
        found.claim(
            f"{what} falls by over 1 %", False, measured=shape.share, limit=_HARDLY, otherwise=Verdict.WARN,
            **_place(series[-1]),
        )  # fmt: skip
    if shape.lost > 0.5:
        found.claim(
            f"{what}, share of its fall that it lost again", False, measured=shape.lost, limit=0.5,
            otherwise=Verdict.WARN, **_place(series[-1]),
        )  # fmt: skip
        return f"the {what} falls to {shape.best:.4g} and rises again to {shape.last:.4g}"
    return f"the {what} falls from {span}"


def _curves(every: Sequence[Figure], split: str) -> list[Series]:
    """Loss curves, one per file and run, each the last attempt where steps start over."""
    found: dict[tuple[str, str], Series] = defaultdict(list)
    for figure in every:
        own = figure.name.split or "train"
        if figure.name.kind == "loss" and not figure.name.moment and own == split:
            found[figure.run, figure.name.split].append(figure)
    # A curve that says "train" wins over one in the same run that says nothing.
    for run, split_of in list(found):
        if split_of == "" and (run, "train") in found:
            del found[run, split_of]
    ordered = (s for s in found.values() if len(s) >= _UNORDERED or any(f.step is not None for f in s))
    return [_last_attempt(series) for series in ordered]


def _last_attempt(series: Series) -> Series:
    """The curve since training last began anew.

    Steps may also be counted anew in every epoch: then the loss goes on where it was.
    """
    start = 0
    for index, (before, after) in enumerate(itertools.pairwise(series), 1):
        if before.step is not None and after.step is not None and after.step < before.step:
            head, tail = series[start : start + 3], series[max(start, index - 3) : index]
            ahead = _middle(series[index : index + 3])
            if (
                abs(ahead - _middle(head)) < abs(ahead - _middle(tail))
                and len(series) - index >= curve.ENOUGH
            ):
                start = index
    return series[start:]


def _middle(series: Series) -> float:
    return statistics.median(float(figure.value) for figure in series)


def _rank(series: Series) -> tuple[bool, bool, bool, int]:
    """Likeliest first: a curve, of no baseline, in a log and not in prose, the longest."""
    named = words(series[0].run)
    baseline = bool(named & BASELINE) and "ternary" not in named
    prose = PurePosixPath(series[0].file).suffix.lower() in (".md", "")
    return len(series) < curve.ENOUGH, baseline, prose, -len(series)


def _curve(series: Series, what: str) -> Curve:
    every = max(1, len(series) // _SHOWN)
    points = tuple(
        (float(index if figure.step is None else figure.step), float(figure.value))
        for index, figure in enumerate(series)
        if index % every == 0 or index == len(series) - 1
    )
    return Curve("step", what, tuple(sorted(points, key=lambda point: point[0])))


def _evaluated(found: Findings, every: Sequence[Figure]) -> str:
    """Whether anything was measured on held-out text at all, and whether that got better."""
    held = [figure for figure in every if figure.name.split == "held-out" or _file_is_held_out(figure)]
    if not held:
        found.claim(
            "held-out loss or perplexity", False, measured="none recorded", otherwise=Verdict.WARN,
            **_place(every[0]),
        )  # fmt: skip
        return "nothing is recorded on held-out text"
    best = [figure for figure in held if figure.name.kind == "perplexity"] or held
    last = best[-1]
    found.note(f"last held-out {last.name.kind}", float(last.value), note=_at(last), **_place(last))
    for series in sorted(_curves(held, "held-out"), key=_rank)[:1]:
        values = [float(f.value) for f in series if math.isfinite(f.value)]
        if len(values) >= 2:
            better = values[-1] < values[0]
            found.claim(
                "held-out loss, last under first", better, measured=values[-1], limit=values[0],
                otherwise=Verdict.WARN, curve=_curve(series, "held-out loss"), **_place(series[-1]),
            )  # fmt: skip
            if not better:
                return f"the held-out loss does not fall: {values[0]:.4g} to {values[-1]:.4g}"
    return f"held-out {last.name.kind} {float(last.value):.4g}"


def _believed(bench: Bench, found: Findings, every: Sequence[Figure]) -> str:
    """A held-out loss far below what the model reached in training is wrong, whatever made it so."""
    clause = ""
    for run in below(bench.submission, every):
        division = next(divided(bench.submission), None)
        if run.believable and division is None:
            continue
        told = (
            f"a held-out loss of {run.held:.3g} beside a training loss of {run.trained:.3g} is not believable"
        )
        found.claim(
            "training loss over the held-out loss of the same time",
            False,
            measured=run.times,
            otherwise=Verdict.WARN if division is None else Verdict.FAIL,
            note=f"{told}; the training loss is never below {run.least:.3g}",
            **(_place(run.figure) if division is None else {"file": division.file, "line": division.line}),
        )
        if division is not None:
            told += f": the sum {division.name} is divided within the loop that adds to it"
        clause = clause or told
    return clause


def _file_is_held_out(figure: Figure) -> bool:
    return not figure.name.split and Name.of((PurePosixPath(figure.file).stem,)).split == "held-out"


def _consistent(bench: Bench, found: Findings, given: Sequence[Pair]) -> str:
    """Perplexity against exp(loss) wherever both are given of one text; 2^loss only where it counts bits."""
    if not given:
        found.note("perplexity against exp(loss)", "no row gives both")
        return ""
    doubled = [pair for pair in given if pair.bits and pair.off > pair.allowed]
    if doubled and not counts_bits(bench.submission):
        return _of_another_base(found, given, doubled, powers_of_two_of_nats(bench.submission))
    wrong = [pair for pair in given if not pair.agrees]
    held = [pair for pair in wrong if _of_held_out(pair)]
    checked = [pair for pair in given if _of_held_out(pair)]
    worst = max(given, key=lambda pair: pair.off - pair.allowed)
    stated = f"{float(worst.perplexity.value):.6g} beside a loss of {float(worst.loss.value):.6g}"
    wanted = f"exp(loss) is {math.exp(min(worst.loss.value, 700.0)):.6g}"
    fails = len(held) * 2 > len(checked) > 0
    found.claim(
        "perplexity against exp(loss), |log perplexity - loss| at worst",
        not wrong,
        measured=worst.off if wrong else max(pair.off for pair in given),
        limit=worst.allowed,
        otherwise=Verdict.FAIL if fails else Verdict.WARN,
        note=f"{len(wrong)} of {len(given)} pairs disagree; {stated}, {wanted}",
        **_place(worst.perplexity),
    )
    if doubled:
        found.note("unit of the loss", "bits: perplexity is 2 to its power")
    return f"perplexity is not exp(loss): {stated}, {wanted}" if wrong else ""


def _of_another_base(
    found: Findings, given: Sequence[Pair], doubled: Sequence[Pair], shown: tuple[str, int, str] | None
) -> str:
    """A perplexity of 2^loss, where nothing says that the loss counts bits, or the source shows nats."""
    pair = max(doubled, key=lambda pair: pair.off)
    loss, stated = float(pair.loss.value), float(pair.perplexity.value)
    found.claim(
        "perplexity against exp(loss), |log perplexity - loss| at worst",
        False,
        measured=pair.off,
        limit=pair.allowed,
        otherwise=Verdict.FAIL if shown else Verdict.WARN,
        note=f"{len(doubled)} of {len(given)} pairs are 2^loss, as of a loss in bits; no figure's name says "
        "bits, and no file takes a base-2 logarithm",
        **({"file": shown[0], "line": shown[1]} if shown else _place(pair.perplexity)),
    )
    if shown:
        return (
            f"perplexity is 2^loss ({shown[0]}:{shown[1]}), though the loss counts nats ({shown[2]}): "
            f"{stated:.6g} beside {loss:.6g}, whose exponential is {math.exp(min(loss, 700.0)):.6g}"
        )
    return (
        f"perplexity is 2^loss, and nothing says that the loss counts bits: {stated:.6g} beside {loss:.6g}, "
        f"whose exponential is {math.exp(min(loss, 700.0)):.6g}"
    )


def _of_held_out(pair: Pair) -> bool:
    return "held-out" in (pair.loss.name.split, pair.perplexity.name.split) or _file_is_held_out(pair.loss)


def _held_out(bench: Bench, found: Findings, logs: Sequence[str]) -> str:
    """Texts or indices of the split against each other."""
    compared = heldout.overlaps(bench.submission, logs)
    if not compared:
        found.note(
            "held-out text",
            "neither the texts nor the split are among its files",
            note="Texts that a program makes or loads are not seen.",
        )
        return "its files do not show whether held-out text was held out"
    worst = max(compared, key=lambda overlap: overlap.share - _ALLOWED[overlap.unit][0])
    for overlap in compared[:6]:
        most, much = _ALLOWED[overlap.unit]
        fine = overlap.share <= most
        orders = overlap.unit in _ORDERS
        found.claim(
            f"{overlap.held} is cut out of the same order as {overlap.trained}"
            if orders
            else f"{overlap.held} against {overlap.trained}, share of {overlap.unit} in both",
            fine,
            measured="of two orders" if orders else overlap.share,
            limit="of one" if orders else most,
            otherwise=Verdict.FAIL if overlap.share > much else Verdict.WARN,
            file=overlap.file,
            line=overlap.line,
            note=(overlap.example if orders else f"for example: {overlap.example}")
            if overlap.example and not fine
            else "",
        )
    if worst.unit in _ORDERS:
        return f"{worst.example}: {_ORDERS[worst.unit]}"
    if worst.unit == "repetitions":
        return f"{worst.held} is held out of {worst.trained}"
    if worst.unit == "variables":
        return f"{worst.held} is a part of {worst.trained}, which is trained on: it was not held out"
    if worst.unit == "evaluations":
        return f"{worst.held} is measured on {worst.trained}, which is trained on: that is no held-out text"
    if worst.share > _ALLOWED[worst.unit][0]:
        return f"{worst.share:.0%} of the {worst.unit} of {worst.held} are in {worst.trained} as well"
    return f"{worst.held} was held out of {worst.trained}"


def _place(figure: Figure) -> dict[str, Any]:
    return {"file": figure.file, "line": figure.line}


def _at(figure: Figure) -> str:
    return f"step {figure.step:g}" if figure.step is not None else f"{figure.file}:{figure.line}"
