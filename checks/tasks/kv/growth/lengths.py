"""How memory and the work of a step grow with length: linearly, and never by computing the past again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Raised, Skipped
from judge_tui.checks.tasks.kv.faces.storage import total
from judge_tui.checks.tasks.kv.growth import decoder_lengths as decoder_growth
from judge_tui.checks.tasks.kv.growth import timed
from judge_tui.checks.tasks.kv.growth.curves import EXPONENT, Work, exponent, law
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.sizes import Sizes, sized
from judge_tui.checks.verdict import Curve, Verdict

__all__ = ["growth"]

Array = npt.NDArray[np.float64]
#: Tokens that are held, threefold each time, from so many on.
_FILLED, _TIMES = (10, 14), (1, 3, 9)
_LENGTHS = (8, 16, 32, 64)
#: How often the work of plain attention a stored token may cost; computing rows again costs its square.
_WORK, _ELEMENTS = 4.0, 16.0
_OWN = "The worker's own figures."


@check(
    "growth",
    "growth with length",
    establishes="Bytes grow linearly with the tokens held, a step's work at most linearly, and no step "
    "computes the past again.",
    version=3,
)
def growth(bench: Bench, found: Findings) -> str:
    """Bytes at three lengths, counted work of a step at four; for a decoder beside that of a prefill."""
    subject = Subject.of(bench)
    said: list[str] = []
    if subject.mode:
        _bytes(subject, found, said)
        if subject.mode != "read":
            _work(subject, found, said)
            if found.verdict == Verdict.PASS:
                timed.judge_caches(subject, found, said)
    if subject.decodes:
        settled = decoder_growth.judge(subject, found, said)
        if found.verdict == Verdict.PASS:
            timed.judge_decoders(subject, found, said)
        if not settled and not subject.mode and found.verdict == Verdict.PASS:
            raise Skipped(
                "whether the decoder's steps compute the past again cannot be seen: neither its work can be "
                "counted nor its weights be reached (its bytes grow linearly)"
            )
    if found.verdict is None:
        raise Skipped("neither its memory nor its work can be reached or counted")
    return "; ".join(said)


def _bytes(subject: Subject, found: Findings, said: list[str]) -> None:
    points: list[tuple[float, float]] = []
    create = subject.bound.get("create")
    for n in _filled(subject):
        # Narrow heads: what grows with the square of the length shows beside the data.
        cached = subject.cached(Sizes(1, 2, n, 2, layers=1))
        # One by one, as a generation goes; what every step leaves behind adds up.
        try:
            cached.feed(*drawn(subject.bench.rng("bytes"), cached.sizes, n), whole=False)
        except Raised as fault:
            if sized(create):
                raise
            found.note(f"{n} tokens", fault.message, note="it holds less, and cannot be told to hold more")
            break
        points.append((float(n), float(total(cached))))
    if len(points) < 2:
        return
    shown = ", ".join(f"{x:.0f}" for x, _y in points)
    quantity = f"bytes held after {shown} tokens fed one by one: exponent of their growth"
    curve = Curve("tokens", "bytes", tuple(points), log_x=True, log_y=True)
    if not points[-1][1]:
        found.note("bytes held", 0, note="what it keeps is not reached through the cache object")
        return
    grown = exponent(points[-2:])
    if grown > EXPONENT and not sized(create):
        grown = _in_steps(subject, grown)
    where = subject.where("append", "step", "create")
    if found.limit(quantity, grown, EXPONENT, curve=curve, note=_shown(points, "B"), **where):
        said.append(f"bytes grow as n^{grown:.2g}" if grown > 0.05 else "bytes are reserved once")
    else:
        said.append(f"bytes grow as n^{grown:.2g}: {_shown(points, 'B')}")


def _filled(subject: Subject) -> list[int]:
    least = subject.between("filled", *_FILLED)
    return [least * times for times in _TIMES]


def _in_steps(subject: Subject, grown: float) -> float:
    """The exponent where room is made ahead, in steps that may be many times what there was."""
    most = _filled(subject)[-1]
    sizes = Sizes(1, 2, most, 2, layers=1)
    cached = subject.cached(sizes)
    q, k, v = drawn(subject.bench.rng("bytes"), cached.sizes, most)
    points = []
    for t in range(most):
        cached.feed(*(x[:, :, t : t + 1] for x in (q, k, v)))
        points.append((float(t + 1), float(total(cached))))
    told = law(points)
    # Room that was made once or twice shows no law: what there is of it, over the tokens, is the most.
    return min(grown, told) if told is not None else min(grown, 1.0)


def _shown(points: Sequence[tuple[float, float]], unit: str) -> str:
    return ", ".join(f"{y:.0f} {unit} at {x:.0f}" for x, y in points)


def _work(subject: Subject, found: Findings, said: list[str]) -> None:
    """Counted work of one step at growing lengths; a step's rows are of one token."""
    wide = subject.sizes(1, _LENGTHS[-1] + 8, layers=1)
    cached = subject.cached(wide, counted=True)
    q, k, v = drawn(subject.bench.rng("work"), wide, _LENGTHS[-1])
    works: list[Work] = []
    for t in range(_LENGTHS[-1]):
        now = slice(t, t + 1)
        cached.counters = []
        try:
            cached.feed(q[:, :, now], k[:, :, now], v[:, :, now])
        except Raised:
            break
        if t + 1 in _LENGTHS:
            works.append(Work.of(cached.counters))
    if len(works) < 3:
        found.note("work of a step", "not counted", note=f"it holds fewer than {_LENGTHS[2]} tokens")
        return
    attended = 2 * wide.heads * wide.head_dim
    if not any(work.products for work in works):
        _elements_alone(subject, found, said, works, attended)
        return
    points = [(float(n), float(work.products)) for n, work in zip(_LENGTHS, works, strict=False)]
    slope = (points[-1][1] - points[-2][1]) / (points[-1][0] - points[-2][0])
    curve = Curve("tokens held", "multiply-adds of one step", tuple(points))
    held = found.limit(
        f"multiply-adds that a stored token adds to a step, over the {attended} of attention "
        f"(2 · {wide.heads} · {wide.head_dim}), "
        f"from {points[-2][0]:.0f} to {points[-1][0]:.0f} tokens",
        slope / attended, _WORK, curve=curve, note=f"{_shown(points, 'multiply-adds')}. {_OWN}",
        **subject.where("step", "attend", "attention"),
    )  # fmt: skip
    grown = exponent(points[1:])
    if held:
        said.append(f"a step's work grows as n^{max(grown, 0.0):.2g}")
    else:
        said.append(
            f"a step's work grows as n^{grown:.2g}: {points[-1][1]:.0f} multiply-adds at "
            f"{points[-1][0]:.0f} tokens, where attention takes {attended * points[-1][0]:.0f}"
        )
    _elements(subject, found, said, works, attended, Verdict.WARN)


