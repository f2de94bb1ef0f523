"""Asking a launcher for answers, and judging them: what every check that runs a kernel shares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.cuda.emulator import Answer, Case, Event
from judge_tui.checks.faults import Skipped
from judge_tui.checks.tasks.fuse.answers import Entries, entries
from judge_tui.checks.tasks.fuse.driver import UNSAID, encoded
from judge_tui.checks.tasks.fuse.launcher import Launcher, stride_of
from judge_tui.checks.tasks.fuse.reference import Compared, compared
from judge_tui.checks.tasks.fuse.running import launches
from judge_tui.checks.tasks.fuse.trial import Settled
from judge_tui.checks.verdict import Verdict

__all__ = ["LIMIT", "Asked", "Question", "ask", "case_of", "event_line", "judged", "served", "usual"]

#: p = exp(x − lse), relative error in float32, as the challenge states it.
LIMIT = 1e-5
_EVENTS = 6
#: Logits of a launch that ends in the emulator within seconds, whatever the kernel.
_SMALL = 10_000
#: Processor time that a launch must have had before its not ending says anything.
_OWN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Question:
    """One launch.

    Attributes:
        label: Its input in words.
        logits: (rows, V) float32.
        K: Number of entries.
        variant: Number of the launcher.
        schedule: Order in which threads run; 0 is lockstep.
    """

    label: str
    logits: npt.NDArray[np.float32]
    K: int
    variant: int = 0
    schedule: int = 0

    @property
    def shape(self) -> str:
        """Rows, V and K in words."""
        return f"{len(self.logits)} × {self.logits.shape[1]}, K = {self.K}"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its answer.

    Attributes:
        question: What was asked.
        answer: What came back.
        read: The entries, where there are outputs.
        compared: They beside the truth.
    """

    question: Question
    answer: Answer
    read: Entries | None = None
    compared: Compared | None = None

    @property
    def refused(self) -> bool:
        """Whether the launcher gave an error code, and wrote nothing."""
        nothing = self.read is None or bool(self.read.unwritten.all())
        return self.answer.status == "refused" and self.answer.code < UNSAID and nothing

    @property
    def undecided(self) -> bool:
        """Whether it was not run, did not end on large input, or the machine had no time for it."""
        size = self.question.logits.size
        stuck = any(event.kind == "deadlock" for event in self.answer.events)
        busy = self.answer.cpu_seconds < _OWN_SECONDS
        slow = self.answer.status == "timed_out" and not stuck and (size > _SMALL or busy)
        return slow or self.answer.status == "not_run"

    @property
    def rows_right(self) -> int:
        """Rows whose indices and probabilities are right."""
        return int(self.compared.right(LIMIT).sum()) if self.compared is not None else 0

    @property
    def right(self) -> bool:
        """Whether every row is."""
        return self.answer.status == "done" and self.rows_right == len(self.question.logits)

    @property
    def wrong(self) -> str:
        """What is wrong, as a clause; empty when nothing is."""
        if self.answer.status in ("crashed", "timed_out"):
            return _end(self.answer)
        if self.answer.status == "failed":
            return f"the launch ends in error {self.answer.device_error}{_last_fault(self.answer)}"
        if self.answer.code >= UNSAID:
            why = next((event.text for event in self.answer.events if event.kind == "api_error"), "")
            told = f"{self.answer.code - UNSAID}{f', {why}' if why else ''}"
            return f"the launch is refused (error {told}), and the launcher says that all went well"
        if self.compared is None or self.answer.status == "refused":
            return f"refused with code {self.answer.code}"
        chosen = self.compared.chosen
        if not chosen.all():
            row = int(np.argmin(chosen))
            rows = int((~chosen).sum())
            told = f"{rows} of {len(chosen)} rows" if len(chosen) > 1 else "the row"
            return f"{told} wrong, row {row}: {self.compared.told(row)}"
        error = float(self.compared.error.max())
        if error <= LIMIT:
            return ""
        off = "probabilities are wrong" if np.isinf(error) else f"probabilities {error:.2g} off"
        return f"{off}: {self.compared.because}" if self.compared.because else off


def ask(
    bench: Bench, settled: Settled, questions: Sequence[Question], *, seconds: float = 90.0
) -> list[Asked]:
    """Launch, and hold every answer against the truth.

    Args:
        bench: Whose time it takes.
        settled: How the submission is launched.
        questions: What to launch.
        seconds: At most, for all of them.

    Raises:
        Skipped: There was no time to launch anything.
    """
    cases = [case_of(settled, each) for each in questions]
    answers = settled.program.run(cases, budget_s=max(1.0, min(seconds, bench.left - 2)))
    asked = [_read(settled, each, answer) for each, answer in zip(questions, answers, strict=True)]
    if all(each.answer.status == "not_run" for each in asked):
        raise Skipped("the time ran out before anything was launched")
    return asked


