"""Whether what the forward keeps of its softmax is L = m + log l."""

from __future__ import annotations

import contextlib
import itertools
import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Steps
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import BadResult, Fault, Skipped
from judge_tui.checks.tasks.backwards.source import place
from judge_tui.checks.tasks.backwards.storing import entry_name, stored_at, unpacked
from judge_tui.checks.tasks.flash_attention.cases import Shape
from judge_tui.checks.tasks.flash_attention.reference import Array, largest_score
from judge_tui.checks.tasks.flash_attention_bwd.blind import Blind, blinded, in_single
from judge_tui.checks.tasks.flash_attention_bwd.cached import Entry, carried, entries, tiled
from judge_tui.checks.tasks.flash_attention_bwd.lowered import of_statistic
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention, Run
from judge_tui.checks.tasks.flash_attention_bwd.reference import Problem, posed
from judge_tui.checks.tasks.flash_attention_bwd.reference import logsumexp as truth_of
from judge_tui.checks.tasks.flash_attention_bwd.which_l import known_l
from judge_tui.checks.tolerance import is_single
from judge_tui.checks.verdict import Verdict

__all__ = ["logsumexp"]

#: The limit that the task states, relative to 1 + |L|.
STATED = 1e-6
#: B and H, N, D that cannot be taken for each other.
_FEW, _LENGTHS, _WIDTHS = ((2, 3), (3, 2), (2, 4), (3, 4)), (11, 19), (5, 10)
#: Spread and offset of the scores, and the rows of a tile: several, all and some more, one.
_DRAWS = (
    (1.0, 0.0, "several"),
    (8.0, 0.0, "more"),
    (1.0, 900.0, "all"),
    (1.0, -900.0, "several"),
    (1.0, 0.0, "one"),
    (1.0, 0.0, "more"),
)
#: Tiles of fewer rows are too many to list.
_LEAST_TILE = 4


@check(
    "logsumexp",
    "L = m + log l",
    establishes="The L that the forward keeps is the log-sum-exp of every row's scores within 1e-6, at any "
    "offset of the scores, and -inf for a row that sees nothing.",
    roles=("forward", "backward"),
    version=4,
)
def logsumexp(bench: Bench, found: Findings) -> str:
    """Find L by its numbers among what the forward hands on, and hold it against the truth."""
    attention = Attention(bench)
    problems = [_drawn(bench, attention, index) for index in range(len(_DRAWS))]
    problems += [posed(bench.rng("full", each), _shape(bench), 5, each) for each in attention.causal[1:]]
    kept = _found(bench, attention, attention.run(problems[0]))
    if kept is None:
        return _by_tiles(attention, found, problems) or _nothing(bench, attention, found)
    worst, where, narrow = 0.0, _place(bench, kept), True
    for problem in problems:
        value, single = _read(attention, attention.run(problem), kept)
        error = _error(value, problem)
        worst = max(worst, error, key=lambda e: np.inf if e != e else e)
        narrow = narrow and single
    found.note("kept as", kept.text, **where)
    limit = max(STATED, 50 * 1.2e-7) if in_single(bench, attention) else STATED
    right = worst <= limit
    lenient = STATED < worst <= limit
    found.limit(
        "error over 1 + |L|, worst row", worst, STATED if right and not lenient else limit,
        otherwise=Verdict.WARN if lenient else Verdict.FAIL,
        note=f"{len(problems)} draws, scores near 0, 900 and -900; one row, several and all in a tile",
        **({} if right else where),
    )  # fmt: skip
    if not right:
        return (
            f"{kept.name} is {worst:.2g} off m + log l (limit {STATED:g}){_cause(attention, kept, problems)}"
        )
    if narrow and not lenient:
        found.claim("L of float64 input is kept in float64", False, measured="float32", limit="float64",
                    otherwise=Verdict.WARN, **where)  # fmt: skip
    if kept.form is not _Form.L:
        same = kept.form is _Form.M_AND_L
        found.claim("L itself is kept", same, measured=kept.text,
                    otherwise=Verdict.FAIL if _called_so(bench, kept) else Verdict.WARN,
                    note="The contract asks for L = m + log l, one number per row.", **where)  # fmt: skip
    empty = _empty(bench, attention, found, kept)
    if empty.nan:
        return f"L is {empty.text}; for the others {worst:.1e} off m + log l in {len(problems)} draws"
    if kept.form is not _Form.L and found.verdict is Verdict.FAIL:
        return f"{kept.name} holds {kept.text} in place of m + log l; turned back it is {worst:.1e} off"
    text = "" if kept.form is _Form.L else f", kept as {kept.text}"
    text += ", float32 of float64 input" if narrow else ""
    return f"L is {worst:.1e} off m + log l in {len(problems)} draws (limit {STATED:g}){text}; {empty.text}"


