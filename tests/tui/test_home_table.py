"""The table of Home: what stands beside the tasks, its order, its filter, and what it keeps back."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.judging.matchup import Matchup, Matchups, save_matchups
from judge_tui.judging.scorecard import save_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.past import Past, PastComparisons

from .at_home import add_tasks, home, make_home, ready, score
from .conftest import Driver, make_workspace, running

FOUR = ("alpha", "beta", "gamma", "omega")


@pytest.fixture
def four(tmp_path: Path, workspace: Workspace) -> Workspace:
    made = make_workspace(tmp_path / "four", FOUR)
    add_tasks(made, ["fuse"], FOUR)
    for model, points in (("alpha", 60), ("beta", 91), ("gamma", 75)):
        score(made, model, points)
    return made


def score_as(workspace: Workspace, judge: str, model: str, points: int, task: str = "kv") -> None:
    card, stamp = workspace.scorecard(task, model, judge)
    rubric = workspace.rubric(task)
    for dimension in rubric.dimensions:
        card = card.with_score(dimension.id, points)
    card = card.judged_under(rubric, workspace.submission(model, task).digest)
    save_scorecard(workspace.scorecard_path(task, model, judge), card, stamp)


def decide(workspace: Workspace, *matchups: Matchup) -> None:
    path = workspace.matchups_path("kv", "anna")
    save_matchups(path, Matchups("kv", "anna", matchups), None)


def names(app: Driver) -> list[str]:
    """The models in view; the line that tells of the cell below begins with one too."""
    rows = [line.split()[0] for line in app.text().split("\n")[2:7] if line.strip() and " › " not in line]
    return [name for name in rows if name.lower() in FOUR]


def row(app: Driver, name: str) -> str:
    return next(line for line in app.text().split("\n")[2:8] if line.startswith(f" {name} "))


async def test_mean_what_is_left_matchups_and_other_judges_stand_beside_a_model(four: Workspace) -> None:
    decide(four, Matchup(("alpha", "beta"), "beta", 8), Matchup(("beta", "gamma"), "tie"))
    score_as(four, "bert", "beta", 80)
    async with running(make_home(four)) as app:
        await ready(app)
        assert app.text().split("\n")[1].split()[:5] == ["model▲", "mean", "left", "matchups", "others"]
        assert row(app, "Beta").split()[:1] == ["Beta"]
        assert [word for word in row(app, "Beta").split() if not set(word) & set("━╸")][1:6] == [
            "91", "1", "1–0–1", "80", "−11",
        ]  # fmt: skip
        await app.press("j", "l")
        assert "91 points, A" in app.text()
        assert "bert 80 (-11)" in app.text()
        assert "won over Alpha" in app.text()
        assert "tied with Gamma" in app.text()


async def test_at_80_columns_the_mean_stays_and_tasks_scroll_beside_it(four: Workspace) -> None:
    add_tasks(four, [f"task_{n}" for n in range(9)], FOUR)
    async with running(make_home(four), (80, 24)) as app:
        await ready(app)
        head = app.text().split("\n")[1]
        assert head.split()[:2] == ["model▲", "mean"]
        assert head.rstrip().endswith("›")
        assert "91 █" in row(app, "Beta")


async def test_a_column_is_picked_to_sort_by_and_remembered_over_a_restart(four: Workspace) -> None:
    async with running(make_home(four)) as app:
        await ready(app)
        assert names(app) == ["Alpha", "Beta", "Gamma", "Omega"]
        await app.press("s", *"mean", "enter")
        assert names(app) == ["Beta", "Gamma", "Alpha", "Omega"]
        assert "mean▼" in app.text()
        assert home(app).matrix.row == 0
        await app.press("S")
        assert names(app) == ["Alpha", "Gamma", "Beta", "Omega"]
        assert "mean▲" in app.text()
    async with running(make_home(four)) as app:
        await ready(app)
        assert names(app) == ["Alpha", "Gamma", "Beta", "Omega"]
        # the column under the cursor comes first
        await app.press("l", "s", "enter")
        assert home(app).board.order.column == "task:kv"
        assert "kv▼" in app.text()
        assert names(app) == ["Beta", "Gamma", "Alpha", "Omega"]


async def test_a_click_on_a_head_sorts_and_another_turns_it_round(four: Workspace) -> None:
    async with running(make_home(four)) as app:
        screen = await ready(app)
        columns = screen.matrix.columns
        await app.pilot.click(screen.matrix, offset=(columns.names + 2, 0))
        assert names(app) == ["Beta", "Gamma", "Alpha", "Omega"]
        await app.pilot.click(screen.matrix, offset=(columns.names + 2, 0))
        assert names(app) == ["Alpha", "Gamma", "Beta", "Omega"]
        await app.pilot.click(screen.matrix, offset=(2, 0))
        assert names(app) == ["Alpha", "Beta", "Gamma", "Omega"]
        await app.pilot.click(screen.matrix, offset=(columns.before + columns.cell + 2, 0))
        assert screen.board.order.column == "task:kv"


async def test_rows_are_narrowed_as_words_are_typed_and_escape_shows_all_again(four: Workspace) -> None:
    async with running(make_home(four)) as app:
        screen = await ready(app)
        await app.press("j", "j", "slash", *"a")
        assert names(app) == ["Alpha", "Beta", "Gamma", "Omega"]
        await app.press("m")
        assert names(app) == ["Gamma"]
        assert "1 of 4" in app.text()
        # the cursor is where it was
        assert screen.matrix.cell == ("gamma", "fuse")
        await app.press("enter")
        assert app.app.focused is screen.matrix
        assert names(app) == ["Gamma"]
        await app.press("space", "escape")
        assert names(app) == ["Alpha", "Beta", "Gamma", "Omega"]
        assert screen.matrix.cell == ("gamma", "fuse")
        # marks go with the next one
        assert len(screen.board.marked) == 1
        await app.press("escape")
        assert screen.board.marked == []


async def test_a_filter_knows_what_is_so_and_says_when_nothing_is_meant(four: Workspace) -> None:
    async with running(make_home(four)) as app:
        screen = await ready(app)
        await app.press("slash", *"judged")
        assert names(app) == ["Alpha", "Beta", "Gamma"]
        await app.press(*"xyz")
        assert "No model is meant by that." in app.text()
        assert screen.matrix.cell is None
        await app.press("escape")
        assert len(names(app)) == 4


async def test_compared_before_says_who_won(four: Workspace) -> None:
    past = PastComparisons(four.root, "anna")
    past.keep(Past("kv", ("alpha", "beta"), 1.0))
    past.keep(Past("kv", ("alpha", "gamma"), 2.0))
    past.keep(Past("kv", ("beta", "gamma"), 3.0))
    decide(four, Matchup(("beta", "alpha"), "beta", 8), Matchup(("gamma", "alpha"), "tie"))
    async with running(make_home(four)) as app:
        await ready(app)
        text = " ".join(app.text().split())
        assert "Beta beat Alpha by 8" in text
        assert "Gamma · Alpha: tie" in text
        assert "Beta · Gamma " in text


async def test_judges_are_listed_with_what_each_has_left_and_how_far_they_are(four: Workspace) -> None:
    score_as(four, "bert", "alpha", 70)
    score_as(four, "bert", "beta", 85)
    async with running(make_home(four), (80, 24)) as app:
        await ready(app)
        await app.press("tab", "tab")
        await app.until(lambda: "tab: judges 2" in app.text())
        await app.press("tab")
        lines = app.text().split("\n")
        anna, bert = (
            next(line for line in lines if line.startswith(f" {name} ")) for name in ("anna", "bert")
        )
        assert "5 left" in anna
        assert "6 left" in bert
        assert "±8.0 on 2, 2 above you" in bert
        await app.press("j", "enter")
        assert (
            "bert has left: Alpha · fuse, Beta · fuse, Gamma · fuse, Gamma · kv and 2 more." in app.messages()
        )


async def test_what_others_gave_is_told_only_beside_ones_own_points(four: Workspace) -> None:
    score_as(four, "bert", "omega", 99)
    async with running(make_home(four)) as app:
        await ready(app)
        await app.press("G", "l")
        assert "also scored by bert" in app.text()
        assert "99" not in app.text()


async def test_where_names_are_hidden_no_list_says_who_won(workspace: Workspace) -> None:
    """What was decided blind, and never scored, stands in a file that nothing marks as sealed."""
    submissions = [workspace.submission(model, "kv") for model in ("alpha", "beta")]
    async with running(JudgeApp(workspace, submissions, "anna", blind=True)) as app:
        await app.press("M", "A", "escape")
        await app.until(lambda: workspace.matchups("kv", "anna").matchups)
    decided = workspace.matchups("kv", "anna").matchups[0]
    assert decided.decided
    async with running(make_home(workspace)) as app:
        screen = await ready(app)
        assert screen.board.decided["kv"] == [decided]
        assert "Alpha · Beta" in app.text()
        assert " beat " not in app.text()
        assert "won over" not in app.text()
        assert "1–0" not in app.text()


async def test_points_that_another_judge_has_sealed_are_told_nobody(four: Workspace) -> None:
    submissions = [four.submission(model, "kv") for model in ("alpha", "beta")]
    async with running(JudgeApp(four, submissions, "bert", blind=True)) as app:
        await app.press("s", "c", "4", "4", "t", "4", "4", "w", "c", "4", "4")
    async with running(make_home(four)) as app:
        screen = await ready(app)
        assert [word.points for word in screen.board.others["alpha", "kv"].values()] == [None]
        assert "44" not in app.text()
