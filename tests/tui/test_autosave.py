"""The thread that saves: what it says of a card that is on its way to the disk."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from judge_tui.checks.errors import UsageError
from judge_tui.judging.storage import Conflict, FileStamp
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.desk.autosave import Autosave, SaveReport
from judge_tui.tui.desk.matchup_desk import MatchupDesk
from judge_tui.tui.kept.documents import Document
from judge_tui.tui.kept.rescue import Rescue, every_kept
from judge_tui.tui.session import Session

from .conftest import CODE, Reports


def test_a_card_that_is_being_written_is_not_saved_yet(tmp_path: Path) -> None:
    begun, go_on, told = threading.Event(), threading.Event(), threading.Event()
    reports: list[SaveReport] = []

    def save(path: Path, card: str, stamp: FileStamp | None) -> FileStamp:
        begun.set()
        assert go_on.wait(60)
        return FileStamp.of(card.encode())

    def report(report: SaveReport) -> None:
        reports.append(report)
        told.set()

    document = Document(lambda data, _path: data.decode(), str, save)
    autosave = Autosave([tmp_path / "card.toml"], [None], report, document=document)
    try:
        autosave.submit(0, "a card")
        assert begun.wait(60)
        assert autosave.unsaved() == (0,)
        go_on.set()
        assert told.wait(60)
        assert autosave.unsaved() == ()
        assert [report.state for report in reports] == ["saved"]
    finally:
        go_on.set()
        autosave.close()


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


class Disk:
    """Saves texts, or does what it is told instead.

    Attributes:
        fault: What a save raises.
        go_on: Without it, saves stand still.
        begun: A save stands still, or has not.
        held: What was saved.
        kept: What was kept of each as it was saved.
        document: How.
    """

    def __init__(self) -> None:
        self.fault: Exception | None = None
        self.go_on, self.begun = threading.Event(), threading.Event()
        self.go_on.set()
        self.held: list[str] = []
        self.kept: list[list[str]] = []
        self.document: Document[str] = Document(lambda data, _: data.decode(), str, self.save)

    def save(self, path: Path, card: str, stamp: FileStamp | None) -> FileStamp:
        self.begun.set()
        assert self.go_on.wait(60)
        if self.fault is not None:
            raise self.fault
        self.held.append(card)
        self.kept.append(kept(path, self))
        return FileStamp.of(card.encode())


def kept(path: Path, disk: Disk) -> list[str]:
    return [text.partition("\n")[2] for text in every_kept(path, disk.document)]


def test_an_error_that_nobody_thought_of_is_a_failed_save_and_the_next_is_made(
    tmp_path: Path, reports: Reports
) -> None:
    disk = Disk()
    autosave = Autosave([tmp_path / "card.toml"], [None], reports, document=disk.document)
    try:
        disk.fault = ZeroDivisionError("of all things")
        autosave.submit(0, "a card")
        assert autosave.flush()
        assert "card.toml: cannot be saved (ZeroDivisionError: of all things)." in reports.all[0].message
        assert "Your work is kept in" in reports.all[0].message
        assert (reports.all[0].state, autosave.unsaved(), autosave.lost()) == ("failed", (0,), ())
        disk.fault = None
        autosave.submit(0, "a card and more")
        assert autosave.flush()
        assert (disk.held, autosave.unsaved()) == (["a card and more"], ())
    finally:
        autosave.close()


def test_what_can_be_rendered_nowhere_is_lost_and_told_so(tmp_path: Path, reports: Reports) -> None:
    disk = Disk()
    disk.fault = UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates not allowed")
    document = replace(disk.document, render=lambda card: card + "\udcff")
    autosave = Autosave([tmp_path / "card.toml"], [None], reports, document=document)
    try:
        autosave.submit(0, "a card")
        assert autosave.flush()
        assert (autosave.unsaved(), autosave.lost()) == ((0,), (0,))
    finally:
        autosave.close()


def test_a_report_that_nobody_takes_ends_no_saving(tmp_path: Path) -> None:
    def report(_: SaveReport) -> None:
        raise RuntimeError("the screen is gone")

    disk = Disk()
    autosave = Autosave([tmp_path / "card.toml"], [None], report, document=disk.document)
    try:
        for text in ("one", "two"):
            autosave.submit(0, text)
            assert autosave.flush()
        assert disk.held == ["one", "two"]
    finally:
        autosave.close()


@pytest.fixture
def slow(
    tmp_path: Path, reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Autosave, Disk]]:
    """Two cards, of which the first is being written and the second waits; nobody waits for the disk."""
    monkeypatch.setattr("judge_tui.tui.desk.autosave._PATIENCE_S", 0.0)
    disk = Disk()
    disk.go_on.clear()
    paths = [tmp_path / "first.toml", tmp_path / "second.toml"]
    autosave = Autosave(paths, [None, None], reports, document=disk.document)
    autosave.submit(0, "the first")
    assert disk.begun.wait(60)
    autosave.submit(1, "the second")
    yield autosave, disk
    disk.go_on.set()
    autosave.close()
    autosave._thread.join()


def test_what_a_slow_disk_has_not_taken_is_kept_on_closing(
    tmp_path: Path, slow: tuple[Autosave, Disk]
) -> None:
    autosave, disk = slow
    autosave.close()
    assert (autosave.unsaved(), autosave.lost()) == ((0, 1), ())
    for name in ("first", "second"):
        path = tmp_path / f"{name}.toml"
        assert kept(path, disk) == [f"the {name}"]
        # its window has ended
        assert len(Rescue(path, disk.document).take_up(path, None, lambda _: False)) == 1


def test_what_a_slow_disk_has_not_taken_and_nothing_keeps_is_lost(
    tmp_path: Path, slow: tuple[Autosave, Disk]
) -> None:
    autosave, _ = slow
    (tmp_path / "state").write_text("in the way")
    assert not autosave.flush()
    assert autosave.lost() == (0, 1)
    (tmp_path / "state").unlink()
    autosave.close()
    assert autosave.lost() == ()


def test_what_was_written_late_does_not_forget_what_was_kept_since(
    tmp_path: Path, slow: tuple[Autosave, Disk]
) -> None:
    autosave, disk = slow
    autosave.submit(0, "the first and more")
    assert not autosave.flush()
    disk.go_on.set()
    assert autosave.flush(60)
    saved = dict(zip(disk.held, disk.kept, strict=True))
    assert saved["the first and more"] == ["the first and more"]
    assert kept(tmp_path / "first.toml", disk) == []
    assert (autosave.unsaved(), autosave.lost()) == ((), ())


def test_an_older_state_that_is_kept_does_not_make_up_for_a_newer_one_that_is_lost(
    tmp_path: Path, slow: tuple[Autosave, Disk]
) -> None:
    autosave, disk = slow
    autosave.submit(0, "the first and more")
    (tmp_path / "state").write_text("in the way")
    autosave.close()
    (tmp_path / "state").unlink()
    disk.fault = OSError("no room")
    disk.go_on.set()
    autosave._thread.join()
    assert autosave.lost() == (0, 1)


def test_what_could_be_kept_nowhere_is_tried_again_on_closing(tmp_path: Path, reports: Reports) -> None:
    disk = Disk()
    disk.fault = OSError("no room")
    (tmp_path / "state").write_text("in the way")
    autosave = Autosave([tmp_path / "card.toml"], [None], reports, document=disk.document)
    autosave.submit(0, "a card")
    assert autosave.flush()
    assert autosave.lost() == (0,)
    (tmp_path / "state").unlink()
    autosave.close()
    assert (autosave.unsaved(), autosave.lost()) == ((0,), ())
    assert kept(tmp_path / "card.toml", disk) == ["a card"]


def test_what_failed_is_tried_again_on_its_own_and_told_once(
    tmp_path: Path, reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge_tui.tui.desk.autosave._AGAIN_S", 0.01)
    disk = Disk()
    disk.fault = OSError("no room")
    autosave = Autosave([tmp_path / "card.toml"], [None], reports, document=disk.document)
    try:
        autosave.submit(0, "a card")
        for _ in range(3):
            disk.begun.clear()
            assert disk.begun.wait(60)
        assert [report.state for report in reports.all] == ["failed"]
        disk.fault = None
        reports.wait_for("saved")
        assert (disk.held, autosave.unsaved(), autosave.lost()) == (["a card"], (), ())
        assert kept(tmp_path / "card.toml", disk) == []
    finally:
        autosave.close()


def test_a_disk_that_has_come_back_takes_on_closing_what_it_did_not(tmp_path: Path, reports: Reports) -> None:
    disk = Disk()
    disk.fault = OSError("no room")
    autosave = Autosave([tmp_path / "card.toml"], [None], reports, document=disk.document)
    autosave.submit(0, "a card")
    assert autosave.flush()
    disk.fault = None
    autosave.close()
    assert (disk.held, autosave.unsaved()) == (["a card"], ())


def test_a_conflict_is_not_tried_again_by_itself(
    tmp_path: Path, reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge_tui.tui.desk.autosave._AGAIN_S", 0.01)
    disk = Disk()
    disk.fault = Conflict("was changed")
    autosave = Autosave([tmp_path / "card.toml"], [None], reports, document=disk.document)
    autosave.submit(0, "a card")
    assert autosave.flush()
    disk.fault = None
    disk.begun.clear()
    assert not disk.begun.wait(0.2)
    autosave.close()
    assert (disk.held, autosave.unsaved()) == ([], (0,))


def test_a_model_whose_name_cannot_be_saved_is_not_opened(workspace: Workspace) -> None:
    name = os.fsdecode(b"ga\xffmma")
    folder = workspace.submissions / name / "kv"
    folder.mkdir(parents=True)
    (folder / "kv_cache.py").write_text(CODE)
    for models in ((name, "alpha"), ("alpha", name)):
        with pytest.raises(UsageError, match=r"is not UTF-8.* Rename the folder"):
            Session(workspace, [workspace.submission(model, "kv") for model in models], "anna")
        with pytest.raises(UsageError, match="is not UTF-8"):
            MatchupDesk(workspace, "kv", models, "anna")


def test_a_matchup_with_a_model_called_tie_is_not_opened(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="stored as a tie"):
        MatchupDesk(workspace, "kv", ("alpha", "tie"), "anna")