class _Form(Enum):
    """In what form L is kept, in words; ``OTHER`` where its numbers are none of these."""

    L = "L"
    M_AND_L = "m and l"
    M_AND_INVERSE = "m and 1/l"
    BASE_2 = "L in base 2"
    NEGATIVE = "-L"
    OTHER = ""


@dataclass(frozen=True, slots=True)
class _Empty:
    """What stands for L where a row sees nothing, as a clause, and whether that is NaN."""

    text: str
    nan: bool = False


@dataclass(frozen=True, slots=True)
class _Kept:
    """Where L is, and in what form.

    Attributes:
        form: In what form.
        parts: The entries that it is made of.
        names: What the source calls them.
        rows: B, H and N where it was found.
    """

    form: _Form
    parts: tuple[Entry, ...]
    names: tuple[str, ...]
    rows: tuple[int, int, int]

    @property
    def name(self) -> str:
        return " and ".join(self.names)

    @property
    def text(self) -> str:
        return self.form.value or self.name

    def whole(self, values: list[Array]) -> Array:
        with np.errstate(all="ignore"):
            if self.form is _Form.BASE_2:
                return np.asarray(values[0] / np.log2(math.e))
            if self.form is _Form.NEGATIVE:
                return -values[0]
            if self.form is _Form.M_AND_L:
                return values[0] + np.log(values[1])
            if self.form is _Form.M_AND_INVERSE:
                return values[0] - np.log(values[1])
            return values[0]


def _drawn(bench: Bench, attention: Attention, index: int) -> Problem:
    spread, offset, kind = _DRAWS[index]
    shape, several = _shape(bench), bench.sizes("tile", index).between(_LEAST_TILE, _LEAST_TILE + 2)
    tile = {"several": several, "more": shape[2] + several, "all": shape[2], "one": 1}[kind]
    problem = posed(bench.rng("draw", index), shape, tile, attention.causal[0], spread=spread)
    if offset:
        problem.case.q[..., 0], problem.case.k[..., 0] = 20.0, offset * shape[3] ** 0.5 / 20.0
    return problem


def _shape(bench: Bench) -> Shape:
    """(B, H, N, D), the same for all draws, so that what is kept is found in each of them."""
    sizes = bench.sizes("kept")
    batch, head = _FEW[sizes.between(0, len(_FEW) - 1)]
    length = sizes.between(*_LENGTHS)
    return batch, head, length, sizes.one_of([d for d in range(*_WIDTHS) if d != length])


def _rows(problem: Problem) -> tuple[int, int, int]:
    """B, H and N."""
    return problem.case.q.shape[:3]


