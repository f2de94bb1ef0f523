"""Whether decoding with the cache equals full causal attention."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Raised, Skipped, Unbound
from judge_tui.checks.own_sizes import OwnSizes
from judge_tui.checks.refusing import refusal
from judge_tui.checks.sizes import About
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.incremental_equals_full import alike_blocks, coming_and_going, decoder_steps
from judge_tui.checks.tasks.kv.incremental_equals_full.apart import judge_apart
from judge_tui.checks.tasks.kv.incremental_equals_full.begun_alike import judge_alike
from judge_tui.checks.tasks.kv.incremental_equals_full.beside import judge_beside
from judge_tui.checks.tasks.kv.incremental_equals_full.decoder_shapes import judge_shapes
from judge_tui.checks.tasks.kv.incremental_equals_full.layers import judge_layers, judge_together
from judge_tui.checks.tasks.kv.incremental_equals_full.lowered import lower_precision
from judge_tui.checks.tasks.kv.incremental_equals_full.prefilling import judge_prefill
from judge_tui.checks.tasks.kv.incremental_equals_full.step_causes import Rerun, Stream
from judge_tui.checks.tasks.kv.limits import (
    ROUNDS,
    Precision,
    Worst,
    float32_limit,
    precision,
    stores_half,
    weighs_what_is_there,
)
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import LOW, cut, drawn, lowered
from judge_tui.checks.tasks.kv.words.misplaced import misplaced
from judge_tui.checks.tasks.kv.words.reference import attention, diagnosis, plain
from judge_tui.checks.tasks.kv.words.sentences import Sentences
from judge_tui.checks.tasks.kv.words.sizes import Sizes, sized
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["incremental_equals_full"]

Array = npt.NDArray[Any]

#: Axes that an integer of the source may concern, and what they may be because of it.
_AXES = {"D": (2, 2200), "H": (1, 300), "B": (1, 300)}
_MOST_ABOUT = 12
#: Relative error of rows that are no rounded ones.
_MISPLACED = 0.05
#: Sequences, heads, width and tokens while another is large, and each while it is.
_SMALL, _LARGE = ((1, 2), (1, 3), (4, 8), (3, 6)), ((4, 16), (8, 40), (22, 160), (130, 420))


@dataclass(frozen=True, slots=True)
class Case:
    """A prompt and the steps after it.

    Attributes:
        words: For the evidence.
        batch: Sequences.
        prompt: Tokens fed before the steps.
        steps: Decode steps.
        spare: Capacity that stays free.
        whole: Whether the prompt goes in at once.
        dtype: Of everything.
        fresh: Whether it runs in a process of its own.
        sharp: Factor on the queries; large scores overflow a softmax that leaves the maximum out.
        heads: Heads, where they are not drawn.
        width: Of a head, where it is not drawn.
        strided: Whether what comes in lies in memory in other orders.
        low: Whether every score is below what may stand for −inf.
    """

    words: str
    batch: int
    prompt: int
    steps: int
    spare: int = 4
    whole: bool = True
    dtype: str = "float32"
    fresh: bool = False
    sharp: float = 1.0
    heads: int = 0
    width: int = 0
    strided: bool = False
    low: bool = False

    @property
    def usual(self) -> bool:
        """Whether nothing is odd in what is fed."""
        return not (self.fresh or self.low or self.strided) and self.dtype == "float32" and self.sharp == 1.0

    @property
    def work(self) -> float:
        """What its time grows with, at worst: steps over a growing past, pairs of a prompt, all numbers."""
        steps = self.steps + (0 if self.whole else self.prompt)
        pairs = self.prompt**2 if self.whole else 0
        numbers = self.batch * (self.prompt + self.steps) * max(self.heads, 1) * max(self.width, 1)
        return float(max(steps**1.5 + pairs / 18, numbers / 64))


CASES = (
    Case("from an empty cache, batch 1", 1, 0, 6),
    Case("first steps after a prompt of 7, batch 3", 3, 7, 4),
    Case("prompt of 1, batch 2", 2, 1, 5, whole=False),
    Case("filled exactly, batch 2", 2, 9, 7, spare=0),
    Case("filled exactly again, in another process", 2, 9, 7, spare=0, fresh=True),
    Case("across 32 tokens, fed one by one", 1, 30, 5, whole=False),
    Case("across 64 tokens", 1, 62, 5),
    Case("scores × 100, batch 2", 2, 6, 4, sharp=100.0),
    Case("scores × 1000, batch 2", 2, 6, 4, sharp=1000.0),
    Case("prompt of 5, batch 2, float64", 2, 5, 5, dtype="float64"),
    Case("filled exactly by a prompt of 12 and a step, batch 2", 2, 12, 1, spare=0),
    Case("arrays in other orders of memory, batch 2", 2, 6, 5, strided=True),
    Case(f"all scores {LOW:.0e}, below finite numbers that stand for −inf, batch 2", 2, 6, 3, low=True),
)


@check(
    "incremental_equals_full",
    "decoding equals full attention",
    establishes="Every decode step equals full causal recomputation: 1e-5 in float32, 1e-10 in float64.",
    version=32,
)
def incremental_equals_full(bench: Bench, found: Findings) -> str:
    """Feed prompts and steps; hold each step's rows against attention over all that was fed."""
    subject = Subject.of(bench)
    said = Sentences(found)
    if subject.mode:
        said.append(_caches(subject, found))
        right, sound = found.verdict == Verdict.PASS, found.verdict != Verdict.FAIL
        # Of a cache whose steps are wrong the rest is evidence, and no sentence.
        rest = said if right else Sentences(found)
        judge_prefill(subject, found, rest)
        if sound:
            judge_apart(subject, found, rest)
            judge_layers(subject, found, rest)
            judge_together(subject, found, rest)
        judge_beside(subject, found, said)
    if subject.decodes:
        decoder_steps.judge(subject, found, said)
        if _is_sound(found):
            judge_shapes(subject, found, said)
            judge_alike(subject, found, said)
            alike_blocks.judge(subject, found, said)
            if _is_sound(found):
                coming_and_going.judge(subject, found, said)
    elif subject.mode == "read" and found.verdict == Verdict.PASS:
        raise Unbound("step or attend", bench.bindings.rejected.get("step", ()))
    return said.told()


