"""Where the submissions differ: told from verdicts and figures, shown as a table."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from judge_tui.checks.verdict import Evidence, Outcome, Verdict
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.engine.differences import decisive, differences, figure_of
from judge_tui.tui.screens.differences import DifferencesScreen
from judge_tui.tui.screens.evidence import EvidenceScreen

from .conftest import make_app, running


def outcome(model: str, *evidence: Evidence, check: str = "c", verdict: Verdict = Verdict.PASS) -> Outcome:
    return Outcome(model, "kv", check, verdict, "said", 0.1, evidence)


def figure(measured: float | int | str, limit: float | None = None, ok: bool | None = True) -> Evidence:
    return Evidence("rel err", measured, limit, ok=ok)


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        (figure(3.0), figure(5.9), False),
        (figure(3.0), figure(6.0), True),
        (figure(3.0), figure(-3.0), True),
        (figure(0), figure(0.0), False),
        (figure(0), figure(4), True),
        (figure("NaN"), figure("NaN"), False),
        (figure("NaN"), figure(1e-7), True),
        (figure("raised ValueError: no room"), figure("raised ValueError: full"), False),
        (figure(471, ok=None), figure(20, ok=None), False),
        (figure(1e-9, 1e-5, True), figure(1e-7, 1e-5, True), False),
        (figure(1e-9, 1e-5, True), figure(0.9e-5, 1e-5, True), True),
        (figure(1e-9, 1e-5, True), figure(2e-5, 1e-5, False), True),
    ],
)
def test_figures_differ_by_a_factor_and_not_by_rounding(one: Evidence, other: Evidence, apart: bool) -> None:
    for first, second in ((one, other), (other, one)):
        found = {("a", "c"): outcome("a", first), ("b", "c"): outcome("b", second)}
        [row] = differences(found, ["a", "b"])
        assert (row.verdicts, row.figures) == (False, apart)


def test_figures_of_other_quantities_or_units_are_not_held_against_each_other() -> None:
    for other in (Evidence("bytes", 900), Evidence("rel err", 900, unit="B"), Evidence("rel err")):
        found = {("a", "c"): outcome("a", figure(1.0)), ("b", "c"): outcome("b", other)}
        assert not differences(found, ["a", "b"])[0].figures


def test_timings_of_different_hosts_are_not_held_against_each_other() -> None:
    took = [
        outcome(model, Evidence("a step", ms, 50.0, unit="ms", ok=True))
        for model, ms in (("a", 6.0), ("b", 30.0))
    ]
    for hosts, apart in ((("near", "near"), True), (("near", "far"), False)):
        found = {(one.model, "c"): replace(one, host=host) for one, host in zip(took, hosts, strict=True)}
        assert differences(found, ["a", "b"])[0].figures == apart


def test_what_decided_is_the_first_figure_outside_its_limit() -> None:
    inside, outside = figure(1e-9, 1e-5, True), figure(0.3, 1e-5, False)
    assert decisive(outcome("a", Evidence("log", output="x"), figure(7), inside, outside)) is outside
    assert decisive(outcome("a", figure(7), inside)) is inside
    assert decisive(outcome("a", Evidence("log"))) is None


def test_other_verdicts_come_first_then_other_figures_then_the_rest() -> None:
    found = {
        ("a", "same"): outcome("a", check="same"),
        ("b", "same"): outcome("b", check="same"),
        ("a", "figures"): outcome("a", figure(1), check="figures"),
        ("b", "figures"): outcome("b", figure(9), check="figures"),
        ("a", "warns"): outcome("a", check="warns", verdict=Verdict.WARN),
        ("b", "warns"): outcome("b", check="warns"),
        ("a", "fails"): outcome("a", check="fails", verdict=Verdict.FAIL),
        ("b", "fails"): outcome("b", check="fails"),
        ("b", "alone"): outcome("b", check="alone", verdict=Verdict.FAIL),
    }
    rows = differences(found, ["a", "b"])
    assert [row.check for row in rows] == ["fails", "warns", "figures", "alone", "same"]
    assert rows[3].outcomes[0] is None
    assert not rows[3].verdicts


async def test_the_table_shows_what_differs_and_opens_the_evidence(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("c", "d")
        assert isinstance(app.app.screen, DifferencesScreen)
        lines = app.text().split("\n")[:4]
        rows = [line.split() for line in lines]
        assert " ".join(rows[0]).startswith("1 of 3 checks differ")
        assert rows[1] == ["check", "A", "Alpha", "B", "Beta"]
        assert rows[2][:5] == ["≠", "accuracy", "✓", "pass", "all"]
        assert "✗ fail 0.032 (limit 1e-05)  rel err" in app.text()
        # each head stands over its column
        assert [lines[1].index(head) for head in ("check", "A Alpha", "B Beta")] == [
            lines[2].index(cell) for cell in ("accuracy", "✓ pass", "✗ fail")
        ]
        assert not rows[3]
        await app.press("a")
        assert "= own_tests" in app.text()
        await app.press("enter")
        assert isinstance(app.app.screen, EvidenceScreen)
        assert "B Beta" in app.text()
        await app.press("escape", "d", "A")
        assert "A Alpha" in app.text()
        await app.press("escape", "d", "escape")
        assert app.app.screen is app.compare


@pytest.mark.parametrize(
    ("item", "room", "said"),
    [
        (Evidence("growth", 1.888, 1.3), 40, "1.89 (limit 1.3)  growth"),
        (Evidence("bytes", 9, 2.0, unit="B"), 40, "9 B (limit 2)  bytes"),
        # a limit that does not fit is not told by half
        (Evidence("growth", 1.888, 1.3), 16, "1.89  growth"),
        (Evidence("found", 1, unit="files"), 40, "1 file  found"),
        (Evidence("found", 1, unit="entries"), 40, "1 entry  found"),
        (Evidence("took", 1.0, unit="s"), 40, "1 s  took"),
        (Evidence("said", "no", unit="files"), 40, "no  said"),
    ],
)
def test_a_cell_says_what_was_measured_and_its_limit_in_words(item: Evidence, room: int, said: str) -> None:
    assert figure_of(outcome("a", item), room) == said


async def test_checks_are_listed_by_verdict_and_submission_with_how_many_of_all(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        rows = app.compare.checks_pane.rows
        await app.press("c", "m", "v")
        assert list(rows.keys) == [("beta", "accuracy")]
        assert "only fail · 1 of 6 checks" in app.text()
        await app.press("v", "w")
        assert {model for model, _ in rows.keys} == {"alpha"}
        assert "only A pass · 3 of 6 checks" in app.text()
        await app.press("w", "w", "v")
        assert len(rows.keys) == 6
        assert " 6 checks" in app.text()