def _elements_alone(
    subject: Subject, found: Findings, said: list[str], works: Sequence[Work], attended: int
) -> None:
    """A submission that spells products as sums is held by its element-wise operations."""
    if not any(work.elements for work in works):
        found.note("work of a step", "not counted", note="it computes without array operations")
        said.append("a step's work is not counted: it computes without array operations")
        return
    if _elements(subject, found, said, works, attended, Verdict.FAIL):
        said.append("a step's element-wise operations grow linearly")


def _elements(
    subject: Subject,
    found: Findings,
    said: list[str],
    works: Sequence[Work],
    attended: int,
    otherwise: Verdict,
) -> bool:
    points = [(float(n), float(work.elements)) for n, work in zip(_LENGTHS, works, strict=False)]
    slope = (points[-1][1] - points[-2][1]) / (points[-1][0] - points[-2][0])
    held = found.limit(
        f"elements of element-wise operations that a stored token adds to a step, over {attended}",
        slope / attended, _ELEMENTS, otherwise=otherwise,
        curve=Curve("tokens held", "elements", tuple(points)), note=f"{_shown(points, 'elements')}. {_OWN}",
        **subject.where("step", "attend", "attention"),
    )  # fmt: skip
    if not held:
        said.append(f"a step's element-wise operations grow as n^{exponent(points[1:]):.2g}")
    return held
