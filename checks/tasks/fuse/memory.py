"""What a launch takes and reads: no softmax of the whole row in memory, few passes over V."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.cuda.constants import integer
from judge_tui.checks.cuda.lexing import blanked
from judge_tui.checks.cuda.repairs import lines_in_front
from judge_tui.checks.faults import Skipped
from judge_tui.checks.tasks.fuse.asking import Question, ask, served, usual
from judge_tui.checks.tasks.fuse.correct import draw
from judge_tui.checks.tasks.fuse.running import others
from judge_tui.checks.tasks.fuse.subject import Subject, subject_of
from judge_tui.checks.tasks.fuse.trial import Settled
from judge_tui.checks.verdict import Verdict

__all__ = ["global_passes", "no_materialize"]

_SIZES = ((4, 20_000), (4, 40_000), (8, 40_000))
#: Share of rows · V floats that scratch memory may reach, and a row of the smallest vocabulary of the checks.
_SHARE = 0.25
_ROW = 50_257
_STATIC = re.compile(r"__device__\s+(?:static\s+)?(?:float|double|__half|half)\s+\w+\s*((?:\[[^\]]*\]\s*)+)")
_COUNTED = (4, 10_000)
#: Rows and V well past a card's cache, the schedule that stands for timing, and what one pass may take.
_PASSES, _TIMED, _ONE_PASS = (200, 128_256), -1, 1.5


@check(
    "no_materialize",
    "no softmax in global memory",
    establishes="Device memory that a launch allocates stays far below rows · V floats.",
    version=3,
    budget=240,
)
def no_materialize(bench: Bench, found: Findings) -> str:
    """Measure the peak at three sizes, and look for device arrays that hold a row."""
    settled = served(bench)
    launcher = settled.launcher
    K = usual(settled, 10)
    rng = bench.rng("sizes")
    asked = ask(bench, settled, [Question(f"{r} × {V}", draw(rng, r, V), K) for r, V in _SIZES])
    peaks: list[tuple[int, int]] = []
    for (rows, V), each in zip(_SIZES, asked, strict=True):
        if each.undecided or each.refused:
            continue
        whole = rows * V * 4
        peaks.append((whole, each.answer.peak_bytes))
        found.limit(
            f"peak beyond inputs and outputs at {rows} × {V}", each.answer.peak_bytes, int(whole * _SHARE),
            unit="B", file=launcher.file, line=launcher.line or None,
            note=f"The softmax of all rows takes {whole} B.",
        )  # fmt: skip
    if not peaks:
        raise Skipped("no launch large enough was answered")
    held = _static(found, subject_of(bench))
    largest = max(peak for _whole, peak in peaks)
    if found.verdict is Verdict.PASS:
        return f"at most {largest} B of scratch memory, a softmax of all rows takes {peaks[-1][0]} B"
    if held:
        return f"a device array of {held} entries holds a whole row"
    return f"{largest} B of scratch memory, {largest / peaks[-1][0]:.2g} of rows · V floats"


def _static(found: Findings, subject: Subject) -> int:
    """Entries of the largest array in global memory that the sources declare."""
    largest = 0
    for file, data in subject.mended.files.items():
        text = blanked(data.decode("utf-8", "replace"))
        for match in _STATIC.finditer(text):
            if "__shared__" in match[0] or "__constant__" in match[0]:
                continue
            entries = 1
            for part in re.findall(r"\[([^\]]*)\]", match[1]):
                entries *= integer(part, subject.reading.constants) or 0
            line = text.count("\n", 0, match.start()) + 1 - lines_in_front(data)
            if entries:
                found.limit(
                    "entries of a device array", entries, _ROW - 1, unit="entries", file=file,
                    line=line, note="Held against a row of V = 50257.",
                )  # fmt: skip
            largest = max(largest, entries if entries >= _ROW else 0)
    return largest


@check(
    "global_passes",
    "effective reads of V",
    establishes="How often the logits are read: kernel time over the time of one copy of the same bytes.",
    version=2,
    budget=120,
    optional=True,
)
def global_passes(bench: Bench, found: Findings) -> str:
    """Time a launch and a copy of the logits on the card, well past its cache; never run on one so far."""
    subject_of(bench)
    if bench.backend != "gpu":
        raise Skipped(f"needs a GPU: the time of a launch against that of a copy{_counted(bench, found)}")
    settled = served(bench)
    rows, V = _PASSES
    logits = draw(bench.rng("passes"), rows, V)
    passes = _timed(bench, found, settled, logits)
    found.limit(
        "effective reads of V", passes, _ONE_PASS, otherwise=Verdict.WARN,
        note="An online recurrence needs one.", **_place(settled),
    )  # fmt: skip
    beside = ""
    for other in others(bench):
        with contextlib.suppress(Skipped):
            more = _timed(bench, found, other, logits)
            found.note(f"effective reads of V, {other.launcher.name}", more, **_place(other))
            beside += f"; {other.launcher.name} beside it {more:.2g}"
    return f"{passes:.2g} effective reads of V at {rows} × {V}{beside}"


def _timed(bench: Bench, found: Findings, settled: Settled, logits: npt.NDArray[np.float32]) -> float:
    """Passes over V that a launch takes the time of.

    Raises:
        Skipped: It was not timed.
    """
    (asked,) = ask(bench, settled, [Question("timed", logits, usual(settled, 10), schedule=_TIMED)])
    told = next((event.text.split() for event in asked.answer.events if event.kind == "timing"), [])
    try:
        launch, copy = (float(part) for part in told)
    except ValueError:
        raise Skipped(f"the launch was not timed: {asked.wrong or 'no clock on the card'}") from None
    name, shape = settled.launcher.name, f"{len(logits)} × {logits.shape[1]}"
    found.note(f"seconds of a launch of {name}, best of ten", launch, unit="s", note=shape)
    found.note("seconds of a copy on the device, best of ten", copy, unit="s", note=f"{logits.nbytes} B")
    # a copy reads and writes: its time is that of two passes
    return 2 * launch / copy if copy > 0 else float("inf")


def _counted(bench: Bench, found: Findings) -> str:
    """How often kernels load each logit, as the emulator counts it: evidence, for a cache may serve some."""
    if bench.backend != "emulator":
        return ""
    rows, V = _COUNTED
    logits = draw(bench.rng("counted"), rows, V)
    told = ""
    for number, settled in enumerate((served(bench), *others(bench))):
        (asked,) = ask(bench, settled, [Question("counted", logits, usual(settled, 10))], seconds=60)
        loaded, name = asked.answer.input_bytes / logits.nbytes, settled.launcher.name
        if not loaded or asked.answer.status != "done":
            continue
        found.note(
            f"loads per logit of {name}, counted by the emulator", loaded, **_place(settled),
            note=f"{rows} × {V}; what a cache serves is counted too.",
        )  # fmt: skip
        told += f", {loaded:.3g} of {name}" if number else f"; {loaded:.3g} loads per logit are counted"
    return told


def _place(settled: Settled) -> dict[str, Any]:
    return {"file": settled.launcher.file, "line": settled.launcher.line or None}