def _found(bench: Bench, attention: Attention, run: Run) -> _Kept | None:
    """The entries that are L, by their numbers; else one of its size that the source calls so."""
    listed = _lists(attention, run)
    with contextlib.suppress(Skipped) if listed else contextlib.nullcontext():
        listed = [*entries(attention, run), *listed]
    names = _names(bench, listed)
    pairs = list(zip(listed, names, strict=True))
    by_what = {entry.what: (entry, name) for entry, name in reversed(pairs) if not entry.piece}
    for form, needed in (
        (_Form.L, ("L",)), (_Form.M_AND_L, ("m", "l")), (_Form.M_AND_INVERSE, ("m", "1/l")),
        (_Form.BASE_2, ("L in base 2",)),
        (_Form.NEGATIVE, ("-L",)),
    ):  # fmt: skip
        if all(what in by_what for what in needed):
            parts = [by_what[what] for what in needed]
            return _Kept(form, tuple(e for e, _ in parts), tuple(n for _, n in parts), _rows(run.problem))
    role = bench.contract.by_name["forward"]
    item = next(item for item in role.returns if item.name == "L")
    size = int(np.prod(_rows(run.problem)))
    sized = [(e, n) for e, n in pairs if e.value is not None and e.value.size == size]
    called = [
        (e, n) for e, n in sized if item.means(n.rpartition(" ")[2].rpartition(".")[2]) or e.handle == "L"
    ]
    # An entry of that size with other numbers, when there is only one, is what L was meant to be.
    for entry, name in called or (sized if len(sized) == 1 else []):
        return _Kept(_Form.L if name == "L" else _Form.OTHER, (entry,), (name,), _rows(run.problem))
    return None


def _lists(attention: Attention, run: Run) -> list[Entry]:
    """Nested lists that the cache names L: no single entry of it is an array."""
    item = next(r for r in attention.bench.contract.by_name["forward"].returns if r.name == "L")
    found, rows = [], _rows(run.problem)
    for name, handle in carried(attention, run).items():
        tree = attention.bench.worker.describe(handle)
        for kind, key, part in tree.get("parts", ()):
            if part.get("kind") in ("list", "tuple") and item.means(str(key)):
                path: Steps = ((str(kind), key),)
                try:
                    value = attention.bench.worker.fetch(handle.part(*path), rows)
                except Fault:
                    continue
                what = "L" if _error(value, run.problem) <= 1e-4 else ""
                found.append(Entry(name, path, "array", rows, value.nbytes, (), None, value, what))
    return found


def _names(bench: Bench, listed: list[Entry]) -> list[str]:
    indices = [int(e.path[-1][1]) for e in listed if len(e.path) == 1 and e.path[-1][0] == "i"]
    variables = unpacked(bench, 1 + max(indices)) if indices else ()
    return [entry_name(e.path, variables) if e.path else e.handle for e in listed]


def _called_so(bench: Bench, kept: _Kept) -> bool:
    """Whether an entry that is another thing than L goes by its name: whoever reads it takes it for L."""
    item = next(r for r in bench.contract.by_name["forward"].returns if r.name == "L")
    last = kept.name.rpartition(" ")[2].rpartition(".")[2]
    return kept.form in (_Form.BASE_2, _Form.NEGATIVE) and (item.means(last) or kept.parts[0].handle == "L")


def _place(bench: Bench, kept: _Kept) -> dict[str, Any]:
    entry = kept.parts[0]
    file, line = stored_at(bench, entry.path)
    binding = bench.binding("forward")
    if not entry.path or line == binding.line:
        file, line = place(bench, "forward", "L")
    return {"file": file, "line": line}


def _read(attention: Attention, run: Run, kept: _Kept) -> tuple[Array, bool]:
    """L (B, H, N) of a run, as the entries hold it, and whether they hold float32 numbers."""
    handles = carried(attention, run)
    values = []
    for entry in kept.parts:
        raw = attention.bench.worker.fetch(handles[entry.handle].part(*entry.path), entry.shape)
        values.append(raw)
    truth = truth_of(run.problem.case)
    arranged = _arrangements(kept.whole(values), kept.rows)
    if not arranged:
        raise BadResult(f"keeps {kept.name} in the shape {kept.parts[0].shape}")
    return min(arranged, key=lambda value: _distance(value, truth)), any(map(is_single, values))


def _arrangements(value: Array, wanted: tuple[int, int, int]) -> list[Array]:
    """The value as (B, H, N), in every order of its axes that has this shape."""
    tight = value.reshape([n for n in value.shape if n != 1])
    found = [
        tight.transpose(order)
        for order in itertools.permutations(range(tight.ndim))
        if tuple(tight.shape[axis] for axis in order) == wanted
    ]
    return found or ([tight.reshape(wanted)] if tight.size == int(np.prod(wanted)) else [])