def case_of(settled: Settled, question: Question) -> Case:
    """A question as the program takes it.

    Args:
        settled: How the submission is launched.
        question: What to launch.
    """
    launcher = settled.launchers[question.variant]
    index: Literal["int32", "int64"] = "int64" if launcher.index == "int64" else "int32"
    coded, stride = encoded(question.K, question.variant), stride_of(launcher.stride, question.K)
    return Case(question.logits, coded, stride, index, question.schedule)


def _read(settled: Settled, question: Question, answer: Answer) -> Asked:
    if answer.indices is None or answer.probabilities is None:
        return Asked(question, answer)
    rows = len(question.logits)
    stride = stride_of(settled.launchers[question.variant].stride, question.K)
    read = entries(answer, rows, question.K, stride)
    return Asked(
        question, answer, read,
        compared(question.logits, question.K, read.indices, read.probabilities, read.unwritten),
    )  # fmt: skip


def served(bench: Bench) -> Settled:
    """How the submission is launched, where it answers anything at all.

    Raises:
        Skipped: It refuses every K that the trial asked for.
        Unbound: Nothing that could be launched was found.
    """
    settled = launches(bench)
    if not settled.answered and settled.refused:
        codes = ", ".join(f"K = {K}: {code}" for K, code in list(settled.refused.items())[:4])
        raise Skipped(f"{settled.launcher.name} refuses every K that was tried ({codes})")
    return settled


def usual(settled: Settled, near: int = 10, least: int = 1, most: int = 1 << 20) -> int:
    """A number K that the launcher serves, as near to one as may be.

    Args:
        settled: How the submission is launched.
        near: The wanted one.
        least: The smallest allowed.
        most: The largest allowed.
    """
    known = [K for K in (settled.answered or settled.launcher.instances or (near,)) if least <= K <= most]
    return min(known or [near], key=lambda K: (abs(K - near), K))


def judged(
    found: Findings,
    settled: Settled,
    asked: Iterable[Asked],
    quantity: str = "",
    *,
    otherwise: Verdict = Verdict.FAIL,
) -> list[Asked]:
    """Claim of each answer that every row is right; what was refused or not run decides nothing.

    Args:
        found: Evidence goes there.
        settled: How the submission is launched.
        asked: The answers.
        quantity: In front of each label.
        otherwise: The verdict of a wrong one.

    Returns:
        Those that are wrong.
    """
    wrong = []
    for each in asked:
        launcher = settled.launchers[each.question.variant]
        title = ": ".join(part for part in (quantity, each.question.label) if part)
        if each.undecided or each.refused:
            told = "refused" if each.refused else "not run: the time was up"
            found.note(title, told, note=_code(each.answer))
            continue
        file, line = event_line(each.answer, launcher)
        rows = len(each.question.logits)
        found.claim(
            f"{title} ({each.question.shape}), rows right", each.right,
            measured=each.rows_right if each.compared is not None else each.wrong, limit=rows,
            unit="rows" if each.compared is not None else "", file=file, line=line or None,
            note=_note(each), otherwise=otherwise, output=_told(each.answer),
        )  # fmt: skip
        wrong += [] if each.right else [each]
    return wrong


def _end(answer: Answer) -> str:
    """Why a launch did not come to its end: what the emulator saw last, or how the process ended."""
    seen = [event.text for event in answer.events if event.severity == "fault"]
    if answer.status == "crashed" and seen:
        return seen[-1]
    return answer.ended or answer.status.replace("_", " ")


def _last_fault(answer: Answer) -> str:
    """What ended a launch and where, behind a colon; empty where nothing was seen."""
    seen = [event for event in answer.events if event.severity == "fault" and "race" not in event.kind]
    if not seen:
        return ""
    place = f" ({seen[-1].file}:{seen[-1].line})" if seen[-1].file and seen[-1].line else ""
    return f": {seen[-1].text}{place}"


def _code(answer: Answer) -> str:
    given = answer.status == "refused" and answer.code < UNSAID
    return f"It gives the code {answer.code}." if given else ""


def _note(asked: Asked) -> str:
    if asked.compared is None:
        return _end(asked.answer)
    if asked.wrong:
        return f"{asked.wrong[0].upper()}{asked.wrong[1:]}."
    return f"Probabilities at most {asked.compared.error.max():.2g} off, relatively."


def event_line(answer: Answer, launcher: Launcher) -> tuple[str, int]:
    """Where an answer's first fault stands; the launcher's own line where there is none."""
    for severity in ("fault", "hazard"):
        for event in answer.events:
            if event.severity == severity and event.file and event.line:
                return event.file, event.line
    return launcher.file, launcher.line


def _told(answer: Answer) -> str:
    events = [_event(each) for each in answer.events if each.severity != "note"][:_EVENTS]
    return "\n".join([*events, answer.output[:2000]]).strip()


def _event(event: Event) -> str:
    place = f"{event.file}:{event.line}: " if event.file else ""
    return f"{place}{event.kind.replace('_', ' ')}: {event.text}"
