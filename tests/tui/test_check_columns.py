"""The checks of a comparison side by side: a row for each check, a column for each submission."""

from __future__ import annotations

import pytest

from judge_tui.checks.verdict import Evidence, Outcome, Verdict
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.engine.check_runner import EngineOptions
from judge_tui.tui.engine.check_table import CheckState, CheckTable
from judge_tui.tui.keys.preferences import keep_choice, keep_theme, kept_choice, kept_theme
from judge_tui.tui.screens.evidence import EvidenceScreen
from judge_tui.tui.widgets.check_rows import columns_of

from .conftest import ENGINE, THREE, Driver, make_app, running

HALFWAY = ENGINE.replace(
    "        bad = check",
    "        if (s['model'], check) == ('beta', 'size'):\n"
    "            tell(type='progress', model='beta', task='kv', check='size', fraction=0.4,"
    " note='Beta 4 of 10')\n"
    "            time.sleep(600)\n        bad = check",
)


def table(*found: str, running: str = "") -> CheckTable:
    """A table of verdicts: a check's name, and of each submission the first letters of a verdict."""
    outcomes: dict[tuple[str, str], Outcome] = {}
    made = CheckTable(("a", "b"), outcomes)
    for row in found:
        check, *verdicts = row.split()
        for model, begins in zip("ab", verdicts, strict=True):
            made.states[model, check] = CheckState(running=check == running)
            verdict = next((one for one in Verdict if begins != "-" and one.startswith(begins)), None)
            if verdict is not None:
                outcomes[model, check] = Outcome(model, "kv", check, verdict, "said", 0.1)
    return made


def test_what_differs_comes_first_then_what_fails_then_what_is_under_way_and_skips_last() -> None:
    made = table(
        *("skipped s s", "held p p", "open - -", "runs p p", "warned w w", "failed f f"),
        *("apart p w", "far p f"),
        running="runs",
    )
    assert list(made.side_by_side()) == [
        *("far", "apart", "failed", "warned", "runs", "open", "held", "skipped"),
    ]


def test_a_row_tells_whether_verdicts_differ_or_figures_alone() -> None:
    made = table("one p p", "two p f", "three p p")
    for model, figure in (("a", 1.0), ("b", 5.0)):
        assert isinstance(made.outcomes, dict)
        evidence = (Evidence("steps", figure, 9.0, ok=True),)
        made.outcomes[model, "one"] = Outcome(model, "kv", "one", Verdict.PASS, "said", 0.1, evidence)
    assert made.side_by_side() == {"two": "≠", "one": "~", "three": ""}


def test_what_is_not_known_of_one_submission_differs_from_nothing() -> None:
    assert table("one p -").side_by_side() == {"one": ""}


def test_the_worst_cell_of_a_row_is_looked_at_first_and_filters_hold_for_rows_and_columns() -> None:
    made = table("one p f", "two f p", "three p p")
    assert [made.worst(check) for check in ("one", "two", "three")] == [1, 0, 0]
    made.next_verdict()
    assert (made.verdict, set(made.side_by_side())) == (Verdict.FAIL, {"one", "two"})
    made.next_submission()
    assert (made.seats, made.side_by_side()) == (("a",), {"two": ""})


@pytest.mark.parametrize("width", [20, 29, 79, 119, 239])
@pytest.mark.parametrize("seats", [1, 2, 3])
def test_the_columns_fill_the_width_and_are_even(width: int, seats: int) -> None:
    name, *cells = columns_of(width, seats)
    assert name + sum(cells) == width
    assert max(cells) - min(cells) <= 1


def line_of(app: Driver, check: str) -> str:
    """The row of a check, in the pane of the checks."""
    top = app.compare.checks_pane.region.y
    return next(line for line in app.text().split("\n")[top:] if check in line)


async def test_left_and_right_choose_whose_evidence_enter_opens(three: Workspace) -> None:
    async with running(make_app(three, THREE)) as app:
        await app.settle()
        await app.press("c")
        rows = app.compare.checks_pane.rows
        # the worst one's, until another is chosen
        assert rows.cell == ("beta", "accuracy")
        for keys, model in ((("left",), "alpha"), (("h",), "alpha"), (("l", "right", "l"), "gamma")):
            await app.press(*keys, "enter")
            assert isinstance(app.app.screen, EvidenceScreen)
            assert f" {'ABC'[THREE.index(model)]} {model.title()}" in app.text().split("\n")[0]
            await app.press("escape")
        await app.press("j")
        assert rows.cell == ("gamma", rows.keys[1])
        await app.press("w", "w")
        assert rows.cell == ("beta", rows.keys[rows.cursor])


