"""What Home knows and what Enter means, without a screen; past comparisons on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.matchup import Matchup, Matchups, save_matchups
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import run_home
from judge_tui.tui.home_board import HomeBoard
from judge_tui.tui.past import Past, PastComparisons
from judge_tui.tui.screens.home_words import moment

from .conftest import make_workspace

FOUR = ("alpha", "beta", "gamma", "omega")


@pytest.fixture
def board(tmp_path: Path, workspace: Workspace) -> HomeBoard:
    found = HomeBoard(make_workspace(tmp_path / "four", FOUR), "anna")
    found.take_outline(found.listing())
    return found


def read_all(board: HomeBoard) -> None:
    left = list(board.cells)
    while left:
        batch = board.read(left)
        board.take(batch)
        left = list(batch.left)


def test_reading_stops_when_it_is_told_to(board: HomeBoard) -> None:
    looks = iter([True, True, False])
    batch = board.read(board.cells, lambda: next(looks))
    assert [said.model for said in batch.standings] == ["alpha", "beta"]
    assert list(batch.left) == [("gamma", "kv"), ("omega", "kv")]
    board.take(batch)
    assert not board.whole


def test_enter_takes_the_pair_that_is_due(board: HomeBoard) -> None:
    read_all(board)
    assert board.chosen(("gamma", "kv")) == ("gamma", "omega")
    assert board.chosen(("beta", "kv")) == ("alpha", "beta")


def test_enter_takes_what_is_marked_and_the_cell_under_the_cursor_beside_a_single_mark(
    board: HomeBoard,
) -> None:
    assert board.mark(("omega", "kv")) == ""
    assert board.chosen(("alpha", "kv")) == ("alpha", "omega")
    board.mark(("beta", "kv"))
    assert board.chosen(("alpha", "kv")) == ("beta", "omega")
    board.mark(("alpha", "kv"))
    assert "3 are marked already" in board.mark(("gamma", "kv"))
    assert board.mark(("omega", "kv")) == ""
    assert board.chosen(("gamma", "kv")) == ("alpha", "beta")


def test_where_nothing_can_be_compared_it_says_why(board: HomeBoard, tmp_path: Path) -> None:
    assert board.chosen(("nobody", "kv")) == "There is no submission here."
    assert board.mark(("alpha", "fuse")) == "There is no submission here."
    alone = HomeBoard(make_workspace(tmp_path / "alone", ("alpha",)), "anna")
    alone.take_outline(alone.listing())
    assert "the only submission for kv" in alone.chosen(("alpha", "kv"))


def test_marks_and_cells_of_submissions_that_are_gone_go(board: HomeBoard) -> None:
    read_all(board)
    board.mark(("beta", "kv"))
    folder = board.workspace.root / "submissions" / "beta"
    folder.rename(board.workspace.root / "beta")
    board.take_outline(board.listing())
    assert board.marked == []
    assert ("beta", "kv") not in board.standings
    assert board.chosen(("alpha", "kv")) == ("alpha", "gamma")


def test_only_decided_matchups_count(board: HomeBoard) -> None:
    found = (Matchup(("alpha", "beta"), "tie"), Matchup(("beta", "gamma"), key_differentiator="open"))
    save_matchups(board.workspace.matchups_path("kv", "anna"), Matchups("kv", "anna", found), None)
    read_all(board)
    assert board.decided == {"kv": [found[0]]}


def test_a_folder_that_cannot_be_read_is_a_sentence(board: HomeBoard) -> None:
    (board.workspace.root / "judge-tui.toml").write_text("title = 3")
    broken = HomeBoard(Workspace.find(explicit=board.workspace.root), "anna")
    broken.take_outline(broken.listing())
    assert "judge-tui.toml:1: 'title' must be a text" in broken.fault


def test_settings_that_are_off_are_told_before_a_screen_opens(workspace: Workspace) -> None:
    (workspace.root / "judge-tui.toml").write_text("title = 3")
    with pytest.raises(WorkspaceError) as caught:
        run_home(workspace=Workspace.find(explicit=workspace.root), judge="anna")
    assert caught.value.line == 1


def test_past_comparisons_come_last_first_and_once_each(workspace: Workspace) -> None:
    past = PastComparisons(workspace.root, "anna")
    first = Past("kv", ("alpha", "beta"), 1.0, {"alpha": ("a.py", 3)}, "alpha")
    past.keep(first)
    past.keep(Past("fuse", ("alpha", "beta"), 2.0))
    assert [one.task for one in past.read()] == ["fuse", "kv"]
    assert past.find("kv", ("beta", "alpha")) == first
    again = Past("kv", ("beta", "alpha"), 3.0, {"beta": ("b.py", 0)}, "beta")
    past.keep(again)
    assert past.read() == (again, Past("fuse", ("alpha", "beta"), 2.0))
    assert again.place == ("b.py", 0)
    assert PastComparisons(workspace.root, "bert").read() == ()


@pytest.mark.parametrize("text", ["", "[", "3", '[{"task": 3}]', '[{"task": "kv", "models": 3}]', "\x00"])
def test_a_spoilt_list_costs_the_list_only(workspace: Workspace, tmp_path: Path, text: str) -> None:
    past = PastComparisons(workspace.root, "anna")
    past.keep(Past("kv", ("alpha", "beta"), 1.0))
    [file] = (tmp_path / "state" / "judge-tui" / "past").glob("*.json")
    file.write_text(text)
    assert past.read() == ()
    past.keep(Past("fuse", ("alpha", "beta"), 2.0))
    assert len(past.read()) == 1


def test_a_state_folder_that_takes_nothing_is_no_fault(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    past = PastComparisons(workspace.root, "anna")
    past.keep(Past("kv", ("alpha", "beta"), 1.0))
    assert past.read() == ()


@pytest.mark.parametrize(
    "odd",
    [
        '{"task": "kv", "models": ["alpha", "alpha"], "at": 1, "places": {}, "focus": ""}',
        '{"task": "kv", "models": "ab", "at": "x", "places": {}, "focus": ""}',
        '{"task": "kv", "models": ["a", "b", "c", "d"], "at": 1, "places": {}, "focus": ""}',
        '{"task": "kv", "models": ["a", "b"], "at": 1, "places": {"a": ["f", 1e999]}, "focus": ""}',
        "[]",
        "3",
    ],
)
def test_a_past_comparison_that_is_none_costs_itself_alone(board: HomeBoard, odd: str) -> None:
    past = PastComparisons(board.workspace.root, "anna")
    past.keep(Past("kv", ("alpha", "beta"), 1.0))
    past._path.write_text(past._path.read_text().replace("[\n", f"[\n{odd},\n", 1))
    assert [one.models for one in past.read()] == [("alpha", "beta")]


def test_a_moment_that_no_calendar_has_is_not_told() -> None:
    assert moment(1e30) == moment(float("nan")) == ""
    assert moment(0.0) != ""


def test_a_fault_of_our_own_costs_one_cell(board: HomeBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("judge_tui.tui.home_board.standing", broken)
    read_all(board)
    assert board.whole
    assert all("ZeroDivisionError" in said.fault for said in board.standings.values())