def _distance(value: Array, truth: Array) -> float:
    with np.errstate(all="ignore"):
        error = float(np.mean(np.abs(value - truth)))
    return error if error == error else np.inf


def _error(value: Array, problem: Problem) -> float:
    truth = truth_of(problem.case)
    with np.errstate(all="ignore"):
        return float(np.max(np.abs(value - truth) / (1 + np.abs(truth))))


def _cause(attention: Attention, kept: _Kept, problems: list[Problem]) -> str:
    """What is kept instead, where that is one of the usual mistakes."""
    problem = problems[-1]
    value, _single = _read(attention, attention.run(problem), kept)
    case = problem.case
    scores = case.q @ case.k.swapaxes(-1, -2) / np.sqrt(case.q.shape[-1])
    if case.causal:
        scores[..., np.triu(np.ones(scores.shape[-2:], dtype=bool), 1)] = -np.inf
    top, lse = scores.max(-1), truth_of(case)
    largest = largest_score(case.q, case.k, case.causal)
    for text, other in (
        ("log l without the maximum", lse - top), ("the maximum without log l", top),
        ("l", np.exp(lse - top)),
        ("Σ exp", np.exp(lse)), ("m + l", top + np.exp(lse - top)), ("m - log l", 2 * top - lse),
        ("log2 of l beside the maximum", top + (lse - top) * np.log2(math.e)),
    ):  # fmt: skip
        if np.max(np.abs(value - other)) <= 1e-6 * (1 + largest):
            return f": it is {text}"
    several = [(each, _read(attention, attention.run(each), kept)[0]) for each in problems]
    off = [(each, made) for each, made in several if not _error(made, each) <= STATED]
    if off and (words := known_l(*(list(one) for one in zip(*off, strict=True)))):
        every = "" if len(off) == len(several) else f", in {len(off)} of {len(several)} draws"
        return f": it is {words}{every}"
    lower = of_statistic(case, value)
    return "" if lower is None else f"; {lower.text}"


def _empty(bench: Bench, attention: Attention, found: Findings, kept: _Kept) -> _Empty:
    """What L is for rows that see nothing, as a clause."""
    blind = _blind(bench, attention)
    try:
        handles = carried(attention, run := attention.run(blind.given))
        shapes = [_swapped(part.shape, kept.rows, run.problem) for part in kept.parts]
        values = [
            attention.bench.worker.fetch(handles[part.handle].part(*part.path), shape)
            for part, shape in zip(kept.parts, shapes, strict=True)
        ]
    except Fault as fault:
        found.note("L of rows that see nothing", fault.message)
        return _Empty("nothing known of empty rows")
    named = kept.form is _Form.L
    return _stand_in(found, kept.whole(values), blind, _place(bench, kept), named=named)


def _empty_by_tiles(attention: Attention, found: Findings, site: object, place: dict[str, Any]) -> _Empty:
    """The same where every tile of queries keeps its own L, at one site of what is handed on."""
    blind = _blind(attention.bench, attention)
    try:
        listed = entries(attention, attention.run(blind.given))
    except Fault as fault:
        found.note("L of rows that see nothing", fault.message)
        return _Empty("nothing known of empty rows")
    values = [np.ravel(e.value) for e in listed if e.site == site and e.value is not None]
    count = sum(map(np.size, values))
    if count != blind.rows.size:
        found.note("L of rows that see nothing", count, limit=blind.rows.size, unit="numbers")
        return _Empty("nothing known of empty rows")
    return _stand_in(found, np.concatenate(values), blind, place)


def _blind(bench: Bench, attention: Attention) -> Blind:
    """A call with heads that see nothing."""
    dtype = np.float32 if in_single(bench, attention) else np.float64
    return next(blinded(bench, attention, dtype))


