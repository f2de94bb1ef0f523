"""Drawings: told in words, within their box, for letters too, and no text of a figure is taken for markup."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from judge_tui.judging.summaries.parts import (
    PLOTS,
    Axis,
    Bars,
    Curves,
    Group,
    Heading,
    Interval,
    Intervals,
    Matrix,
    Plot,
    Report,
    Trace,
)
from judge_tui.reports.data import as_json
from judge_tui.reports.drawings.canvas import WIDTH
from judge_tui.reports.drawings.pictures import picture_file, picture_in_page
from judge_tui.reports.drawings.scales import scale_of, short
from judge_tui.reports.plotting import addresses, pictures_of, refresh
from judge_tui.reports.reading import read_report
from judge_tui.reports.rendering import html, markdown

NASTY = '<script>alert("1")</script> ``` a|b & \x1b[31m'
LONG = "A model with a name that is far longer than any drawing is wide, and longer"
BARS = Bars(
    f"Scores {NASTY}", "plot-kv-scores", Axis("Points", "of 100", 0.0, 100.0), (NASTY, LONG, "C"),
    (Group(NASTY, (50.0, None, 100.0)), Group("Tests", (0.0, 33.3, 12.55))),
)  # fmt: skip
INTERVALS = Intervals(
    "Strengths", "plot-strengths", Axis("Strength", "log odds"),
    (Interval("A", 1.25, 0.5, 2.0), Interval(NASTY, -1.25, -3.0, 0.25)), "A caption.",
)  # fmt: skip
CURVES = Curves(
    "growth: bytes", "plot-kv-growth", Axis("tokens", log=True), Axis("bytes", log=True),
    tuple(
        Trace(f"M{n}", ((0.0, 1.0), (1.0, 1.0 + n), (10.0, None), (100.0, 1e6), (1000.0, 1e9)))
        for n in range(8)
    ),
)  # fmt: skip
MATRIX = Matrix(
    "Wins",
    "plot-wins",
    ("A", LONG, NASTY),
    ((0, 1, 2), (3, 0, 0), (0, 0, 0)),
    ((0, 12, 0), (12, 0, 0), (0, 0, 0)),
)
ALL: tuple[Plot, ...] = (BARS, INTERVALS, CURVES, MATRIX)
REPORT = Report("round", "All", {"a": "A"}, {"kv": "KV"}, (), "", (Heading("KV", 2, "kv"), *ALL))
SVG = "{http://www.w3.org/2000/svg}"

by_kind = pytest.mark.parametrize("plot", ALL, ids=[type(plot).__name__.lower() for plot in ALL])


def test_every_kind_of_plot_is_tried_here() -> None:
    assert {type(plot) for plot in ALL} == set(PLOTS)


@by_kind
def test_a_picture_is_well_formed_and_tells_its_figures(plot: Plot) -> None:
    for root in (ET.fromstring(picture_file(plot)), ET.fromstring(picture_in_page(plot))):
        named = {element.tag.removeprefix(SVG): element for element in root}
        assert root.get("role") == "img"
        assert "script" not in {element.tag.removeprefix(SVG) for element in root.iter()}
        told = named["desc"].text or ""
        assert named["title"].text
        assert len(re.findall(r"\d", told)) > 3
        assert "\x1b" not in told


def test_words_have_every_score() -> None:
    told = ET.fromstring(picture_in_page(BARS)).find("desc")
    assert told is not None
    assert told.text is not None
    assert f"Tests: {NASTY.replace(chr(27), '')}"[:20] in told.text
    assert f"{LONG} 33.3" in told.text
    assert f"{LONG} none" in told.text


@by_kind
def test_marks_stay_within_the_box(plot: Plot) -> None:
    root = ET.fromstring(picture_in_page(plot))
    _, _, width, height = map(float, (root.get("viewBox") or "").split())
    assert width == WIDTH
    places = {"x": width, "y": height, "x1": width, "x2": width, "y1": height, "y2": height, "cx": width}
    for element in root.iter():
        for name, most in places.items():
            assert -5 <= float(element.get(name, "0")) <= most + 5
        for point in element.get("points", "").split():
            x, y = map(float, point.split(","))
            assert -6 <= x <= width + 6
            assert -6 <= y <= height + 6


@by_kind
def test_a_file_needs_no_variables_and_asks_for_nothing(plot: Plot) -> None:
    text = picture_file(plot)
    assert "var(" not in text
    assert not re.search(r"url\(|@import|href|https?://(?!www\.w3\.org/2000/svg\")", text)
    assert picture_file(plot) == text


def test_colours_are_never_all_there_is() -> None:
    bars, curves = picture_in_page(BARS), ET.fromstring(picture_in_page(CURVES))
    assert bars.count(">C</text>") == len(BARS.groups)
    shapes = {
        (element.tag, len(element.get("points", "").split()))
        for element in curves.iter()
        if "series" in element.get("class", "")
    }
    assert len(shapes) > 2


def test_blocks_are_as_long_as_the_scores() -> None:
    text = markdown(REPORT)
    lines = [line for line in text.splitlines() if "█" in line]
    assert [line.count("█") for line in lines] == [12, 25, 8, 3]
    assert lines[0].endswith("  50")
    assert lines[1].endswith("  100")
    assert lines[2].endswith("  33.3")


def test_a_fence_holds_whatever_stands_in_it() -> None:
    text = markdown(REPORT)
    fence = re.search(r"^(`{4,})text$", text, re.MULTILINE)
    assert fence is not None
    assert "\x1b" not in text


def test_intervals_stand_around_zero() -> None:
    rows = [line for line in markdown(REPORT).splitlines() if "●" in line]
    assert len(rows) == 2
    assert rows[0].index("┊") < rows[0].index("├") < rows[0].index("●") < rows[0].index("┤")
    assert rows[1].index("●") < rows[1].index("┼") <= rows[1].index("┤")


def test_curves_are_a_table_and_a_matrix_has_one_already() -> None:
    text = markdown(REPORT)
    assert "| tokens | M0 | M1 |" in text
    assert "| 10 | not finite |" in text
    assert "Wins" not in text


def test_of_many_points_the_first_and_the_last_are_told() -> None:
    trace = Trace("A", tuple((float(x), float(x * x)) for x in range(200)))
    plot = Curves("c: loss", "plot-c", Axis("step"), Axis("loss"), (trace,))
    text = markdown(Report("metrics", "M", {}, {}, (), "", (plot,)))
    rows = [line for line in text.splitlines() if line.startswith("| ")][2:]
    assert len(rows) == 16
    assert rows[0] == "| 0 | 0 |"
    assert rows[-1] == "| 199 | 39.6k |"
    assert "16 of 200 points." in text


def test_pictures_stand_in_for_blocks(tmp_path: Path) -> None:
    made = pictures_of(REPORT, "Round 2")
    assert sorted(name for name, _ in made.values()) == [
        "round-2-kv-growth.svg", "round-2-kv-scores.svg", "round-2-strengths.svg", "round-2-wins.svg",
    ]  # fmt: skip
    folder = tmp_path / "my assets"
    assert len(refresh(folder, made, write=False)) == 4
    assert not folder.exists()
    assert len(refresh(folder, made, write=True)) == 4
    assert refresh(folder, made, write=True) == []
    places = addresses(folder, tmp_path / "docs" / "r.md", made)
    text = markdown(REPORT, pictures=places)
    assert "](../my%20assets/round-2-kv-scores.svg)" in text
    assert "█" not in text
    alt = next(line for line in text.splitlines() if line.startswith("![Strengths"))
    assert "+1.25, from +0.50 to +2.00" in alt


def test_data_has_the_plots_as_they_are() -> None:
    parts = json.loads(as_json(REPORT))["parts"]
    assert [part["part"] for part in parts] == ["heading", "bars", "intervals", "curves", "matrix"]
    assert parts[1]["axis"] == {"title": "Points", "unit": "of 100", "low": 0.0, "high": 100.0, "log": False}
    assert parts[1]["groups"][0]["values"] == [50.0, None, 100.0]
    assert parts[3]["traces"][0]["points"][2] == [10.0, None]
    assert parts[4]["ties"] == [[0, 12, 0], [12, 0, 0], [0, 0, 0]]


def test_data_comes_back_as_it_went() -> None:
    assert read_report(as_json(REPORT)) == REPORT


def test_a_page_is_well_formed_with_every_plot() -> None:
    text = html(REPORT)
    assert text.count('role="img"') == len(ALL)
    assert "<script" not in text


@pytest.mark.parametrize(
    ("axis", "values", "ticks"),
    [
        (Axis("p", low=0.0, high=100.0), [50.0], [0, 20, 40, 60, 80, 100]),
        (Axis("p"), [5.0], [3, 4, 5, 6, 7]),
        (Axis("p"), [0.0], [-1, -0.5, 0, 0.5, 1]),
        (Axis("p", log=True), [1.0, 1e6], [1, 10, 100, 1e3, 1e4, 1e5, 1e6]),
        (Axis("p", log=True), [64.0, 512.0], [100, 200, 500]),
        (Axis("p", log=True), [1e-12, 1.0], None),
        (Axis("p", log=True), [3.1, 3.2], None),
    ],
)
def test_ticks_are_few_and_round(axis: Axis, values: list[float], ticks: list[float] | None) -> None:
    scale = scale_of(axis, values, 0, 100)
    found = scale.ticks()
    assert ticks is None or found == pytest.approx(ticks)
    assert 2 <= len(found) <= 8
    assert all(-1e-6 <= scale.at(tick) <= 100 + 1e-6 for tick in found)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0"),
        (-2.5, "−2.5"),
        (1024.0, "1024"),
        (20000.0, "20k"),
        (3.2e9, "3.2G"),
        (2e-9, "2e-9"),
        (1e18, "1e18"),
    ],
)
def test_a_figure_beside_an_axis_is_short(value: float, said: str) -> None:
    assert short(value).replace("−", "-") == said.replace("−", "-")