def _is_sound(found: Findings) -> bool:
    """Whether nothing is wrong so far."""
    return found.verdict is not Verdict.FAIL


def _caches(subject: Subject, found: Findings) -> str:
    worst, limit = Worst(), float32_limit(subject)
    half, own = stores_half(subject), _own_sizes(subject)
    left_out: list[Skipped] = []
    mild: list[float] = []
    closest: list[Rerun] = []
    count = 0
    for index, case in enumerate(CASES):
        if case.low and subject.mode == "read":
            # nothing attends, and what is kept in few bits need not hold such numbers
            continue
        if half and (case.sharp > 1.0 or case.low):
            found.note(
                f"decode steps, {case.words}", "left out", note="scores from float16 keys are too coarse"
            )
            continue
        try:
            with own.pace(case.work):
                one, allowed = _ran(subject, case, str(index))
        except Skipped as fault:
            # How it is fed was guessed; the other cases do without that guess.
            found.note(f"decode steps, {case.words}", "left out", note=fault.message)
            left_out.append(fault)
            continue
        if not _hold(subject, found, case, one, allowed, index):
            continue
        count += 1
        closest = closest or _closest(subject, case, str(index), one, allowed)
        mild += [one.error] if case.dtype == "float32" and case.sharp == 1.0 else []
        # The case that comes nearest to its own limit is the one that is told.
        if case.dtype == "float32" and one.share(allowed) > worst.share(limit):
            worst, limit = one, allowed
    if found.verdict is None and left_out:
        raise left_out[0]
    for further in (_large, _about_own_integers):
        if found.verdict is Verdict.PASS:
            one, allowed, more = further(subject, found, own, closest)
            count += more
            if one.share(allowed) > worst.share(limit):
                worst, limit = one, allowed
    if half:
        found.claim(
            "keys and values are stored as float32 when float32 comes in", False, measured="float16",
            limit="float32", otherwise=Verdict.WARN, note="decode steps are held to 2e-2 instead of 1e-5",
            **subject.where("create", "append"),
        )  # fmt: skip
    if worst.wrong(limit):
        what = "decode steps are" if subject.mode != "read" else "keys and values read back are"
        why = worst.because or _lower_precision(subject, mild, limit)
        closer = "" if why else next(filter(None, (each.why(subject) for each in closest)), "")
        return f"{what} off by {worst.error:.2g} ({worst.where}){why}{closer}"
    if subject.mode == "read":
        return f"keys and values come back as they were fed (error {worst.error:.1g}, limit {limit:.1e})"
    shown = f"decode steps within {worst.error:.1e} of full attention"
    return f"{shown}, worst of {count} cases (limit {limit:.1e})"


