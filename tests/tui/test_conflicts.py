"""Cards that cannot be saved: two windows, files that nobody can read, and work of an earlier run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from judge_tui.judging.scorecard import FileStamp, load_scorecard, render_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.kept import rescue
from judge_tui.tui.kept.rescue import Rescue
from judge_tui.tui.session import Session

from .conftest import Opener, Reports, keep


def test_a_second_window_is_a_conflict_and_either_answer_keeps_both(opened: Opener, reports: Reports) -> None:
    first, second = opened(), opened()
    first.digit("7")
    first.flush()
    second.digit("9")
    second.flush()
    assert reports.wait_for("conflict").index == 0
    second.overwrite(0)
    second.flush()
    assert load_scorecard(second.paths[0]).score("correctness") == 9
    second.undo()
    assert second.card.score("correctness") == 7


def test_a_conflict_can_be_settled_by_loading_and_undone(opened: Opener, reports: Reports) -> None:
    first, second = opened(), opened()
    first.digit("7")
    first.flush()
    second.digit("9")
    second.flush()
    reports.wait_for("conflict")
    second.reload(0)
    assert second.card.score("correctness") == 7
    second.undo()
    assert second.card.score("correctness") == 9


def test_work_that_cannot_be_saved_is_back_at_the_next_start(
    opened: Opener, reports: Reports, workspace: Workspace
) -> None:
    session = opened()
    # a file where the folder should be: root may write anywhere, so permissions prove nothing
    (workspace.root / "scores" / "kv").write_text("in the way")
    session.digit("8")
    session.flush()
    assert "cannot be written" in reports.wait_for("failed").message
    assert session.unsaved() == (0,)
    session.close()
    (workspace.root / "scores" / "kv").unlink()
    again = opened()
    assert again.restored == (0,)
    assert again.card.score("correctness") == 8
    again.flush()
    assert load_scorecard(again.paths[0]).score("correctness") == 8
    assert rescue.every_kept(again.paths[0]) == ()


def test_another_windows_save_does_not_forget_what_this_window_could_not_save(
    opened: Opener, reports: Reports
) -> None:
    first, second = opened(), opened()
    first.digit("7")
    first.flush()
    second.digit("9")
    second.flush()
    reports.wait_for("conflict")
    first.digit("5")
    first.flush()
    [kept] = rescue.every_kept(second.paths[0])
    assert kept.score("correctness") == 9


def test_kept_work_that_is_on_disk_already_is_forgotten(opened: Opener) -> None:
    session = opened()
    session.digit("7")
    session.flush()
    keep(session.paths[0], load_scorecard(session.paths[0]), None)
    assert opened().restored == ()
    assert rescue.every_kept(session.paths[0]) == ()


# work of an earlier run, and a disk that has gone on


def stale(opened: Opener, reports: Reports) -> Session:
    """A start after two windows: one ended in conflict over 9, the other saved 7, then 75, and went."""
    first, second = opened(), opened()
    first.digit("7")
    first.flush()
    second.digit("9")
    second.flush()
    reports.wait_for("conflict")
    first.digit("5")
    first.close()
    second.close()
    reports.all.clear()
    return opened()


def test_work_of_an_earlier_run_is_not_written_over_a_newer_card(opened: Opener, reports: Reports) -> None:
    third = stale(opened, reports)
    third.flush()
    assert (third.restored, third.behind) == ((0,), (0,))
    assert reports.wait_for("conflict").index == 0
    assert third.card.score("correctness") == 9
    assert load_scorecard(third.paths[0]).score("correctness") == 75


@pytest.mark.parametrize(("mine", "stays", "away"), [(True, 9, 75), (False, 75, 9)])
def test_either_answer_keeps_the_other_card_over_a_restart_too(
    opened: Opener, reports: Reports, mine: bool, stays: int, away: int
) -> None:
    third = stale(opened, reports)
    assert (third.overwrite if mine else third.reload)(0) == ""
    third.close()
    assert load_scorecard(third.paths[0]).score("correctness") == stays
    assert rescue.every_kept(third.paths[0]) == ()
    fourth = opened()
    assert fourth.restored == ()
    assert fourth.card.score("correctness") == stays
    fourth.undo()
    assert fourth.card.score("correctness") == away


def test_a_run_that_ends_without_an_answer_leaves_the_question_to_the_next(
    opened: Opener, reports: Reports
) -> None:
    third = stale(opened, reports)
    third.set_text("and more", index=0, row=third.rows[0])
    third.close()
    fourth = opened()
    fourth.flush()
    assert fourth.behind == (0,)
    assert (fourth.card.score("correctness"), fourth.card.comment("correctness")) == (9, "and more")
    assert load_scorecard(fourth.paths[0]).score("correctness") == 75


def test_only_the_first_start_over_an_unsettled_conflict_adds_steps(opened: Opener, reports: Reports) -> None:
    third = stale(opened, reports)
    steps = len(third.changes)
    third.close()
    for _ in range(3):
        again = opened()
        assert (again.behind, again.card.score("correctness"), len(again.changes)) == ((0,), 9, steps)
        again.close()
    again = opened()
    again.undo()
    assert again.card.score("correctness") == 75
    again.redo()
    again.set_text("more", index=0, row=again.rows[0])
    again.undo()
    again.close()
    undone = opened()
    assert (undone.card.comment("correctness"), len(undone.changes)) == ("", steps)
    undone.redo()
    assert undone.card.comment("correctness") == "more"


def test_a_card_on_disk_that_is_many_steps_away_is_found_again(opened: Opener, reports: Reports) -> None:
    first = stale(opened, reports)
    path = first.paths[0]
    first.close()
    path.write_text(render_scorecard(load_scorecard(path).with_score("correctness", 66)))
    again = opened()
    for number in range(12):
        again.set_text(f"line {number}", index=0, row=again.rows[0])
        again.seal()
    steps = len(again.changes)
    again.close()
    last = opened()
    assert (last.card.comment("correctness"), len(last.changes)) == ("line 11", steps)


def test_a_card_that_goes_on_over_an_unsettled_conflict_is_a_step_of_the_next_start(
    opened: Opener, reports: Reports
) -> None:
    third = stale(opened, reports)
    steps = len(third.changes)
    third.close()
    path = third.paths[0]
    card = load_scorecard(path)
    path.write_text(render_scorecard(card.with_score("correctness", 66)))
    fourth = opened()
    assert (fourth.card.score("correctness"), len(fourth.changes)) == (9, steps + 2)
    fourth.undo()
    assert fourth.card.score("correctness") == 66


def test_what_is_kept_of_this_window_is_not_forgotten_while_the_other_card_is_taken(
    opened: Opener, reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    third = stale(opened, reports)
    third.flush()
    on_disk = []
    monkeypatch.setattr(
        Rescue, "drop", lambda _: on_disk.append(load_scorecard(third.paths[0]).score("correctness"))
    )
    third.overwrite(0)
    third.flush()
    assert on_disk == [9]


@pytest.mark.parametrize(("age", "behind"), [(-60, ()), (60, (0,))])
def test_work_kept_by_the_version_before_is_taken_up_where_it_is_the_younger(
    opened: Opener, age: int, behind: tuple[int, ...]
) -> None:
    session = opened()
    session.digit("7")
    session.close()
    path = session.paths[0]
    card = load_scorecard(path)
    kept = rescue.place(path, "unsaved", ".toml")
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(render_scorecard(card.with_score("correctness", 9)))
    at = kept.stat().st_mtime + age
    os.utime(path, (at, at))
    again = opened()
    again.flush()
    assert (again.restored, again.behind) == ((0,), behind)
    assert again.card.score("correctness") == 9
    assert load_scorecard(path).score("correctness") == (7 if behind else 9)


def test_a_card_that_was_deleted_since_does_not_come_back_unasked(opened: Opener, reports: Reports) -> None:
    first, second = opened(), opened()
    first.digit("7")
    first.flush()
    third = opened()
    first.digit("5")
    first.flush()
    third.digit("9")
    third.take_score()
    third.flush()
    reports.wait_for("conflict")
    for session in (first, second, third):
        session.close()
    first.paths[0].unlink()
    again = opened()
    again.flush()
    assert again.behind == (0,)
    assert not again.paths[0].exists()
    again.overwrite(0)
    again.flush()
    assert load_scorecard(again.paths[0]).score("correctness") == 9


# files that nobody can read

MARKERS = b'<<<<<<< HEAD\nsummary = "what somebody else wrote"\n=======\n>>>>>>> theirs\n'


def spoilt(opened: Opener) -> tuple[Session, Path]:
    """A card in conflict with a file that a merge has left behind."""
    session = opened()
    session.digit("7")
    session.flush()
    session.paths[0].write_bytes(MARKERS)
    session.digit("9")
    session.flush()
    return session, session.paths[0]


def test_what_cannot_be_read_is_not_written_over_by_loading_it(opened: Opener, reports: Reports) -> None:
    session, path = spoilt(opened)
    reports.wait_for("conflict")
    told = session.reload(0)
    session.flush()
    assert "anna.toml:1" in told
    assert path.read_bytes() == MARKERS
    assert session.card.score("correctness") == 79
    assert session.unsaved() == (0,)


def test_what_cannot_be_read_is_copied_before_it_is_written_over(opened: Opener, reports: Reports) -> None:
    for name in ("anna.toml.unreadable", "anna.toml.unreadable.2"):
        session, path = spoilt(opened)
        told = session.overwrite(0)
        session.flush()
        copy = path.with_name(name)
        assert str(copy) in told
        assert copy.read_bytes() == MARKERS
        assert load_scorecard(path).score("correctness") == session.card.score("correctness")
        assert session.unsaved() == ()
        session.close()
    assert path.with_name("anna.toml.unreadable").read_bytes() == MARKERS


def test_where_no_copy_can_stand_beside_it_it_is_in_the_state_folder(opened: Opener, tmp_path: Path) -> None:
    session, path = spoilt(opened)
    path.with_name("anna.toml.unreadable").mkdir()
    session.overwrite(0)
    session.flush()
    [copy] = (tmp_path / "state" / "judge-tui" / "unreadable").iterdir()
    assert copy.read_bytes() == MARKERS


def test_what_can_be_copied_nowhere_stays(opened: Opener, tmp_path: Path) -> None:
    session, path = spoilt(opened)
    path.with_name("anna.toml.unreadable").mkdir()
    (tmp_path / "state" / "judge-tui" / "unreadable").write_text("in the way")
    assert "stays as it is" in session.overwrite(0)
    session.flush()
    assert path.read_bytes() == MARKERS
    assert session.unsaved() == (0,)


def test_a_card_that_cannot_be_opened_is_neither_loaded_nor_written_over(opened: Opener) -> None:
    session, path = spoilt(opened)
    path.unlink()
    path.mkdir()
    for answer in (session.overwrite, session.reload):
        assert "cannot be read" in answer(0)
    assert path.is_dir()
    path.rmdir()
    assert session.overwrite(0) == ""
    session.flush()
    assert FileStamp.at(path) is not None
