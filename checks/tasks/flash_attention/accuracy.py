"""Whether O is attention: every head, every tile size, causal and not, in the dtype that came in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Raised
from judge_tui.checks.own_sizes import OwnSizes
from judge_tui.checks.tasks.flash_attention.beside import own_key_tile, returned_l
from judge_tui.checks.tasks.flash_attention.cases import (
    AXES,
    MOST_ABOUT,
    Case,
    about,
    cuts,
    drawn,
    heads,
    laid_out,
    scores,
    swept,
)
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.lowered import of_lower_precision
from judge_tui.checks.tasks.flash_attention.naming import named, outweighed
from judge_tui.checks.tasks.flash_attention.narrow import narrow_accuracy
from judge_tui.checks.tasks.flash_attention.own_tiles import own_tiles, takes_both
from judge_tui.checks.tasks.flash_attention.rows import COMPARED, STATED, Held, Rows
from judge_tui.checks.tasks.flash_attention.weighing import mistake
from judge_tui.checks.tasks.flash_attention.weights import readings
from judge_tui.checks.unanswered import Unanswered
from judge_tui.checks.verdict import Verdict

__all__ = ["accuracy"]

#: Scores below finite numbers that stand in for -inf in published code: -1e4 and -5e4, which scores reach.
_BELOW = (-2e4, -7e4)
#: And below -1e9, which they do not: a stand-in that is outweighed there is told.
_FAR_BELOW = -4e9
#: Tiles that eight bits number; the share of the time left that a sixteenth of all pairs of them may take.
_MOST_TILES, _SHARE = 256, 0.015
#: Batch entries and heads, so that orders of memory differ.
_SEVERAL = (2, 3)
#: How much further a hidden key scores than the one before it: what is added to hide it is outweighed then.
_RISES = (64.0, 32768.0)
_UNREAD = "Its mask gives causal attention neither as 0 and -inf nor as booleans, (N, N) or (1, 1, N, N)."


@check(
    "accuracy",
    "equals softmax attention",
    establishes="O equals softmax(QKᵀ/√D)V row by row for every head, uneven tiles, T > N, T = 1, causal and "
    "not, in float64 and float32.",
    roles=("forward",),
    version=23,
)
def accuracy(bench: Bench, found: Findings) -> str:
    """Hold every row of fresh draws against the float64 reference."""
    forward = Forward(bench)
    double, single, calls = Rows(), Rows(), Unanswered(compared=COMPARED)
    cases, own = list(_cases(bench, forward)), OwnSizes(bench, AXES, MOST_ABOUT)
    # The order is drawn too, so that no position is special.
    for index in bench.rng("order").permutation(len(cases)):
        case = cases[index]
        with calls.trying(case.sizes), own.pace(scores(case.q.shape)), bench.answers.one() as answer:
            rows = double if case.q.dtype == np.float64 else single
            answer.fine = rows.hold(case, forward(case)).verdict is not Verdict.FAIL
    calls.needed(double.held, single.held)
    with calls.beside():
        _replayed(bench, forward, double)
    _about_own_integers(bench, forward, own, double, calls)
    wide = double.decide(found, "O on float64 input", **_at(forward, double))
    narrow = single.decide(found, "O on float32 input", **_at(forward, single))
    own.tell(found)
    _told_how(forward, found)
    outweighed = beside = odd = many = ""
    with calls.beside():
        outweighed = _far_below(bench, forward, found) if wide.verdict is Verdict.PASS else ""
        beside = "" if wide.verdict is Verdict.FAIL else _beside(bench, forward, found)
        odd = _unequal(bench, forward, found)
        many = _many_tiles(bench, forward, found) if wide.verdict is Verdict.PASS else ""
        if bench.place.gpu:
            narrow_accuracy(bench, found, forward)
    if not forward.tiled:
        found.note("takes a tile size", "no", note="Its own tiles were used.")
    text = _summary(forward, double, wide, narrow, len(cases) + 3)
    lower = None if wide.verdict is Verdict.PASS else of_lower_precision(forward, double)
    if lower is not None and wide.verdict is found.verdict:
        text = f"{lower.text}; {text}" if wide.verdict is Verdict.FAIL else f"{text}; {lower.text}"
    if beside:
        text = f"{beside}; otherwise {text}"
    elif odd and found.wrong is not None and found.wrong.quantity.startswith("O with "):
        text = f"{odd}; otherwise {text}"
    elif many:
        text = f"{many}; otherwise {text}"
    elif outweighed:
        text = f"{outweighed}; otherwise {text}"
    text = calls.tell(found, text)
    taken = f"takes {forward.relaid} for the contract's (B, H, N, D); so called, {text}"
    return taken if forward.relaid else text


def _told_how(forward: Forward, found: Findings) -> None:
    """Say how it is called, where that is not as the contract has it."""
    if forward.causal == (False,):
        found.claim(
            "can mask causally",
            False,
            otherwise=Verdict.WARN,
            note=_UNREAD if forward.unread else "It has no causal switch and masks nothing.",
            **forward.place,
        )
    elif not forward.switch:
        found.note("can be told not to mask", "no", note="Full attention could not be called.")
    if forward.mask:
        found.note("is made causal by", f"a mask of {forward.mask}", note="It takes no causal switch.")
    if forward.relaid:
        found.claim(
            "takes its arrays as (B, H, N, D)",
            False,
            measured=forward.relaid,
            otherwise=Verdict.WARN,
            note="With the contract's axes its answer is not attention; every check hands over its own.",
            **forward.place,
        )


def _at(forward: Forward, rows: Rows) -> dict[str, Any]:
    return forward.place if rows.worst.verdict is Verdict.FAIL else {}


def _cases(bench: Bench, forward: Forward) -> Iterator[Case]:
    for causal in forward.causal:
        for index, (shape, tile, name) in enumerate(cuts(bench.sizes("cuts", causal))):
            yield drawn(bench.rng(index, causal), shape, tile, causal, name=name)
            if index % 2:
                rng = bench.rng(index, causal, "single")
                yield drawn(rng, shape, tile, causal, dtype=np.float32, name=name)
        yield drawn(bench.rng("large", causal), (1, 2, 26, 8), 8, causal, spread=30.0, name="scores times 30")
        for by in (-900.0, 900.0, 0.0, *_BELOW):
            name = f"scores near {by:g}" if by else "scores near 900 and -900 by turns"
            yield _offset(drawn(bench.rng(name, causal), (1, 2, 18, 16), 4, causal, name=name), by)
        name = "scores 1800 apart"
        yield _apart(drawn(bench.rng(name, causal), (1, 2, 18, 16), 4, causal, name=name))
        for turn, dtype in enumerate((np.float64, np.float32, np.float64, np.float64)):
            yield _strided(bench, turn, causal, dtype)
        for by in _RISES if causal else ():
            name = f"hidden keys score highest, by {by:g} from key to key"
            yield _rising(drawn(bench.rng(name), (1, 2, 18, 16), 4, True, name=name), by)
    for index, (shape, tile, _back, spread) in enumerate(swept()):
        rng, causal = bench.rng("swept", index), forward.causal[index % len(forward.causal)]
        yield drawn(rng, shape, tile, causal, spread=spread, name="every small size")


def _about_own_integers(bench: Bench, forward: Forward, own: OwnSizes, rows: Rows, calls: Unanswered) -> None:
    """Sizes about which its source may take another path; those of D in other orders of memory, too."""
    for turn, (one, shape, tile) in enumerate(about(own, bench.sizes("about", "others"))):
        case = drawn(bench.rng("about", str(one)), shape, tile, forward.causal[0], spread=2.0, name=str(one))
        with calls.trying(case.sizes), own.trying(one, scores(shape)), bench.answers.one() as answer:
            answer.fine = rows.hold(case, forward(case)).verdict is not Verdict.FAIL
        if set(one.at) == {"D"}:
            several = (*_SEVERAL, *shape[2:])
            case = drawn(bench.rng("laid about", str(one)), several, tile, forward.causal[0])
            case = laid_out(case, turn, of=str(one))
            with calls.trying(case.sizes), own.trying(one, scores(several)), bench.answers.one() as answer:
                answer.fine = rows.hold(case, forward(case)).verdict is not Verdict.FAIL


def _many_tiles(bench: Bench, forward: Forward, found: Findings) -> str:
    """More tiles of a row than eight bits number, where a quarter of them take little time; what is told."""
    held: dict[int, Held] = {}
    for length in (_MOST_TILES // 4, _MOST_TILES + 1, _MOST_TILES):
        case = drawn(bench.rng("many tiles", length), (1, 1, length, 3), 1, forward.causal[0], spread=2.0)
        before, rows = bench.left, Rows()
        held[length] = rows.hold(case, forward(case))
        if length > _MOST_TILES:
            rows.decide(found, f"O of {length} tiles of a row", **_at(forward, rows))
            if held[length].verdict is not Verdict.FAIL:
                return ""
        if before - bench.left > _SHARE * bench.left and length < _MOST_TILES:
            return ""
    most = f", and right with {_MOST_TILES}: eight bits number them"
    told = most if held[_MOST_TILES].verdict is not Verdict.FAIL else ""
    return f"O is {held[_MOST_TILES + 1].error:.2g} off with {_MOST_TILES + 1} tiles of a row{told}"


def _strided(bench: Bench, turn: int, causal: bool, dtype: npt.DTypeLike) -> Case:
    """Queries, keys and values in three orders of memory: an array is its values, whatever its strides."""
    sizes = bench.sizes("strided", turn, causal)
    shape, tile = (2, *heads(sizes, (5, 40), (2, 12))[1:]), sizes.between(2, 9)
    case = drawn(bench.rng("strided", turn, causal), shape, tile, causal, dtype=dtype)
    return laid_out(case, turn)


def _offset(case: Case, by: float) -> Case:
    """Shift every score of a row: softmax does not change, but a maximum that starts at 0 shows.

    By 0 means by 900 up and down from row to row, where a maximum that rows share shows. Entries are
    multiples of 1/8 and √D is 4, so that every score is exact in float32 too; of 1/2 where scores are large.
    """
    grain = 8 if abs(by) < 1e4 else 2
    q, k = np.round(grain * case.q) / grain, np.round(grain * case.k) / grain
    q[..., 0], k[..., 0] = 16.0, (by or 900.0) / 4
    if not by:
        q[:, :, 1::2, 0] = -16.0
    return Case(q, k, case.v, case.tile, case.causal, case.name)


def _apart(case: Case) -> Case:
    """Scores near 900 and -900 by turns from key to key: their differences are past what exp can tell."""
    case = _offset(case, 900.0)
    case.k[:, :, 1::2, 0] *= -1.0
    return case


def _rising(case: Case, by: float) -> Case:
    """Scores that rise from key to key: what hides the later ones must outweigh any score."""
    q, k = case.q.copy(), case.k.copy()
    q[..., 0], k[..., 0] = 16.0, by / 4 * np.arange(case.q.shape[2])
    return replace(case, q=q, k=k)


def _far_below(bench: Bench, forward: Forward, found: Findings) -> str:
    """Scores that outweigh any number that stands in for -inf, which a right answer shows none of."""
    rows = Rows()
    for causal in forward.causal:
        name = f"scores near {_FAR_BELOW:g}"
        case = drawn(bench.rng(name, causal), (1, 2, 18, 16), 4, causal, name=name)
        rows.hold(case := _offset(case, _FAR_BELOW), forward(case))
    if True in forward.causal:
        name = f"hidden keys score highest, by {-_FAR_BELOW:g} from key to key"
        case = drawn(bench.rng(name), (1, 2, 18, 16), 4, True, name=name)
        rows.hold(case := _rising(case, -_FAR_BELOW), forward(case))
    worst = rows.worst
    if worst.verdict is Verdict.PASS:
        return ""
    found.limit(
        f"O with {worst.case.name}, relative error per row",
        worst.error,
        worst.own,
        otherwise=Verdict.WARN,
        note="A finite number that stands in for -inf is outweighed by such scores.",
        **forward.place,
    )
    return f"a finite number in the place of -inf: O is {worst.error:.2g} off with {worst.case.name}"


def _beside(bench: Bench, forward: Forward, found: Findings) -> str:
    """What is wrong with its own choice of key tiles, and with an L that it returns, as a clause."""
    return "; ".join(filter(None, (own_key_tile(bench, forward, found), returned_l(bench, forward, found))))


def _unequal(bench: Bench, forward: Forward, found: Findings) -> str:
    """Query tiles that differ from key tiles: wrong with its own defaults fails, with others warns."""
    if not takes_both(forward.binding):
        return ""
    own = own_tiles(bench, forward.binding)
    clauses = [] if own is None else [_cut_in_two(bench, forward, found, (own,), Verdict.FAIL)]
    clauses.append(_cut_in_two(bench, forward, found, ((4, 7), (7, 3)), Verdict.WARN))
    return next(filter(None, clauses), "")


def _cut_in_two(
    bench: Bench, forward: Forward, found: Findings, pairs: tuple[tuple[int, int], ...], past: Verdict
) -> str:
    rows, refused = Rows(), ""
    of = ", its defaults" if past is Verdict.FAIL else ""
    for causal in forward.causal:
        for tile, key_tile in pairs:
            name = f"query tiles of {tile}, key tiles of {key_tile}{of}"
            shape = (1, 2, max(23, 2 * max(tile, key_tile) + 7), 6)
            case = drawn(bench.rng("unequal", causal, tile), shape, tile, causal, name=name)
            case = replace(case, key_tile=key_tile)
            try:
                rows.hold(case, forward(case))
            except Raised as fault:
                refused = fault.message
    if refused:
        found.note("query tiles that differ from key tiles", refused)
    if not rows.held:
        return ""
    quantity = "O with its own query and key tiles" if of else "O with query tiles that differ from key tiles"
    worst = rows.decide(found, quantity, strict=False, past=past, **_at(forward, rows))
    if worst.verdict is not Verdict.FAIL:
        return ""
    why = mistake(readings(forward, rows.held))
    return f"O is {worst.error:.2g} off with {worst.case.name}{why and f': {why}'}"


def _replayed(bench: Bench, forward: Forward, rows: Rows) -> None:
    """Two draws of one shape in one process and a third in another, where replayed answers show."""
    sizes = bench.sizes("replay")
    shape, tile = heads(sizes, (2, 16), (2, 12)), sizes.between(2, 6)
    first, second, third = (
        drawn(bench.rng("replay", i), shape, tile, forward.causal[0], name=f"draw {i + 1} of one shape")
        for i in range(3)
    )
    rows.hold(first, forward(first))
    rows.hold(second, forward(second))
    with bench.fresh() as worker:
        worker.load(forward.binding.file)
        rows.hold(third, forward(third, worker=worker))


def _summary(forward: Forward, double: Rows, wide: Held, narrow: Held, count: int) -> str:
    worst = (
        wide
        if (wide.verdict is Verdict.FAIL, wide.badness) >= (narrow.verdict is Verdict.FAIL, narrow.badness)
        else narrow
    )
    if worst.verdict is Verdict.FAIL:
        what = (
            "is NaN or infinite where the reference is not"
            if worst.error != worst.error
            else f"is {worst.error:.2g} off"
        )
        why = double.special and (outweighed(forward, double) or double.special)
        why = why or "; ".join(filter(None, (named(forward, double), double.only_where)))
        return f"O {what} in a row of [{worst.case}] (limit {worst.most:.1g}){why and f'; {why}'}"
    if forward.causal == (False,):
        reached = f"{wide.error:.1e} of the reference (limit {wide.own:.1e})"
        none = "its mask gives no causal attention" if forward.unread else "no causal mask at all"
        return f"{none}; full attention is {reached}"
    if wide.verdict is Verdict.WARN:
        return _imprecise(double, wide)
    if narrow.verdict is Verdict.WARN:
        return f"{narrow.error:.1e} of the reference on float32 input, where float32 reaches {narrow.own:.1e}"
    return (
        f"float64 {wide.error:.1e} (limit {wide.own:.1e}), float32 {narrow.error:.1e} "
        f"(limit {narrow.own:.1e}) of the reference, worst row of {count} calls"
    )


def _imprecise(double: Rows, wide: Held) -> str:
    if wide.most > STATED:
        return (
            f"O is {wide.error:.1e} off in a row of [{wide.case}], where float64 reaches {wide.own:.1e}; "
            f"within {wide.most:.1e}, which float32 reaches"
        )
    usual = max((held for held in double.held if held.most == STATED), key=lambda held: held.error)
    single = usual.error > 0.01 * float(np.finfo(np.float32).eps)
    why = "float32 arithmetic, or an epsilon," if single else "an epsilon, or much cancellation"
    further = f", and {wide.error:.1e} with {wide.case.name}" if wide.error > STATED else ""
    return (
        f"{why} on float64 input: {usual.error:.1e} of the reference where float64 reaches {usual.own:.1e}; "
        f"within the challenge's {STATED:g}{further}"
    )
