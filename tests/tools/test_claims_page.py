"""docs/claims.md: every claim of the analyses stands on it once; what needs no run is measured again."""

from __future__ import annotations

import re

import pytest

from judge_tui.checks.task import load_task, task_names
from tools.claims import page
from tools.claims.claim import REASONS
from tools.claims.runs import Runs
from tools.claims.sections import SECTIONS

PAGE = page.PAGE.read_text()
CLAIMS = [(1, 26), (30, 56), (60, 89), (100, 118), (120, 134), (140, 156), (160, 168)]
WANTED = [f"C{n:03}" for low, high in CLAIMS for n in range(low, high + 1)] + [
    f"X{n:02}" for n in range(1, 57)
]
ROWS = [re.split(r"(?<!\\)\|", line)[1:-1] for line in PAGE.splitlines() if re.match(r"\| [CX]\d", line)]


def test_every_claim_and_contradiction_is_on_the_page_once() -> None:
    assert sorted(row[0].strip() for row in ROWS) == sorted(WANTED)


def test_the_page_has_the_claims_in_the_words_of_their_measurement() -> None:
    written = [[cell.strip() for cell in row[:3]] for row in ROWS]
    entered = [[c.ident, c.models, c.says] for section in SECTIONS for c in section.claims]
    assert written == entered


def test_what_was_measured_has_a_verdict_and_what_was_not_has_a_reason() -> None:
    reasons = set(REASONS)
    for ident, _about, _claim, measured, by, end in ([cell.strip() for cell in row] for row in ROWS):
        assert end, ident
        if measured == "–":
            assert by == "–", ident
            assert end in reasons, ident
        else:
            assert end not in reasons, ident
            assert ident[0] == "X" or end in {"yes", "partly", "**no**"}, ident
            assert not end.startswith("**open**"), f"{ident}: {end}"


def test_checks_that_are_named_exist() -> None:
    known = {check.id for name in task_names() for check in load_task(name).checks} | page.PLAIN
    for section in SECTIONS:
        for claim in section.claims:
            assert set(claim.by.split(", ")) - {""} <= known, claim.ident


@pytest.mark.parametrize("name", ["scores", "scores-x"])
def test_tables_that_need_no_run_are_up_to_date(name: str) -> None:
    section = next(s for s in SECTIONS if s.name == name)
    assert page.between(PAGE, name, page.table(section, Runs(()))) == PAGE
