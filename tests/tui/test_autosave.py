"""The thread that saves: what it says of a card that is on its way to the disk."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from judge_tui.checks.errors import UsageError
from judge_tui.judging.storage import FileStamp
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.desk.autosave import Autosave, SaveReport
from judge_tui.tui.desk.documents import Document
from judge_tui.tui.desk.matchup_desk import MatchupDesk
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
    """Saves texts, or does what it is told instead."""

    def __init__(self) -> None:
        self.fault: Exception | None = None
        self.held: list[str] = []
        self.document = Document(lambda data, _: data.decode(), str, self.save)

    def save(self, path: Path, card: str, stamp: FileStamp | None) -> FileStamp:
        if self.fault is not None:
            raise self.fault
        self.held.append(card)
        return FileStamp.of(card.encode())


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