def _lower_precision(subject: Subject, errors: Sequence[float], limit: float) -> str:
    """What rounding it is that mild cases are off by, as the end of a sentence."""
    lower = lower_precision(subject) if subject.mode != "read" else None
    off = [error for error in errors if not error <= limit]
    return f": {lower.text}" if lower is not None and lower.explains(off, len(errors)) else ""


def _large(
    subject: Subject, found: Findings, own: OwnSizes, closest: list[Rerun]
) -> tuple[Worst, float, int]:
    """Each axis large in its turn, as far as the budget goes; what it says it does not take is told.

    The first wrong one goes to ``closest``, to be looked at.
    """
    worst, limit, count = Worst(), float32_limit(subject), 0
    whole = subject.cached(Sizes()).can_feed_many
    shapes = subject.bench.sizes("large").each_large(_SMALL, _LARGE)
    for axis, (batch, heads, width, tokens) in zip("BHDS", shapes, strict=True):
        size = dict(zip("BHDS", (batch, heads, width + width % 2, tokens), strict=True))[axis]
        case = Case(
            f"{axis} = {size}", batch, tokens - 2, 2, whole=whole, heads=heads, width=width + width % 2
        )
        if not own.affords(case.work):
            found.note(f"decode steps, {case.words}", "left out", note="too slow to try")
            continue
        try:
            with own.pace(case.work):
                error, allowed = _ran(subject, case, f"large {axis}")
        except Skipped as fault:
            found.note(f"decode steps, {case.words}", "left out", note=fault.message)
            continue
        except Raised as fault:
            holds_less = axis == "S" and not sized(subject.bound.get("create"))
            if not holds_less and not refusal(subject.bench.submission, fault):
                raise
            found.note(f"decode steps, {case.words}", fault.message, note="it does not take so many")
            continue
        _hold(subject, found, case, error, allowed)
        closest += [] if closest else _closest(subject, case, f"large {axis}", error, allowed)
        count += 1
        if error.share(allowed) > worst.share(limit):
            worst, limit = error, allowed
    return worst, limit, count


def _own_sizes(subject: Subject) -> OwnSizes:
    """Axes that an integer of the source may concern; how long it gets, where it is told."""
    told = sized(subject.bound.get("create"))
    return OwnSizes(subject.bench, _AXES | ({"S": (8, 2200)} if told else {}), _MOST_ABOUT)


