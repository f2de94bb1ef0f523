"""A report that went through JSON is the one that it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.judging.summaries.asked import Asked, report_of
from judge_tui.judging.workspace import Workspace
from judge_tui.reports.data import as_json
from judge_tui.reports.reading import read_report

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("shape", ["two-way", "head-to-head", "round", "combined", "standings"])
def test_it_comes_back_as_it_went(shape: str) -> None:
    models = ("glm5", "qwen36") if shape == "two-way" else ()
    report = report_of(Workspace.find(explicit=ROOT), Asked(shape, models))
    assert read_report(as_json(report)) == report


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"parts": [{"part": "poem"}]}', '{"parts": 3}'])
def test_what_is_none_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="no report"):
        read_report(text)
