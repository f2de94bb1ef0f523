"""A decoder with shared heads against the same decoder with copies of them in its weights.

A decoder that is made twice, with G heads of keys and values and with as many as it has query heads, has
weights of the same shapes but for the projections of keys and values. Where all weights can be reached,
the wide one is given the narrow one's, each shared head repeated for the query heads of its group: then
both must answer alike. A decoder that maps its heads otherwise equals another way of repeating.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.refusing import refusal
from judge_tui.checks.sizes import Range
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.faces.told import WEIGHTS
from judge_tui.checks.tasks.kv.faces.weights import drawn_anew, weights
from judge_tui.checks.tasks.kv.incremental_equals_full.decoder_attention import foretell
from judge_tui.checks.tasks.kv.limits import precision
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.head_maps import MAPS, repeated
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge"]

Array = npt.NDArray[Any]
_WIDTHS, _PROMPT, _STEPS = (6, 8, 10, 12), 4, 2
#: Heads of keys and values, and how many queries share each.
_GROUPS: tuple[tuple[Range, Range], ...] = (
    ((2, 2), (2, 3)),
    ((2, 3), (3, 4)),
    ((3, 5), (2, 2)),
    ((1, 1), (2, 5)),
)
_NO_MAP = "no usual map of heads"
#: A plain difference of answers that shows that other weights are at work.
_MOVED = 1e-3


def judge(subject: Subject, found: Findings, said: list[str]) -> None:
    """For groups of 2 and 4, and one head for all: the narrow decoder against the wide one."""
    decoder = subject.bound.get("decoder")
    if decoder is None or not decoder.takes("kv_heads"):
        return
    limit = precision("float32").limit(0.0)
    worst, wrong, shown, broken = 0.0, "", [], dict[str, Raised]()
    drawn = [subject.bench.sizes("groups", index).shape(*axes) for index, axes in enumerate(_GROUPS)]
    for shared, times in drawn:
        queries = shared * times
        try:
            pair, errors = _held(subject, queries, shared)
            why = pair.why
        except (Raised, BadResult) as fault:
            heads = f"{queries} query heads over {shared}"
            if isinstance(fault, Raised) and _breaks(subject, fault, queries, shared):
                broken[heads] = fault
                continue
            said_no = isinstance(fault, Raised) and refusal(subject.bench.submission, fault)
            found.note(f"decoder with {heads}", said_no or f"does not run: {fault.message}")
            if said_no:
                continue
            return
        if why:
            if _foretold(subject, found, queries, shared, said):
                continue
            found.note(f"decoder with {queries} query heads over {shared}", f"not established: {why}",
                       note="its agreement with itself cannot show which head a query reads")  # fmt: skip
            return
        right = errors[next(iter(MAPS))]
        near = min(errors, key=lambda words: errors[words])
        shown.append((f"{queries} over {shared}", f"{right:.2g}", near if errors[near] <= limit else "none"))
        if right <= limit:
            worst = max(worst, right) if not wrong else worst
        elif wrong in ("", _NO_MAP):
            worst = right
            wrong = near if errors[near] <= limit else _map_of(subject, queries, shared)
    if not shown:
        _judge_broken(subject, found, broken, len(drawn), wrong, said)
        return
    table = (("heads", "relative error", "equals repeating in which"), *shown)
    where = subject.where("prefill")
    if found.limit(
        f"decoder with shared heads against the same with repeated ones in its weights, prompt of {_PROMPT} "
        f"and {_STEPS} steps, largest relative error per row, float32",
        worst, limit, table=table, note=f"equals: {wrong}" if wrong else "", **where,
    ):  # fmt: skip
        said.append(f"the decoder with shared heads equals one with repeated heads to {worst:.1e}")
    else:
        said.append(f"the decoder with shared heads is {worst:.2g} off one with repeated heads: {wrong}")
    _judge_broken(subject, found, broken, len(drawn), wrong, said)


def _map_of(subject: Subject, queries: int, shared: int) -> str:
    """The map that a step follows; the decoder without shared heads is no measure where it is wrong, too."""
    told = foretell(subject, queries, shared)
    usual = not told.why and told.heads != next(iter(MAPS))
    return told.heads if usual else _NO_MAP


def _breaks(subject: Subject, fault: Raised, queries: int, shared: int) -> bool:
    """Whether the number of shared heads is what it breaks at: no refusal, and with one for each it runs."""
    if refusal(subject.bench.submission, fault):
        return False
    with contextlib.suppress(Raised, BadResult):
        _held(subject, queries, queries)
        return True
    return False


def _judge_broken(
    subject: Subject, found: Findings, broken: Mapping[str, Raised], of: int, wrong: str, said: list[str]
) -> None:
    """Heads at which the decoder raises; ``wrong``: the map that it goes by where it runs."""
    if not broken:
        return
    heads, fault = next(iter(broken.items()))
    where = {"file": fault.file, "line": fault.line} if fault.file else subject.where("prefill")
    found.claim(
        "decoder with shared heads: counts of heads that it runs with", False, measured=fault.message,
        limit="as many answers as there are query heads that divide", note=", ".join(broken), **where,
    )  # fmt: skip
    if len(broken) == of or not wrong:
        alone = "" if len(broken) == of else f" (so do {len(broken)} of {of} such counts, the others run)"
        said.append(f"the decoder with {heads} {fault.placed}{alone}; with as many heads it runs")
    else:
        said.append(f"with {' and '.join(broken)} it {fault.placed}")


def _foretold(subject: Subject, found: Findings, queries: int, shared: int, said: list[str]) -> bool:
    """Where not all weights can be set, a step may still be foretold; whether that settled it."""
    told = foretell(subject, queries, shared)
    if told.why:
        return False
    heads = f"{queries} query heads over {shared}"
    found.claim(
        f"decoder with {heads}: a step foretold from its weights and its cache", told.right,
        measured=told.wrong or "as foretold", limit="each head reads its group's keys and values",
        **subject.where("decode"),
    )  # fmt: skip
    said.append(f"the decoder with {heads}: {told.wrong or 'its step is as foretold'}")
    return True


def _held(subject: Subject, queries: int, shared: int) -> tuple[_Pair, dict[str, float]]:
    """How far a pair is apart; where weights are handed over, (inputs, outputs), else the other way round.

    Raises:
        Raised: Neither runs.
        BadResult: Likewise.
    """
    try:
        pair = _Pair(subject, queries, shared)
        return pair, pair.errors()
    except (Raised, BadResult):
        if not subject.bound["decoder"].takes(WEIGHTS[1]):
            raise
        with contextlib.suppress(Raised, BadResult):
            pair = _Pair(subject, queries, shared, outputs_first=True)
            return pair, pair.errors()
        raise


class _Pair:
    """A decoder with shared heads and one without.

    Attributes:
        why: Why the two cannot be held against each other; empty when they can.
    """

    def __init__(self, subject: Subject, queries: int, shared: int, *, outputs_first: bool = False) -> None:
        self.shared, self.queries, self.why = shared, queries, ""
        bench = subject.bench
        sizes = {
            "heads": queries, "embed": queries * bench.sizes("width").one_of(_WIDTHS),
            "outputs_first": outputs_first,
        }  # fmt: skip
        self.worker = bench.worker
        self.narrow, self.wide = (
            Maker(bench.worker, subject.bound, lambda: bench.left, sizes={**sizes, "kv_heads": n})
            for n in (shared, queries)
        )
        self.given = self.narrow(1).draw(bench.rng("decoder", queries, shared), _PROMPT + _STEPS)

    def errors(self) -> dict[str, float]:
        """How far the two are apart, by the way in which heads are repeated."""
        pattern = self.narrow(1)
        mine = weights(self.worker, pattern.model)
        values = [weight.fetched(self.worker) for weight in mine]
        other = self.wide(1)
        theirs = weights(self.worker, other.model)
        if [w.path for w in mine] != [w.path for w in theirs] or not mine:
            self.why = "not all of its weights can be reached"
            return {}
        if not any(_stretch(a.shape, b.shape) for a, b in zip(mine, theirs, strict=True)):
            self.why = "none of its weights has fewer heads"
            return {}
        if not self._reached():
            return {}
        truth = _answers(pattern, self.given)
        found: dict[str, float] = {}
        for words, heads in MAPS.items():
            for inner in (False, True):
                decoder = self.wide(1)
                self._copy(decoder, values, heads(self.queries, self.shared), inner)
                error = relative_error(_answers(decoder, self.given), truth)
                found[words] = min(found.get(words, np.inf), np.inf if np.isnan(error) else error)
                if words == next(iter(MAPS)) and found[words] <= 1e-4:
                    return found
        return found

    def _copy(self, decoder: Decoder, values: Sequence[Array], heads: Array, inner: bool) -> None:
        theirs = weights(self.worker, decoder.model)
        for weight, value in zip(theirs, values, strict=True):
            new = repeated(value, weight.shape, heads, self.shared, inner)
            if new is None:
                self.why = f"{weight.name} has shapes that are not told by its heads"
                continue
            self.worker.fill(weight.handle, new.astype(weight.dtype))

    def _reached(self) -> bool:
        """Whether two decoders answer alike once one has all weights of the other that can be reached."""
        one, other = self.wide(1), self.wide(1)
        mine, theirs = weights(self.worker, one.model), weights(self.worker, other.model)
        drawn_anew(self.worker, mine, 23)
        for weight, target in zip(mine, theirs, strict=True):
            self.worker.fill(target.handle, weight.fetched(self.worker).astype(target.dtype))
        new, copied = _answers(one, self.given), _answers(other, self.given)
        old = _answers(self.wide(1), self.given)
        if not relative_error(copied, new) <= 1e-4 or not relative_error(new, old) > _MOVED:
            self.why = "its answers do not follow the weights that can be reached"
            return False
        return True


def _answers(decoder: Decoder, given: Array) -> Array:
    rows = [decoder.prefill(given[:, :_PROMPT])]
    rows += [decoder.decode(given[:, t]) for t in range(_PROMPT, _PROMPT + _STEPS)]
    return np.stack(rows)


def _stretch(narrow: tuple[int, ...], wide: tuple[int, ...]) -> bool:
    return len(narrow) == len(wide) and narrow != wide