def _stand_in(
    found: Findings, values: Array, blind: Blind, place: dict[str, Any], *, named: bool = True
) -> _Empty:
    """Judge what stands for L where rows see nothing, among all of L in whatever order."""
    flat = np.sort(values, axis=None)
    if np.isnan(flat).any():
        found.claim("L of rows that see no key", False, measured="NaN", limit="-inf", **place,
                    note="Reached by scores that overflow to -inf.")  # fmt: skip
        return _Empty("NaN for a row that sees no key", nan=True)
    stand_in = _beside(flat, truth_of(blind.clean.case)[~blind.rows])
    fine = bool(np.isneginf(stand_in).all())
    told = "-inf" if fine else f"{float(stand_in[np.argmax(np.abs(stand_in))]):.3g}"
    # whoever merges parts by their L takes such a row for one that outweighs all others
    upward = named and bool(np.isposinf(stand_in).any())
    found.claim("L of rows that see no key", fine, measured=told, limit="-inf",
                otherwise=Verdict.FAIL if upward else Verdict.WARN,
                note="The sum of nothing has the logarithm -inf." if upward
                else "A stand-in is no mistake while the backward knows it.",
                **({} if fine else place))  # fmt: skip
    return _Empty(f"{told} for a row that sees no key")


def _beside(values: Array, seen: Array) -> Array:
    """What is left of values, in whatever order, when those nearest to the seeing rows' L are taken away."""
    left = np.array(values, dtype=np.float64)
    for right in seen:
        left = np.delete(left, np.argmin(np.abs(left - right)))
    return left


def _by_tiles(attention: Attention, found: Findings, problems: list[Problem]) -> str:
    """L where every tile of queries keeps its own, by its numbers in any order; empty where none does."""
    item = next(r for r in attention.bench.contract.by_name["forward"].returns if r.name == "L")
    size, worst, count, name = int(np.prod(_rows(problems[0]))), 0.0, 0, ""
    place: dict[str, Any] = {}
    site: object = ()
    for problem in problems:
        if problem.case.tile < _LEAST_TILE:
            continue
        try:
            listed = entries(attention, attention.run(problem))
        except Skipped:
            return ""
        for indices in tiled(listed):
            parts = [listed[index] for index in indices]
            values = np.concatenate([np.ravel(p.value) for p in parts if p.value is not None])
            called = str(parts[0].path[-1][1]) if parts[0].path else ""
            if values.size == size and (parts[0].what == "L" or item.means(called)):
                truth = np.sort(truth_of(problem.case), axis=None)
                error = float(np.max(np.abs(np.sort(values) - truth) / (1 + np.abs(truth))))
                worst, count = max(worst, error, key=lambda e: np.inf if e != e else e), count + 1
                name, site = entry_name(parts[0].path, ()), parts[0].site
                file, line = stored_at(attention.bench, parts[0].path)
                place = {"file": file, "line": line}
    if not count:
        return ""
    single = in_single(attention.bench, attention)
    limit = max(STATED, 50 * 1.2e-7) if single else STATED
    found.limit(
        "error over 1 + |L|, worst row", worst, STATED if worst <= STATED else limit,
        otherwise=Verdict.WARN if worst <= limit else Verdict.FAIL,
        note=f"{count} draws; L is kept tile by tile, as {name}, and compared as a set of numbers", **place,
    )  # fmt: skip
    told = f"L, kept tile by tile as {name}, is {worst:.1e} off m + log l in {count} draws (limit {STATED:g})"
    return f"{told}; {_empty_by_tiles(attention, found, site, place).text}" if worst <= limit else told


def _swapped(shape: tuple[int, ...], rows: tuple[int, int, int], problem: Problem) -> tuple[int, ...]:
    """An entry's shape at another problem's sizes, where B, H and N were others."""
    sizes = dict(zip(rows, _rows(problem), strict=True))
    return tuple(sizes.get(n, n) for n in shape)


def _nothing(bench: Bench, attention: Attention, found: Findings) -> str:
    found.claim(
        "a log-sum-exp is kept", False, otherwise=Verdict.WARN, **attention.forward.place,
        note="Nothing of one number per row is handed from the forward to the backward.",
    )  # fmt: skip
    return "keeps no log-sum-exp: its backward works without one"
