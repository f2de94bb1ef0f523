"""Work that could not be saved, of several windows: each keeps its own, and the next start takes it up."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from judge_tui.judging.note import Note
from judge_tui.judging.scorecard import FileStamp, Scorecard, load_scorecard, render_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.desk.matchup_desk import MatchupDesk
from judge_tui.tui.kept import rescue
from judge_tui.tui.kept.rescue import Rescue
from judge_tui.tui.screens.earlier_work import told_of_damage, told_of_earlier_work
from judge_tui.tui.session import Session

from .conftest import Driver, Opener, Reports, make_app, running


def never(_: object) -> bool:
    return False


def kept(session: Session) -> list[str]:
    return [card.comment("correctness") for card in rescue.every_kept(session.paths[0])]


def write(session: Session, text: str) -> None:
    session.set_text(text, index=0, row=session.rows[0])
    session.flush()


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def block(workspace: Workspace) -> Path:
    """A file where a folder of scores should be: root may write anywhere, so permissions prove nothing."""
    path = workspace.root / "scores" / "kv"
    path.write_text("in the way")
    return path


def test_two_windows_that_cannot_save_keep_a_file_each(opened: Opener, workspace: Workspace) -> None:
    first, second = opened(), opened()
    blocked = block(workspace)
    write(second, "of the second")
    write(first, "of the first")
    assert (first.lost(), second.lost()) == ((), ())
    second.close()
    blocked.unlink()
    first.save(0)
    first.close()
    assert kept(first) == ["of the second"]
    third = opened()
    third.flush()
    assert (third.restored, third.behind) == ((0,), (0,))
    assert third.card.comment("correctness") == "of the second"
    assert load_scorecard(third.paths[0]).comment("correctness") == "of the first"


def test_a_window_that_settles_leaves_what_another_keeps(opened: Opener, reports: Reports) -> None:
    first, second = opened(), opened()
    first.digit("7")
    first.flush()
    write(second, "of the second")
    first.paths[0].write_text(first.paths[0].read_text() + "\n# by hand\n")
    write(first, "of the first")
    assert sorted(kept(first)) == ["of the first", "of the second"]
    first.overwrite(0)
    first.flush()
    assert kept(first) == ["of the second"]
    assert (second.unsaved(), second.lost()) == ((0,), ())
    second.close()
    assert opened().card.comment("correctness") == "of the second"


def test_what_an_open_window_keeps_is_not_taken_from_it(opened: Opener, workspace: Workspace) -> None:
    first = opened()
    blocked = block(workspace)
    write(first, "first words")
    blocked.unlink()
    second = opened()
    assert second.restored == ()
    second.digit("9")
    second.flush()
    write(first, "first words and a second paragraph")
    assert first.unsaved() == (0,)
    assert kept(first) == ["first words and a second paragraph"]
    first.close()
    second.close()
    third = opened()
    assert third.behind == (0,)
    assert third.card.comment("correctness") == "first words and a second paragraph"


def ended_with(session: Session, *texts: str) -> None:
    """Keep what windows could not save, one after the other."""
    for number, text in enumerate(texts):
        window = Rescue(session.paths[0])
        place = window.keep(session.cards[0].with_comment("correctness", text), None)
        window.close()
        assert place is not None
        os.utime(place, (number, number))


def test_work_of_several_runs_is_a_step_of_undo_each_the_newest_last(opened: Opener) -> None:
    session = opened()
    session.close()
    ended_with(session, "old", "newer", "newest")
    again = opened()
    assert again.earlier_runs == {0: 3}
    again.flush()
    found = [again.cards[0].comment("correctness")]
    while again.undo():
        found.append(again.cards[0].comment("correctness"))
    assert found == ["newest", "newer", "old", ""]
    again.close()
    assert kept(again) == []


def of_two_notes(opened: Opener) -> Path:
    """A card with a score and two notes on disk."""
    begun = opened()
    card = begun.cards[0].with_score("correctness", 70)
    for name in ("kept", "deleted"):
        card = card.with_note(Note("bug", name, id=name))
    begun.change(0, "begun", card)
    begun.close()
    return begun.paths[0]


def apart(path: Path, *windows: Session) -> None:
    """End windows whose card could not be written; what was on disk is there again."""
    for window in windows:
        window.flush()
        assert window.unsaved() == (0,)
        window.close()


def test_what_several_windows_could_not_save_is_put_together(opened: Opener) -> None:
    path = of_two_notes(opened)
    first, second = opened(), opened()
    on_disk = path.read_bytes()
    path.unlink()
    path.mkdir()
    first.change(0, "scored", first.cards[0].with_score("tests", 40).with_score("correctness", 1))
    first.drop_note(0, "deleted")
    # the thread of the first may be behind that of the second: whose is the newer one is what this is about
    first.flush()
    second.change(0, "scored", second.cards[0].with_score("correctness", 2))
    second.put_note(0, Note("bug", "of the second", id="new"))
    apart(path, first, second)
    path.rmdir()
    path.write_bytes(on_disk)
    again = opened()
    assert (again.earlier_runs, again.behind) == ({0: 2}, ())
    again.flush()
    saved = load_scorecard(path)
    assert dict(saved.given) == {"correctness": 2, "tests": 40}
    assert [note.id for note in saved.notes] == ["kept", "new"]
    again.undo()
    assert again.cards[0].score("correctness") == 1


def test_what_was_kept_knows_what_it_was_begun_on(opened: Opener, reports: Reports) -> None:
    path = of_two_notes(opened)
    window = opened()
    elsewhere = load_scorecard(path).without_note("deleted").with_score("correctness", None)
    path.write_text(render_scorecard(elsewhere))
    window.put_note(0, Note("bug", "here", id="new"))
    apart(path, window)
    again = opened()
    again.flush()
    assert again.behind == (0,)
    assert reports.wait_for("conflict").index == 0
    assert again.merge(0)
    again.flush()
    saved = load_scorecard(path)
    assert (dict(saved.given), [note.id for note in saved.notes]) == ({}, ["kept", "new"])


def test_work_that_does_not_say_what_it_was_begun_on_is_not_put_together(opened: Opener) -> None:
    path = of_two_notes(opened)
    card = load_scorecard(path)
    for number, one in enumerate((card.with_score("tests", 1), card.without_note("kept"))):
        window = Rescue(path)
        place = window.keep(one, FileStamp.of(path.read_bytes()))
        window.close()
        assert place is not None
        os.utime(place, (number, number))
    again = opened()
    assert (again.earlier_runs, dict(again.cards[0].given)) == ({0: 2}, {"correctness": 70})
    assert [note.id for note in again.cards[0].notes] == ["deleted"]


def test_a_window_whose_undo_ends_with_it_takes_up_the_newest_alone(opened: Opener) -> None:
    first = opened()
    ended_with(first, "old", "newest")
    second = opened()
    assert second.earlier_runs == {0: 1}
    second.close()
    assert load_scorecard(second.paths[0]).comment("correctness") == "newest"
    assert kept(first) == ["old"]
    first.close()
    third = opened()
    assert third.behind == (0,)
    assert third.card.comment("correctness") == "old"


def test_what_was_taken_up_and_is_in_conflict_is_there_for_the_next_start(opened: Opener) -> None:
    session = opened()
    session.digit("7")
    session.close()
    ended_with(session, "old", "newest")
    again = opened()
    assert again.behind == (0,)
    write(again, "newest and more")
    assert sorted(kept(again)) == ["newest and more", "old"]
    again.close()
    third = opened()
    assert third.earlier_runs == {0: 2}
    assert third.card.comment("correctness") == "newest and more"


def test_work_of_a_matchup_of_several_runs_is_a_step_of_undo_each(
    workspace: Workspace,
) -> None:
    desks = [MatchupDesk(workspace, "kv", ("alpha", "beta"), "anna") for _ in range(2)]
    blocked = block(workspace)
    for desk, text in zip(desks, ("old", "newest"), strict=True):
        desk.write_key(text)
        desk.flush()
    for desk in desks:
        desk.close()
    blocked.unlink()
    again = MatchupDesk(workspace, "kv", ("alpha", "beta"), "anna")
    try:
        assert (again.restored, again.earlier_runs) == (True, 2)
        assert again.matchup.key_differentiator == "newest"
        again.undo()
        assert again.matchup.key_differentiator == "old"
    finally:
        again.close()


def test_starts_over_work_of_several_runs_add_its_steps_once(opened: Opener, workspace: Workspace) -> None:
    first, second = opened(), opened()
    blocked = block(workspace)
    write(first, "old")
    write(second, "newest")
    for session in (first, second):
        session.close()
    blocked.unlink()
    first.paths[0].parent.mkdir(parents=True)
    first.paths[0].write_text(render_scorecard(Scorecard("kv", "alpha", "anna", summary="of a program")))
    again = opened()
    steps = len(again.changes)
    again.close()
    last = opened()
    assert (last.behind, last.earlier_runs, len(last.changes)) == ((0,), {0: 2}, steps)
    last.undo()
    assert last.card.comment("correctness") == "old"


def test_what_a_killed_window_kept_is_taken_up(tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom pathlib import Path\n"
        "from judge_tui.judging.scorecard import Scorecard\nfrom judge_tui.tui.kept.rescue import Rescue\n"
        "path = Path(sys.argv[1])\n"
        "assert Rescue(path).keep(Scorecard('kv', 'alpha', 'anna', summary='words'), None)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    path = tmp_path / "anna.toml"
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == -9
    window = Rescue(path)
    [found] = window.take_up(path, None, never)
    assert (found.card.summary, found.behind) == ("words", False)
    window.drop()
    assert list(rescue.place(path, "unsaved", ".toml").parent.iterdir()) == []


def test_the_one_file_of_versions_before_is_taken_over_by_one_window(tmp_path: Path) -> None:
    path = tmp_path / "anna.toml"
    old = rescue.place(path, "unsaved", ".toml")
    old.parent.mkdir(parents=True)
    old.write_text(
        "# begun on: no file\n" + render_scorecard(Scorecard("kv", "alpha", "anna", summary="old"))
    )
    first, second = Rescue(path), Rescue(path)
    assert [one.card.summary for one in first.take_up(path, None, never)] == ["old"]
    assert second.take_up(path, None, never) == ()
    first.close()
    assert [one.card.summary for one in second.take_up(path, None, never)] == ["old"]
    second.close()


def test_where_nothing_can_be_locked_there_is_one_file_and_every_start_takes_it_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    path = tmp_path / "anna.toml"
    first, second = Rescue(path), Rescue(path)
    place = first.keep(Scorecard("kv", "alpha", "anna", summary="words"), None)
    assert place == rescue.place(path, "unsaved", ".toml")
    assert list(place.parent.iterdir()) == [place]
    second.drop()
    assert [one.card.summary for one in second.take_up(path, None, never)] == ["words"]
    second.drop()
    assert list(place.parent.iterdir()) == []


def test_what_was_kept_and_is_damaged_is_set_aside_and_told(opened: Opener) -> None:
    session = opened()
    session.close()
    ended_with(session, "damaged", "whole", "damaged too")
    unsaved = rescue.place(session.paths[0], "unsaved", ".toml").parent
    for file in unsaved.glob("*.toml"):
        if b"damaged" in (data := file.read_bytes()):
            file.write_bytes(data + b"\xff")
    again = opened()
    assert again.card.comment("correctness") == "whole"
    assert [index for index, _ in again.damaged] == [0, 0]
    assert sorted(b"too" in place.read_bytes() for _, place in again.damaged) == [False, True]
    again.close()
    assert list(unsaved.iterdir()) == []
    assert opened().damaged == []


def test_what_is_damaged_and_cannot_be_moved_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "anna.toml"
    ended = Rescue(path)
    place = ended.keep(Scorecard("kv", "alpha", "anna"), None)
    ended.close()
    assert place is not None
    place.write_bytes(b"\xff")
    rescue.place(path, "unreadable", ".toml").parent.write_text("in the way")
    window = Rescue(path)
    assert (window.take_up(path, None, never), window.damaged) == ((), (place,))
    assert window.keep(Scorecard("kv", "alpha", "anna"), None) not in (None, place)
    window.drop()
    assert place.read_bytes() == b"\xff"


async def test_damaged_work_is_told_on_the_screen(workspace: Workspace) -> None:
    card, matchup = workspace.scorecard_path("kv", "alpha", "anna"), workspace.matchups_path("kv", "anna")
    for path in (card, matchup / "alpha+beta"):
        unsaved = rescue.place(path, "unsaved", ".toml")
        unsaved.parent.mkdir(parents=True, exist_ok=True)
        unsaved.write_bytes(b"\xff")
    async with running(make_app(workspace)) as driver:
        aside = rescue.place(card, "unreadable", ".toml")
        await driver.until(lambda: f"A: {told_of_damage(aside)}" in told(driver))
        await driver.press("M")
        aside = rescue.place(matchup / "alpha+beta", "unreadable", ".toml")
        await driver.until(lambda: told_of_damage(aside) in told(driver))
        assert aside.read_bytes() == b"\xff"


def told(driver: Driver) -> list[str]:
    return [one.message for one in driver.app._notifications]


def test_work_of_several_runs_is_told_as_such() -> None:
    one, two = (
        told_of_earlier_work(runs, "scorecard", behind=False, undo="u", settle="!") for runs in (1, 2)
    )
    assert one == "Unsaved work of an earlier run is back in the scorecard; u takes it away again."
    assert "2 earlier runs" in two
    assert "u goes back to what is older." in two
    asked = told_of_earlier_work(2, "matchup", behind=True, undo="u", settle="!")
    assert "! asks about what both have changed. u goes back to what is older." in asked
