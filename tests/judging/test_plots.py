"""Plots are plain figures with units, and there is none where there is nothing to see."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.verdict import Curve, Evidence, Outcome, Verdict
from judge_tui.judging.scorecard import save_scorecard
from judge_tui.judging.summaries.asked import Asked, report_of
from judge_tui.judging.summaries.gathered import gathered
from judge_tui.judging.summaries.head_to_head import head_to_head
from judge_tui.judging.summaries.parts import (
    PLOTS,
    Bars,
    Curves,
    Group,
    Intervals,
    Matrix,
    Plot,
    Report,
    Table,
)
from judge_tui.judging.summaries.plots import curves_of
from judge_tui.judging.workspace import Workspace
from tests.reports.judged import MODELS, judged_workspace, reports


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_TUI_CACHE", str(tmp_path_factory.mktemp("cache")))
        return reports(judged_workspace(tmp_path_factory.mktemp("judged") / "ws"))


def _plots(report: Report) -> list[Plot]:
    return [part for part in report.parts if isinstance(part, PLOTS)]


def _score(workspace: Workspace, model: str, **scores: int) -> None:
    card, stamp = workspace.scorecard("kv", model, "anna")
    for dimension, score in scores.items():
        card = card.with_score(dimension, score)
    card = card.judged_under(workspace.rubric("kv"), workspace.submission(model, "kv").digest)
    save_scorecard(workspace.scorecard_path("kv", model, "anna"), card, stamp)


@pytest.mark.parametrize(
    ("shape", "kinds"),
    [
        ("two-way", []),
        ("head-to-head", [Bars]),
        ("round", [Bars]),
        ("combined", []),
        ("standings", [Intervals, Matrix, Matrix]),
        ("metrics", [Curves]),
    ],
)
def test_each_shape_has_the_plots_that_it_has_figures_for(
    made: dict[str, Report], shape: str, kinds: list[type]
) -> None:
    plots = _plots(made[shape])
    assert [type(plot) for plot in plots] == kinds
    anchors = [plot.anchor for plot in plots]
    assert len(set(anchors)) == len(anchors)
    assert all(plot.title and plot.anchor for plot in plots)


def test_bars_are_the_means_of_the_judges_of_100(workspace: Workspace) -> None:
    _score(workspace, "glm5", correctness=70, code_quality=80)
    _score(workspace, "qwen36", correctness=85)
    (plot,) = _plots(head_to_head(gathered(workspace, [], ["kv"])))
    assert isinstance(plot, Bars)
    assert plot.names == ("glm5", "qwen36")
    assert plot.groups == (Group("Correctness", (70.0, 85.0)), Group("Code | Quality", (80.0, None)))
    assert (plot.axis.said, plot.axis.low, plot.axis.high) == ("Points (of 100)", 0.0, 100.0)


def test_one_scored_dimension_makes_no_plot(workspace: Workspace) -> None:
    _score(workspace, "glm5", correctness=70)
    _score(workspace, "qwen36", correctness=85)
    assert not _plots(head_to_head(gathered(workspace, [], ["kv"])))


def test_a_ranking_has_the_intervals_of_its_table(made: dict[str, Report]) -> None:
    parts = made["standings"].parts
    at = next(n for n, part in enumerate(parts) if isinstance(part, Intervals))
    table, plot = parts[at - 1], parts[at]
    assert isinstance(table, Table)
    assert isinstance(plot, Intervals)
    assert [row[1].text for row in table.rows] == [mark.name for mark in plot.marks]
    assert [row[2].text for row in table.rows] == [
        f"{mark.value:+.2f}".replace("-", "−") for mark in plot.marks
    ]
    assert all(mark.low <= mark.value <= mark.high for mark in plot.marks)


def test_a_win_matrix_has_counts_and_ties(made: dict[str, Report]) -> None:
    plot = next(part for part in made["standings"].parts if isinstance(part, Matrix))
    assert plot.names == tuple(MODELS)
    assert plot.wins == ((0, 1, 0), (2, 0, 1), (6, 5, 0))
    assert plot.ties == ((0, 3, 0), (3, 0, 0), (0, 0, 0))


def test_two_models_need_no_matrix(
    made: dict[str, Report], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_TUI_CACHE", str(tmp_path / "cache"))
    report = report_of(judged_workspace(tmp_path / "ws"), Asked("standings", ("glm5", "qwen36")))
    assert not [part for part in report.parts if isinstance(part, Matrix)]


def test_curves_of_one_quantity_share_a_plot(made: dict[str, Report]) -> None:
    (plot,) = _plots(made["metrics"])
    assert isinstance(plot, Curves)
    assert [trace.name for trace in plot.traces] == list(MODELS)
    assert (plot.x.title, plot.y.title, plot.x.log, plot.y.log) == ("tokens", "bytes", True, True)
    assert plot.traces[0].points[0] == (64.0, 66.0 * 100 * 64)
    assert plot.traces[0].points[-1] == (8192.0, None)


def _outcome(*curves: Curve) -> dict[str, Outcome]:
    evidence = tuple(Evidence("held", curve=curve) for curve in curves)
    return {"c": Outcome("m", "kv", "c", Verdict.PASS, "said", 1.0, evidence)}


def test_curves_on_other_axes_are_plots_of_their_own() -> None:
    points = ((1.0, 1.0), (2.0, 2.0))
    linear, log = Curve("n", "B", points), Curve("n", "B", points, log_y=True)
    plots = list(curves_of("kv", "c", ["A", "B"], [_outcome(linear), _outcome(log)]))
    assert [[trace.name for trace in plot.traces] for plot in plots] == [["A"], ["B"]]
    assert [plot.anchor for plot in plots] == ["plot-kv-c", "plot-kv-c-2"]


@pytest.mark.parametrize(
    "curve",
    [
        Curve("n", "B", ()),
        Curve("n", "B", ((1.0, 1.0),)),
        Curve("n", "B", ((1.0, None), (2.0, None), (3.0, 1.0))),
        Curve("n", "B", ((0.0, 1.0), (1.0, 2.0)), log_x=True),
        Curve("n", "B", ((1.0, 0.0), (2.0, -1.0), (3.0, 1.0)), log_y=True),
    ],
    ids=["empty", "point", "not-finite", "log-x-of-0", "log-y-of-0"],
)
def test_less_than_two_points_make_no_plot(curve: Curve) -> None:
    assert not list(curves_of("kv", "c", ["A"], [_outcome(curve)]))