async def test_a_click_chooses_a_cell_and_a_second_one_opens_it(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        rows = app.compare.checks_pane.rows
        name, first, _ = rows.columns
        await app.pilot.click(rows, (name + 2, 1))
        assert rows.cell == ("alpha", rows.keys[1])
        await app.pilot.click(rows, (name + first + 2, 1), times=2)
        await app.until(lambda: isinstance(app.app.screen, EvidenceScreen))
        assert " B Beta" in app.text().split("\n")[0]


async def test_each_cell_tells_how_far_its_own_check_is(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=HALFWAY)) as app:
        await app.until(lambda: "40% Beta 4 of 10" in app.text())
        row = line_of(app, "size ")
        assert row.index("✓ pass") < row.index("40% Beta 4 of 10")
        assert "2/3" in app.text().split("\n")[app.compare.checks_pane.region.y]


async def test_the_list_is_a_key_away_keeps_the_check_and_is_there_at_the_next_start(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        rows = app.compare.checks_pane.rows
        await app.press("c", "j", "l", "m")
        assert len(rows.keys) == 6
        assert rows.cell == rows.key == ("beta", "own_tests")
    async with running(make_app(workspace)) as app:
        await app.settle()
        rows = app.compare.checks_pane.rows
        assert len(rows.keys) == 6
        await app.press("c", "G", "m")
        assert (len(rows.keys), rows.cell) == (3, ("beta", "size"))
    assert kept_choice("checks") == ""


def test_choices_are_kept_beside_each_other_and_a_broken_file_costs_no_start(workspace: Workspace) -> None:
    keep_choice("one", "this")
    keep_choice("two", "that")
    keep_theme("judge-light", "")
    assert (kept_choice("one"), kept_choice("two"), kept_choice("three")) == ("this", "that", "")
    assert kept_theme() == ("judge-light", "")
    (workspace.root.parent / "state" / "judge-tui" / "choices.json").write_text("[1")
    assert kept_choice("one") == ""
    keep_choice("two", "that")
    assert kept_choice("two") == "that"


async def test_on_a_tiny_screen_every_submission_keeps_its_sign(three: Workspace) -> None:
    async with running(make_app(three, THREE), (30, 8)) as app:
        await app.settle()
        await app.press("c")
        assert line_of(app, "accur").count("✓") == 2
        assert line_of(app, "accur").count("✗") == 1


async def test_what_is_under_the_cursor_is_told_in_full_where_a_row_can_be_spared(
    workspace: Workspace,
) -> None:
    long = ENGINE.replace('else "all well"', 'else "all is well, " * 9 + "in the end"')
    async with running(make_app(workspace, engine=long), (160, 45)) as app:
        await app.settle()
        await app.press("c", "j")
        assert app.text().count("in the end") == 1
        await app.pilot.resize_terminal(160, 24)
        await app.until(lambda: "in the end" not in app.text())


async def test_the_heads_of_a_blind_comparison_name_nobody_until_the_names_are_revealed(
    workspace: Workspace,
) -> None:
    submissions = [workspace.submission(model, "kv") for model in ("alpha", "beta")]
    app = JudgeApp(workspace, submissions, "anna", EngineOptions(command=None), blind=True)
    async with running(app) as driver:
        await driver.until(lambda: all(pane.settled for pane in driver.compare.panes))

        def head() -> str:
            return driver.text().split("\n")[driver.compare.checks_pane.region.y]

        assert " A " in head()
        assert "Alpha" not in head()
        assert "Beta" not in head()


async def test_a_comparison_of_much_is_drawn_a_line_at_a_time(workspace: Workspace) -> None:
    """Moving the cursor draws two rows anew, not all of them."""
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("c")
        rows = app.compare.checks_pane.rows
        drawn: list[object] = []
        draw = rows.draw
        rows.draw = lambda key, *rest: drawn.append(key) or draw(key, *rest)  # type: ignore[method-assign, func-returns-value]
        await app.press("j")
        assert set(drawn) == set(rows.keys[:2])
