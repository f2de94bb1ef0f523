"""The thread that saves: what it says of a card that is on its way to the disk."""

from __future__ import annotations

import threading
from pathlib import Path

from judge_tui.judging.storage import FileStamp
from judge_tui.tui.desk.autosave import Autosave, SaveReport
from judge_tui.tui.desk.documents import Document


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