def _about_own_integers(
    subject: Subject, found: Findings, own: OwnSizes, closest: list[Rerun]
) -> tuple[Worst, float, int]:
    """Sizes about which its source may take another path; the first wrong one goes to ``closest``."""

    def case(one: About) -> Case:
        batch, heads, width = one.at.get("B", 1), one.at.get("H", 0), one.at.get("D", 0)
        # positions that are rotated in pairs need an even width
        case = Case(f"{one.words}: {one}", batch, 3, 3, heads=heads, width=width + width % 2)
        return replace(case, prompt=one.at["S"] - 2, steps=4, whole=whole) if "S" in one.at else case

    whole = subject.cached(Sizes()).can_feed_many
    worst, limit, count = Worst(), float32_limit(subject), 0
    for one in own.each(lambda one: case(one).work):
        with contextlib.suppress(Skipped), own.trying(one, case(one).work):
            error, allowed = _ran(subject, case(one), str(one))
            _hold(subject, found, case(one), error, allowed)
            closest += [] if closest else _closest(subject, case(one), str(one), error, allowed)
            count += 1
            if error.share(allowed) > worst.share(limit):
                worst, limit = error, allowed
    own.tell(found)
    return worst, limit, count


def _only_rounds(subject: Subject, case: Case, index: str) -> bool:
    """Whether the weights of a case that is wrong are all of tokens that are there."""
    layers = _opened(subject, case)
    streams = [(q, k, np.ones_like(v)) for q, k, v in _streams(subject, case, index, layers)]
    outs = []
    for layer, stream in zip(layers, streams, strict=True):
        layer.feed(*cut(stream, 0, case.prompt), whole=case.whole)
        outs += [layer.feed(*cut(stream, t, t + 1)) for t in range(case.prompt, case.prompt + case.steps)]
    return weighs_what_is_there(outs)


def _ran(subject: Subject, case: Case, index: str) -> tuple[Worst, float]:
    """A case, in a process of its own where it says so; one by one where a prompt is not taken at once."""
    if case.fresh:
        with subject.bench.fresh() as worker:
            return _run(subject, case, index, worker)
    try:
        return _run(subject, case, index, None)
    except Skipped:
        if not case.whole or not case.prompt:
            raise
        return _run(subject, replace(case, whole=False), index, None)


def _run(subject: Subject, case: Case, index: str, worker: Any) -> tuple[Worst, float]:
    layers = _opened(subject, case, worker)
    streams = _streams(subject, case, index, layers)
    for layer, (q, k, v) in zip(layers, streams, strict=True):
        layer.feed(*(x[:, :, : case.prompt] for x in (q, k, v)), whole=case.whole)
    worst, plain_error = Worst(), 0.0
    for t in range(case.prompt, case.prompt + case.steps):
        for n, (layer, stream) in enumerate(zip(layers, streams, strict=True)):
            error = _step(layer, stream, t, case, n)
            worst = worst.or_worse(error)
            plain_error = max(plain_error, _plain_error(stream, t, case.dtype))
    if case.dtype == "float32":
        return worst, float32_limit(subject, plain_error)
    return worst, precision(case.dtype).limit(plain_error)


def _opened(subject: Subject, case: Case, worker: Any = None) -> list[Cached]:
    """New layers for a case."""
    sizes = subject.sizes(case.batch, case.prompt + case.steps + case.spare, case.dtype)
    sizes = replace(sizes, heads=case.heads or sizes.heads, head_dim=case.width or sizes.head_dim)
    cached = subject.cached(subject.fitted(sizes), worker)
    cached.strided = case.strided
    return [cached, cached.beside(1)] if cached.has_layers else [cached]


def _streams(subject: Subject, case: Case, index: str, layers: list[Cached]) -> list[Stream]:
    """What each layer is fed."""
    sizes, tokens = layers[0].sizes, case.prompt + case.steps
    streams = [drawn(subject.bench.rng("case", index, n), sizes, tokens) for n in range(len(layers))]
    streams = [((q * case.sharp).astype(case.dtype), k, v) for q, k, v in streams]
    return [lowered(stream) if case.low else stream for stream in streams]


