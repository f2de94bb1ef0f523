"""A desk holds any documents: here, two lines of text, the words of which are its parts."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.merging import Merged, Parts, merged
from judge_tui.judging.storage import Conflict, FileStamp
from judge_tui.judging.versions import Differing
from judge_tui.tui.desk.document_desk import DocumentDesk, Kind, OnDisk
from judge_tui.tui.kept.documents import Document

Words = tuple[str, ...]


def put(words: Words, key: tuple[str, str], said: str) -> Words:
    at = int(key[1])
    return (*words[:at], said, *words[at + 1 :])


WORDS: Parts[Words] = Parts(
    lambda versions: [("word", str(at)) for at in range(len(next(iter(versions))))],
    lambda words, key: words[int(key[1])],
    put,
)


def read(path: Path) -> OnDisk[Words]:
    text = path.read_text()
    return OnDisk(tuple(text.split()), FileStamp.at(path), "It is read-only." if "read-only" in text else "")


def parse(data: bytes, _: Path) -> Words:
    # what is kept says in comments what it was begun on
    lines = [line for line in data.decode().splitlines() if not line.startswith("#")]
    return tuple(" ".join(lines).split())


def save(path: Path, words: Words, expected: FileStamp | None) -> FileStamp | None:
    if FileStamp.at(path) != expected:
        raise Conflict("was written by somebody else.", file=path)
    if "unwritable" in words:
        raise WorkspaceError("is on no disk.", file=path)
    path.write_text(" ".join(words))
    return FileStamp.at(path)


def joined() -> tuple[Parts[Words], Callable[[Words | None, Words, Words], Merged[Words]]]:
    return WORDS, partial(merged, WORDS)


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    found = [tmp_path / "one", tmp_path / "two"]
    for path in found:
        path.write_text("a b c")
    return found


@pytest.fixture
def opened(paths: list[Path]) -> Iterator[Callable[[], DocumentDesk[Words]]]:
    desks: list[DocumentDesk[Words]] = []

    def open_desk() -> DocumentDesk[Words]:
        document: Document[Words] = Document(parse, " ".join, save)
        kind = Kind(
            document,
            lambda index: read(paths[index]),
            operator.eq,
            lambda begun, older, newer: merged(WORDS, begun, older, newer).value,
            joined,
            operator.eq,
        )
        desks.append(DocumentDesk(kind, paths, paths, [read(path) for path in paths], lambda _: None))
        return desks[-1]

    yield open_desk
    for desk in desks:
        desk.close()


def change(desk: DocumentDesk[Words], index: int, text: str) -> None:
    words = tuple(text.split())
    desk.changes.make(index, text, words)
    desk.autosave.submit(index, words)
    desk.autosave.flush()


def told(key: tuple[str, str], ours: Words, theirs: Words) -> Differing:
    return Differing(key[1], WORDS.said(ours, key), WORDS.said(theirs, key))


def test_changes_of_several_are_taken_back_in_one_order(
    opened: Callable[[], DocumentDesk[Words]], paths: list[Path]
) -> None:
    desk = opened()
    change(desk, 0, "x b c")
    change(desk, 1, "a b z")
    assert [path.read_text() for path in paths] == ["x b c", "a b z"]
    assert desk.changes.undo() == (1, "a b z")
    assert desk.changes.undo() == (0, "x b c")
    assert desk.changes.now == (("a", "b", "c"), ("a", "b", "c"))


def test_what_was_changed_on_either_side_is_made_one(
    opened: Callable[[], DocumentDesk[Words]], paths: list[Path]
) -> None:
    desk = opened()
    paths[0].write_text("a b theirs")
    change(desk, 0, "ours b c")
    assert desk.autosave.unsaved() == (0,)
    assert desk.clashes(0, desk.changes[0], told) == []
    assert desk.merge(0, desk.changes[0], {})
    assert desk.changes[0] == ("ours", "b", "theirs")


def test_what_both_have_changed_is_asked_about_and_undo_leads_to_the_other_word(
    opened: Callable[[], DocumentDesk[Words]], paths: list[Path]
) -> None:
    desk = opened()
    paths[0].write_text("theirs b c")
    change(desk, 0, "ours b c")
    [(key, differing)] = desk.clashes(0, desk.changes[0], told)
    assert (differing.here, differing.there) == ("ours", "theirs")
    assert not desk.merge(0, desk.changes[0], {})
    assert desk.changes[0] == ("ours", "b", "c")
    assert desk.merge(0, desk.changes[0], {key: "ours"})
    assert desk.changes[0] == ("ours", "b", "c")
    desk.changes.undo()
    assert desk.changes[0] == ("theirs", "b", "c")


@pytest.mark.parametrize(("mine", "stands", "other"), [(True, "ours", "theirs"), (False, "theirs", "ours")])
def test_settled_as_a_whole_the_other_version_is_an_undo_away(
    opened: Callable[[], DocumentDesk[Words]], paths: list[Path], mine: bool, stands: str, other: str
) -> None:
    desk = opened()
    paths[0].write_text("theirs b c")
    change(desk, 0, "ours b c")
    desk.settle(0, read(paths[0]), mine=mine)
    assert desk.changes[0][0] == stands
    assert desk.autosave.unsaved() == ()
    desk.changes.undo()
    assert desk.changes[0][0] == other


def test_what_cannot_be_written_is_there_at_the_next_start(
    opened: Callable[[], DocumentDesk[Words]], paths: list[Path]
) -> None:
    desk = opened()
    change(desk, 1, "a unwritable c")
    assert (desk.autosave.unsaved(), desk.autosave.lost()) == ((1,), ())
    desk.close()
    again = opened()
    assert (again.restored, again.earlier_runs, again.behind) == ((1,), {1: 1}, ())
    assert again.changes[1] == ("a", "unwritable", "c")
    again.changes.undo()
    assert again.changes[1] == ("a", "b", "c")


def test_what_is_refused_takes_nothing_up_and_is_made_one_with_nothing(
    opened: Callable[[], DocumentDesk[Words]], paths: list[Path]
) -> None:
    desk = opened()
    change(desk, 0, "a unwritable c")
    desk.close()
    paths[0].write_text("a b read-only")
    again = opened()
    assert again.closed == {0: "It is read-only."}
    assert again.restored == ()
    assert again.changes[0] == ("a", "b", "read-only")
    assert not again.merge(0, again.changes[0], {})
