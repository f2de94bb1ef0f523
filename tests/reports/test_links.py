"""Every cell leads: scores to what was said, verdicts to figures, figures and notes to lines of code."""

from __future__ import annotations

import pytest

from judge_tui.judging.summaries.parts import Code, Criteria, Heading, Notes, Report, Table
from judge_tui.reports.rendering import html
from tests.reports.judged import LINE, MODELS, SHAPES
from tests.reports.pages import Page


@pytest.mark.parametrize("shape", SHAPES)
def test_every_link_has_its_anchor_and_every_anchor_is_one(judged: dict[str, Report], shape: str) -> None:
    page = Page(html(judged[shape]))
    assert len(page.anchors) == len(set(page.anchors))
    assert "" not in page.anchors
    assert page.links
    assert {link for link in page.links if not link.startswith("#")} == set()
    assert {link.removeprefix("#") for link in page.links} <= set(page.anchors)


def _sections(report: Report) -> set[str]:
    return {part.anchor for part in report.parts if isinstance(part, Heading) and part.level == 3}


@pytest.mark.parametrize("shape", ["head-to-head", "round"])
def test_a_score_leads_to_what_was_said_of_the_submission(judged: dict[str, Report], shape: str) -> None:
    report = judged[shape]
    table = next(part for part in report.parts if isinstance(part, Table) and part.head[0] == "Dimension")
    *dimensions, points = table.rows
    assert len(dimensions) == 3
    own = {cell.own for part in report.parts if isinstance(part, Table) for row in part.rows for cell in row}
    for name, row in zip(("correctness", "code_quality", "tests"), dimensions, strict=True):
        assert [cell.anchor for cell in row[1:]] == [f"said-kv-{model}-{name}" for model in MODELS]
        assert {cell.anchor for cell in row[1:]} <= own
    assert [cell.anchor for cell in points[1:]] == [f"kv-{model}" for model in MODELS]
    assert {f"kv-{model}" for model in MODELS} <= _sections(report)


def test_a_criterion_of_two_leads_to_what_was_said_of_each(judged: dict[str, Report]) -> None:
    report = judged["two-way"]
    (criteria,) = {part.anchors for part in report.parts if isinstance(part, Criteria)}
    assert criteria == ("kv-glm5", "kv-qwen36")
    assert set(criteria) <= _sections(report)
    assert '<a href="#kv-qwen36">✓ a view</a>' in html(report)


@pytest.mark.parametrize("shape", ["two-way", "head-to-head", "round"])
def test_a_note_on_a_line_leads_to_it(judged: dict[str, Report], shape: str) -> None:
    report = judged[shape]
    code = {part.anchor: part for part in report.parts if isinstance(part, Code)}
    notes = [part for part in report.parts if isinstance(part, Notes) and part.kind in ("bug", "critical")]
    assert notes
    for bullet in (bullet for part in notes for bullet in part.bullets):
        shown = code[bullet.anchor]
        assert [shown.lines[number - shown.first] for number in shown.marked] == [LINE]


def test_a_verdict_leads_to_its_figures_and_those_to_curves_and_code(judged: dict[str, Report]) -> None:
    report = judged["metrics"]
    verdicts, figures = (part for part in report.parts if isinstance(part, Table))
    assert {cell.anchor for cell in verdicts.rows[0][1:]} == {"figures-kv-growth"}
    assert {cell.anchor for cell in verdicts.rows[1]} == {""}
    first, second = figures.rows
    assert (first[0].own, first[0].anchor) == ("figures-kv-growth", "plot-kv-growth")
    assert (second[0].own, second[0].anchor) == ("", "")
    (code,) = (part for part in report.parts if isinstance(part, Code))
    assert [cell.anchor for cell in first[4:]] == ["", "", code.anchor]
    assert [code.lines[number - code.first] for number in code.marked] == [LINE]
