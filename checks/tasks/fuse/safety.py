"""Whether a launch stays within its bounds and its threads wait for each other.

The emulator watches every access. On a card bands round the buffers tell writes past them, and NVIDIA's
compute-sanitizer, where it is installed, tells the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.cuda.card import CardProgram
from judge_tui.checks.cuda.emulator import Event
from judge_tui.checks.cuda.sanitizer import TOOLS, find_sanitizer
from judge_tui.checks.errors import EngineError
from judge_tui.checks.tasks.fuse.asking import Asked, Question, ask, case_of, event_line, served, usual
from judge_tui.checks.tasks.fuse.correct import apart, draw
from judge_tui.checks.tasks.fuse.trial import Settled
from judge_tui.checks.verdict import Verdict

__all__ = ["memory_safety"]

_SCHEDULES = (0, 1, 2)
#: Long rows, of which several blocks may have a part, and under how many schedules they are launched.
_LONG, _LONG_SCHEDULES = (2, 50_257), 2
#: Seconds that one of the sanitizer's tools gets.
_WATCHING = 60.0
_MOST_EVENTS = 12
#: Integers of the source that may be how many rows go at once, and how many of them, the largest first.
_FEW_ROWS, _MOST_ROWS, _PAST = 5, 128, 2
#: What comes of NaN is for nobody to say; that it leads nowhere outside is.
_OUTSIDE = frozenset({"out_of_bounds", "illegal_address"})


@check(
    "memory_safety",
    "bounds, races, barriers",
    establishes="No access out of bounds or misaligned, no race within a block or between blocks, no "
    "divergent shuffle, no deadlock; none out of bounds where NaN is among the logits.",
    version=7,
    budget=300,
)
def memory_safety(bench: Bench, found: Findings) -> str:
    """Launch on odd shapes, under several schedules where the emulator chooses them, and watch."""
    settled = served(bench)
    on_card = isinstance(settled.program, CardProgram)
    schedules = _SCHEDULES[:1] if on_card else _SCHEDULES
    questions = list(_questions(bench, settled, schedules))
    asked = ask(bench, settled, questions, seconds=150)
    ran = [each for each in asked if each.answer.status != "not_run"]
    told = [
        (event, _words(each)) for each in ran for event in each.answer.events if not _harmless(event, each)
    ]
    beside = ""
    if isinstance(settled.program, CardProgram):
        more, beside = _sanitized(bench, found, settled, settled.program, questions)
        told += more
    _claimed(found, told)
    _ended(found, settled, ran)
    bad = found.wrong
    found.claim("launches watched", True, measured=len(ran), unit="launches")
    if bad is not None:
        where = f" ({bad.file}:{bad.line})" if bad.file and bad.line else ""
        return f"{bad.quantity}: {bad.measured}{where}"
    if on_card:
        return f"{len(ran)} launches on the card, nothing written beside the buffers; {beside}"
    return f"{len(ran)} launches under {len(schedules)} schedules, every access in bounds, no race"


def _questions(bench: Bench, settled: Settled, schedules: Sequence[int]) -> Iterator[Question]:
    K, most = usual(settled, 10), usual(settled, 256)
    rng = bench.rng("shapes")
    inputs = [
        ("one row", draw(rng, 1, 1000), K),
        ("V odd", apart(rng, 5, 1003), K),
        ("V below a block", draw(rng, 3, max(K, 37)), K),
        ("largest K", draw(rng, 2, max(most, 600)), most),
        ("ties", draw(rng, 2, 515, steps=1), K),
    ]
    for schedule in schedules:
        for label, logits, K in inputs:
            yield Question(f"{label}, schedule {schedule}", logits, K, schedule=schedule)
    long = draw(rng, *_LONG)
    for schedule in schedules[:_LONG_SCHEDULES]:
        yield Question(f"long rows, schedule {schedule}", long, K, schedule=schedule)
    for rows in _many(bench):
        yield Question(f"{rows} rows", draw(rng, rows, max(K, 61)), K)
    some, alone = draw(rng, 3, 600), np.full((1, 600), np.nan, np.float32)
    some[rng.random(some.shape) < 0.3] = np.nan
    yield Question("NaN among the logits", some, K)
    yield Question("NaN alone", alone, K)


def _many(bench: Bench) -> list[int]:
    """Counts of rows beyond what goes at once: one that is odd, and one past integers of the source."""
    known = {each.value for each in bench.integers if _FEW_ROWS < each.value <= _MOST_ROWS}
    past = sorted((value + 1 for value in known), reverse=True)[:_PAST]
    return [bench.sizes("rows").one_of((69, 101, 133)), *past]


def _words(asked: Asked) -> str:
    return f"{asked.question.label} ({asked.question.shape})"


def _harmless(event: Event, asked: Asked) -> bool:
    """Whether it breaks no rule of memory; what was never written may be copied about."""
    if _undefined(asked):
        return event.kind not in _OUTSIDE
    copied = event.kind == "uninitialized_read" and (asked.right or asked.refused)
    return copied or event.kind == "host_copy"


def _undefined(asked: Asked) -> bool:
    """Whether no answer is right, since there is NaN among the logits."""
    return bool(np.isnan(asked.question.logits).any())


def _sanitized(
    bench: Bench, found: Findings, settled: Settled, program: CardProgram, questions: Sequence[Question]
) -> tuple[list[tuple[Event, str]], str]:
    """What compute-sanitizer finds in the same launches, and as a clause what it watched."""
    sanitizer = find_sanitizer()
    if sanitizer is None:
        found.note("compute-sanitizer", "not installed", note="It comes with the CUDA toolkit.")
        return [], "reads and races were not watched: compute-sanitizer is not installed"
    cases = [case_of(settled, each) for each in questions]
    told: list[tuple[Event, str]] = []
    worked = []
    for tool in TOOLS:
        try:
            watched = program.watched(sanitizer, tool, cases, seconds=max(1.0, min(_WATCHING, bench.left)))
        except EngineError as error:
            found.note(f"compute-sanitizer, {tool}", "not run", note=f"{error}.")
            continue
        told += [(event, f"compute-sanitizer's {tool}") for event in watched.events]
        if watched.trouble:
            found.note(f"compute-sanitizer, {tool}", "no report", note=watched.trouble)
        else:
            found.note(f"compute-sanitizer, {tool}", len(watched.events), unit="errors")
            worked.append(tool)
    if not worked:
        return told, "reads and races were not watched: compute-sanitizer did not work"
    return told, f"compute-sanitizer's {', '.join(worked)} found nothing"


def _claimed(found: Findings, told: Iterable[tuple[Event, str]]) -> None:
    """One claim for each kind and place, faults first."""
    seen: dict[tuple[str, str, int], tuple[Event, str]] = {}
    for severity in ("fault", "hazard"):
        for event, words in told:
            if event.severity == severity:
                seen.setdefault((event.kind, event.file, event.line), (event, words))
    for event, words in list(seen.values())[:_MOST_EVENTS]:
        other = f" The other place is {event.other_file}:{event.other_line}." if event.other_file else ""
        found.claim(
            event.kind.replace("_", " "), False, measured=event.text, file=event.file or None,
            line=event.line or None,
            otherwise=Verdict.FAIL if event.severity == "fault" else Verdict.WARN,
            note=f"Block {event.block}, thread {event.thread}; {words}.{other}",
        )  # fmt: skip


def _ended(found: Findings, settled: Settled, ran: Iterable[Asked]) -> None:
    """A claim for each launch that did not end as it should."""
    for each in ran:
        if _undefined(each):
            continue
        if each.answer.status in ("crashed", "failed") or (
            each.answer.status == "timed_out" and not each.undecided
        ):
            file, line = event_line(each.answer, settled.launcher)
            found.claim(
                _words(each), False, measured=each.wrong, limit="ends as it should", file=file,
                line=line or None, output=each.answer.output[:2000],
            )  # fmt: skip