def _closest(subject: Subject, case: Case, index: str, worst: Worst, limit: float) -> list[Rerun]:
    """A wrong case to be looked at closer: with one sequence, of which more can be told, and as it is."""
    if subject.mode == "read" or not case.usual or not worst.wrong(limit):
        return []
    reruns = []
    for each in [replace(case, batch=1), case] if case.batch > 1 else [case]:
        opened = partial(_opened, subject, each)
        streams = _streams(subject, each, index, opened())
        reruns.append(Rerun(opened, streams, case.prompt, case.whole, limit))
    return reruns


def _step(cached: Cached, stream: tuple[Array, Array, Array], t: int, case: Case, layer: int) -> Worst:
    """One decode step, every row of it."""
    q, k, v = stream
    now = slice(t, t + 1)
    out = cached.feed(q[:, :, now], k[:, :, now], v[:, :, now])
    worst = Worst()
    for b in range(case.batch):
        row = slice(b, b + 1)
        held = k[row, :, : t + 1], v[row, :, : t + 1]
        where = f"position {t}, sequence {b}{f', layer {layer}' if cached.has_layers else ''}, {case.words}"
        if cached.mode == "read":
            pair = cached.stored(b)
            errors = [relative_error(x, y.astype(float)) for x, y in zip(pair, held, strict=True)]
            worst = worst.or_worse(Worst.of(errors, f"{where}{_held_instead(pair, held)}"))
            continue
        error = relative_error(out[row], attention(q[row, :, now], *held))
        cause = diagnosis(out[row], q[row, :, now], *held) if not error <= 1e-3 else ""
        worst = worst.or_worse(Worst(error, where, cause))
    return worst


def _held_instead(pair: tuple[Array, Array], held: tuple[Array, Array]) -> str:
    """What is read back, (1, H, N, D) each, in the place of what was fed, as the end of a clause."""
    for name, got, fed in zip(("keys", "values"), pair, held, strict=True):
        told = misplaced(got, fed, _MISPLACED) if got.shape == fed.shape else ""
        if told and not told.endswith(": wrong"):
            return f"; {name}: {told}"
    return ""


def _plain_error(stream: tuple[Array, Array, Array], t: int, dtype: str) -> float:
    q, k, v = stream
    given = q[:, :, t : t + 1], k[:, :, : t + 1], v[:, :, : t + 1]
    return relative_error(plain(*given, dtype=dtype), attention(*given))


def _hold(subject: Subject, found: Findings, case: Case, worst: Worst, limit: float, index: int = 0) -> bool:
    """Hold a case to its limit; whether it shows anything."""
    kind = "attention rows" if subject.mode != "read" else "keys and values read back"
    quantity = f"decode steps, {case.words}: {kind}, largest relative error per row, {case.dtype}"
    where = subject.where()
    if case.low and worst.wrong(limit) and _only_rounds(subject, case, str(index)):
        found.note(quantity, worst.error, limit=limit, note=ROUNDS, **where)
        return False
    if case.dtype == "float32":
        found.limit(quantity, worst.error, limit, note=worst.note, **where)
    else:
        _double(subject, found, quantity, worst, limit, where)
    return True


def _double(
    subject: Subject, found: Findings, quantity: str, worst: Worst, limit: float, where: dict[str, Any]
) -> None:
    """float64 in: a cache that stores float32 by design is told, one that was asked for float64 warns."""
    narrow: Precision = precision("float32")
    if stores_half(subject):
        found.note(quantity, worst.error, limit=limit, note="stored as float16", **where)
        return
    if worst.error <= limit or not worst.error <= narrow.floor:
        found.limit(quantity, worst.error, limit, note=worst.note, **where)
        return
    create = subject.bound.get("create")
    if create is not None and not create.takes("dtype") and subject.mode != "read":
        found.note(
            quantity,
            worst.error,
            limit=limit,
            note="the cache offers no dtype and computes in float32",
            **where,
        )
        return
    if subject.mode == "read":
        found.note(quantity, worst.error, limit=limit, note="stored as float32", **where)
        return
    found.limit(
        quantity, worst.error, limit, otherwise=Verdict.WARN,
        note="float32 arithmetic on float64 input", **where,
    )  # fmt: skip
