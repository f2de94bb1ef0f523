"""A matchup on its way to disk: two windows, files that are off, what a disk did not take, undo after it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.matchup import Matchup, Matchups, load_matchups, render_matchups, save_matchups
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.desk.autosave import SaveReport
from judge_tui.tui.desk.matchup_desk import WINNER
from judge_tui.tui.kept import rescue

from .matchup_desks import Opener, desks, on_disk


@pytest.fixture
def opened(workspace: Workspace) -> Iterator[Opener]:
    with desks(workspace) as open_desk:
        yield open_desk


def test_three_submissions_have_a_matchup_of_their_own(opened: Opener, workspace: Workspace) -> None:
    two = opened()
    two.edge(WINNER, "alpha")
    three = opened(("gamma", "beta", "alpha"))
    three.edge(WINNER, "gamma")
    two.digit("5")
    two.flush()
    three.flush()
    assert not two.unsaved
    # which of them was saved first is the disk's affair
    assert sorted((m.models, m.winner) for m in on_disk(workspace)) == [
        (("alpha", "beta"), "alpha"),
        (("alpha", "beta", "gamma"), "gamma"),
    ]


def test_what_others_have_written_into_the_file_is_kept(opened: Opener, workspace: Workspace) -> None:
    path = workspace.matchups_path("kv", "anna")
    path.parent.mkdir(parents=True)
    path.write_text(
        'task = "kv"\njudge = "anna"\nround = 3\n[[matchups]]\nmodels = ["beta", "alpha"]\nwinner = "split"\n'
        'mood = "torn"\n[[matchups]]\nmodels = ["x", "y"]\nwinner = "x"\n'
    )
    desk = opened()
    assert desk.matchup.winner == "split"
    desk.write_key("Tests.")
    desk.flush()
    whole = load_matchups(path)
    assert whole.extra == {"round": 3}
    assert whole.matchups[0].extra == {"mood": "torn"}
    assert (whole.matchups[0].winner, whole.matchups[0].models) == ("split", ("beta", "alpha"))
    assert whole.matchups[1] == Matchup(("x", "y"), "x")


@pytest.mark.parametrize("mine", [True, False])
def test_two_windows_are_noticed_and_neither_loses_anything(
    opened: Opener, workspace: Workspace, mine: bool
) -> None:
    reports: list[SaveReport] = []
    desk = opened(reports=reports)
    desk.edge(WINNER, "alpha")
    desk.flush()
    save = Matchups("kv", "anna", (Matchup(("alpha", "beta"), "beta", 4),))
    path = workspace.matchups_path("kv", "anna")
    path.unlink()
    save_matchups(path, save, None)
    desk.write_key("Tests.")
    desk.flush()
    assert reports[-1].state == "conflict"
    assert desk.unsaved
    assert not desk.lost
    assert on_disk(workspace) == save.matchups
    desk.settle(mine=mine)
    desk.flush()
    assert not desk.unsaved
    [got] = on_disk(workspace)
    assert (got.winner, got.key_differentiator) == (("alpha", "Tests.") if mine else ("beta", ""))
    desk.undo()
    assert desk.matchup.winner == ("beta" if mine else "alpha")


def test_only_the_first_start_over_an_unsettled_conflict_adds_steps(
    opened: Opener, workspace: Workspace
) -> None:
    desk = opened()
    desk.edge(WINNER, "alpha")
    desk.flush()
    path = workspace.matchups_path("kv", "anna")
    path.unlink()
    save_matchups(path, Matchups("kv", "anna", (Matchup(("alpha", "beta"), "beta", 4),)), None)
    desk.write_key("Tests.")
    desk.close()
    steps = []
    for _ in range(3):
        again = opened()
        steps.append(len(again.changes))
        assert (again.behind, again.matchup.key_differentiator) == (True, "Tests.")
        again.close()
    assert steps == [4, 4, 4]
    again = opened()
    again.undo()
    assert again.matchup.winner == "beta"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("task = ", "anna.toml:1"),
        ('task = "kv"\njudge = "anna"\n[[matchups]]\nmodels = ["a"]', "two or more"),
        ('task = "fuse"\njudge = "anna"', "its place says 'kv'"),
    ],
)
def test_a_file_that_is_off_is_one_sentence_and_stays_as_it_is(
    opened: Opener, workspace: Workspace, text: str, words: str
) -> None:
    path = workspace.matchups_path("kv", "anna")
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(WorkspaceError) as caught:
        opened()
    assert words in str(caught.value)
    assert path.read_text() == text


def test_a_file_that_breaks_meanwhile_is_not_written_over(opened: Opener, workspace: Workspace) -> None:
    reports: list[SaveReport] = []
    desk = opened(reports=reports)
    desk.edge(WINNER, "alpha")
    desk.flush()
    path = workspace.matchups_path("kv", "anna")
    path.write_text("by hand =")
    desk.write_key("Tests.")
    desk.flush()
    assert reports[-1].state == "failed"
    assert "anna.toml:1" in reports[-1].message
    assert path.read_text() == "by hand ="
    path.unlink()


def test_what_a_disk_did_not_take_is_brought_back_by_the_next_start(
    opened: Opener, workspace: Workspace
) -> None:
    desk = opened()
    (workspace.root / "scores" / "kv").write_text("in the way")
    desk.write_key("half a thou")
    desk.close()
    assert desk.unsaved
    assert not desk.lost
    (workspace.root / "scores" / "kv").unlink()
    again = opened()
    again.flush()
    assert again.matchup.key_differentiator == "half a thou"
    assert on_disk(workspace)[0].key_differentiator == "half a thou"


@pytest.mark.parametrize("mine", [True, False])
def test_work_of_an_earlier_run_is_not_written_over_a_newer_matchup(
    opened: Opener, workspace: Workspace, mine: bool
) -> None:
    first, second = opened(), opened()
    first.edge(WINNER, "alpha")
    first.flush()
    second.edge(WINNER, "beta")
    second.close()
    first.write_key("Tests.")
    first.close()
    reports: list[SaveReport] = []
    third = opened(reports=reports)
    third.flush()
    assert third.restored
    assert third.behind
    assert [report.state for report in reports] == ["conflict"]
    assert [(one.winner, one.key_differentiator) for one in on_disk(workspace)] == [("alpha", "Tests.")]
    third.settle(mine=mine)
    third.close()
    assert on_disk(workspace)[0].winner == ("beta" if mine else "alpha")
    fourth = opened()
    assert not fourth.restored
    fourth.undo()
    assert fourth.matchup.winner == ("alpha" if mine else "beta")


def test_a_journal_that_is_spoilt_costs_the_history_only(
    opened: Opener, workspace: Workspace, tmp_path: Path
) -> None:
    desk = opened()
    desk.edge(WINNER, "alpha")
    desk.close()
    for journal in (tmp_path / "state").rglob("*.jsonl"):
        journal.write_bytes(b"\xff rubbish")
    again = opened()
    assert again.matchup.winner == "alpha"
    assert again.undo() is None


def test_matchups_whose_names_hold_a_plus_share_neither_kept_work_nor_history(
    opened: Opener, workspace: Workspace
) -> None:
    three, two = ("a", "b", "c"), ("a+b", "c")
    desk = opened(three)
    (workspace.root / "scores" / "kv").write_text("in the way")
    desk.write_key("of all three")
    desk.close()
    (workspace.root / "scores" / "kv").unlink()
    other = opened(two)
    assert (other.restored, other.matchup, other.undo()) == (False, Matchup(two), None)
    other.edge(WINNER, "c")
    other.close()
    again = opened(three)
    assert again.restored
    assert again.matchup.key_differentiator == "of all three"
    assert opened(two).undo() == "winner, c → –"


def test_what_was_kept_of_another_matchup_under_the_same_name_is_not_taken_for_a_blank_one(
    opened: Opener,
) -> None:
    desk = opened(("a", "b", "c"))
    desk.edge(WINNER, "a")
    desk.close()
    key = desk.path / "a+b+c"
    of_another = Matchups("kv", "anna", (Matchup(("a+b", "c"), "c"),))
    kept = rescue.place(key, "unsaved", ".toml")
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(render_matchups(of_another))
    again = opened(("a", "b", "c"))
    assert (again.restored, again.matchup.winner) == (False, "a")
    assert [place.read_text() for place in again.damaged] == [render_matchups(of_another)]
