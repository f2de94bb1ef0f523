"""What ``memory_safety`` says of a launch on a card: its buffers' bands, and compute-sanitizer's word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.cuda.card import CardProgram, Watched
from judge_tui.checks.cuda.emulator import Answer, Case, Event
from judge_tui.checks.cuda.sanitizer import TOOLS, Sanitizer, Tool
from judge_tui.checks.errors import EngineError
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.fuse import safety
from judge_tui.checks.tasks.fuse.contract import CONTRACT
from judge_tui.checks.tasks.fuse.trial import Settled
from judge_tui.checks.verdict import Verdict

from .test_counts import Counting, settled

RACE = Event("race", "fault", "write and read of shared memory that nothing orders", "a.cu", 3)
LUCK = Event("race", "hazard", "read and write of shared memory that nothing orders", "a.cu", 4)
BANDS = Event("out_of_bounds", "fault", "8 bytes beside the indices were written")
CLEAN: Mapping[Tool, Watched] = dict.fromkeys(TOOLS, Watched())


class OnACard(CardProgram):
    """Right answers, with events of one's choice, and canned words for the sanitizer's."""

    def __init__(self, words: Mapping[Tool, Watched], *events: Event) -> None:
        super().__init__(b"")
        self.words, self.events = words, events

    def run(self, cases: Sequence[Case], *, budget_s: float) -> list[Answer]:
        assert {case.schedule for case in cases} == {0}, "a card chooses its own order"
        right = Counting("given > 0 ? 0", right=True).run(cases, budget_s=budget_s)
        return [
            Answer(each.status, indices=each.indices, probabilities=each.probabilities, events=self.events)
            for each in right
        ]

    def watched(self, by: Sanitizer, tool: Tool, cases: Sequence[Case], *, seconds: float) -> Watched:
        if tool not in self.words:
            raise EngineError("a program that watches another runs in bubblewrap alone")
        return self.words[tool]


def said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: CardProgram, *, installed: bool = True
) -> tuple[Findings, str]:
    folder = tmp_path / "somebody" / "fuse"
    folder.mkdir(parents=True)
    known = settled("int")
    there = Settled(known.launchers, program, known.answered, known.refused)
    monkeypatch.setattr(safety, "served", lambda bench: there)
    found_one = Sanitizer(tmp_path / "compute-sanitizer", tmp_path) if installed else None
    monkeypatch.setattr(safety, "find_sanitizer", lambda: found_one)
    found = Findings()
    bench = Bench(Submission.at(folder), CONTRACT, seed=3)
    return found, safety.memory_safety.body(bench, found)


def test_what_the_sanitizer_finds_fails_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = OnACard({**CLEAN, "racecheck": Watched((RACE,))})
    found, summary = said(tmp_path, monkeypatch, program)
    assert found.verdict is Verdict.FAIL
    assert summary == f"race: {RACE.text} (a.cu:3)"
    assert found.wrong is not None
    assert "racecheck" in found.wrong.note


def test_a_race_that_luck_may_decide_warns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, _summary = said(tmp_path, monkeypatch, OnACard({**CLEAN, "racecheck": Watched((LUCK,))}))
    assert found.verdict is Verdict.WARN


def test_nothing_found_passes_and_says_who_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, summary = said(tmp_path, monkeypatch, OnACard(CLEAN))
    assert found.verdict is Verdict.PASS
    assert "compute-sanitizer's memcheck, racecheck, synccheck found nothing" in summary


def test_without_the_sanitizer_the_bands_decide_and_what_was_not_watched_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, summary = said(tmp_path, monkeypatch, OnACard({}), installed=False)
    assert found.verdict is Verdict.PASS
    assert "reads and races were not watched: compute-sanitizer is not installed" in summary


def test_damaged_bands_fail_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, summary = said(tmp_path, monkeypatch, OnACard({}, BANDS), installed=False)
    assert found.verdict is Verdict.FAIL
    assert "8 bytes beside the indices" in summary


@pytest.mark.parametrize("words", [{}, dict.fromkeys(TOOLS, Watched(trouble="no report"))])
def test_a_sanitizer_that_does_not_work_is_no_clean_bill(
    words: Mapping[Tool, Watched], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, summary = said(tmp_path, monkeypatch, OnACard(words))
    assert found.verdict is Verdict.PASS
    assert "not watched: compute-sanitizer did not work" in summary
    assert {each.measured for each in found.evidence if "sanitizer" in each.quantity} <= {
        "not run", "no report"
    }  # fmt: skip
