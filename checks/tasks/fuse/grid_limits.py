"""Whether what is launched for many rows, or for long ones, is a launch that there is: cards refuse some."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.cuda.card import CardProgram
from judge_tui.checks.cuda.emulator import Answer, Case, Event
from judge_tui.checks.tasks.fuse.asking import Question, case_of, usual
from judge_tui.checks.tasks.fuse.driver import UNSAID, encoded
from judge_tui.checks.tasks.fuse.trial import Settled
from judge_tui.checks.verdict import Verdict

__all__ = ["grid_limits"]

#: A grid's y and z have so many blocks at most; tried with so many rows to a block as well.
_LIMIT, _ROWS_TO_A_BLOCK = 65_535, 8
#: A short row and a long one, which may be cut into parts of blocks of their own: all rows have fewer than
#: 2³¹ logits.
_SHORT, _LONG = 64, 32_256
#: A row of which no block holds all logits in the shared memory that it has without asking for more.
_VOCABULARY = 128_256
_SECONDS = 20.0
_MOST = f"{_LIMIT:,} blocks in y and z"
#: What a card gives for a launch that is no configuration of one.
_INVALID_CONFIGURATION = 9


@dataclass(frozen=True, slots=True)
class _Many:
    """A launch of many rows.

    Attributes:
        rows: How many.
        V: Logits of each.
        sequences: Whether every row is a sequence of its own; else they are one sequence.
    """

    rows: int
    V: int
    sequences: bool = False

    @property
    def words(self) -> str:
        """B, T and V."""
        B, T = (self.rows, 1) if self.sequences else (1, self.rows)
        return f"B = {B:,}, T = {T:,}, V = {self.V:,}"

    def case(self, settled: Settled, K: int) -> Case:
        """It as the program takes it: looked at by the emulator, and really launched on a card."""
        on_card = isinstance(settled.program, CardProgram)
        logits = np.zeros((self.rows if on_card else 1, self.V), np.float32)
        case = case_of(settled, Question(self.words, logits, K))
        coded = encoded(K, 0, sequences=self.sequences)
        return Case(logits, coded, case.stride, case.index_dtype, planned=0 if on_card else self.rows)


def grid_limits(bench: Bench, found: Findings, settled: Settled) -> str:
    """Ask for more rows than a grid's y or z has blocks, and tell what no card would launch.

    A launcher that says by itself that it does not take so many rows refuses them, which is no failure; so is
    none what it does for itself after a launch was refused. A batch of so many sequences only warns.

    Args:
        bench: Where it is judged.
        found: Is told.
        settled: How the submission is launched.

    Returns:
        The first such launch as a sentence; empty where there is none.
    """
    launcher = settled.launcher
    if launcher.kernel:
        # its grid is the judge's
        return ""
    many = list(_many(bench, settled))
    cases = [each.case(settled, usual(settled, 10, most=_SHORT)) for each in many]
    answers = settled.program.run(cases, budget_s=max(1.0, min(_SECONDS, bench.left - 2)))
    told = ""
    for each, answer in zip(many, answers, strict=True):
        title = f"what is launched for {each.words} is a launch that there is"
        event = _refused(answer)
        if event is None:
            found.note(title, _otherwise(answer), file=launcher.file, line=launcher.line or None)
            continue
        why = event.text if each.rows > 1 else f"more shared memory than there is ({event.text})"
        measured = f"{why}: every GPU refuses the launch, and nothing is written"
        found.claim(
            title, False, measured=measured, limit=_MOST if each.rows > 1 else "what a block has",
            file=event.file or launcher.file, line=event.line or launcher.line or None,
            otherwise=Verdict.WARN if each.sequences else Verdict.FAIL, note=_said(answer),
        )  # fmt: skip
        told = told or f"{each.words}: {measured}"
    return told


def _many(bench: Bench, settled: Settled) -> Iterator[_Many]:
    """Odd numbers of rows, which the driver hands over as one sequence."""
    sizes = bench.sizes("grid limits")
    rows = 2 * sizes.between(_LIMIT // 2 + 1, _LIMIT // 2 + 500) + 1
    yield _Many(rows, _SHORT)
    if isinstance(settled.program, CardProgram):
        return
    yield _Many(1, _VOCABULARY)
    yield _Many(rows, _LONG)
    half = _LIMIT * _ROWS_TO_A_BLOCK // 2
    yield _Many(2 * sizes.between(half + 1, half + 4000) + 1, _SHORT)
    if {"B", "T"} <= set(settled.launcher.args):
        yield _Many(rows, _SHORT, sequences=True)


def _refused(answer: Answer) -> Event | None:
    """The launch that was refused, and not made otherwise by who had read of it."""
    for event in answer.events:
        if event.kind == "refused_launch" and event.severity == "fault":
            return event
    invalid = answer.status == "refused" and answer.code % UNSAID == _INVALID_CONFIGURATION
    if invalid and answer.indices is not None:
        return Event("refused_launch", "fault", "no configuration of a launch by the card's own word")
    return None


def _otherwise(answer: Answer) -> str:
    """What else came of it."""
    match answer.status:
        case "done":
            return "it is"
        case "refused":
            return f"refused with code {answer.code % UNSAID}"
    return "not seen: what is launched depends on what was computed before, or takes too long to come to"


def _said(answer: Answer) -> str:
    match answer.status:
        case "refused" if answer.code < UNSAID:
            return f"It gives the code {answer.code}."
        case "refused" | "done":
            return "And no code says so."
    return ""
