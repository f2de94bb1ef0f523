from __future__ import annotations

import difflib
import errno
import os
import stat
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.note import KINDS, SEVERITIES, Note
from judge_tui.judging.scorecard import (
    CheckSeen,
    Conflict,
    DimensionScore,
    FileStamp,
    RubricSeen,
    Scorecard,
    load_scorecard,
    parse_scorecard,
    read_scorecard,
    render_scorecard,
    save_scorecard,
)

HERE = Path("card.toml")
TEXT = st.text(max_size=40) | st.sampled_from(
    ["two\nlines", 'a """ quote', "back\\slash\\", "crlf\r\nend", "日本 🎉\t"]
)
UNKNOWN = st.dictionaries(
    st.text(min_size=1, max_size=6).map(lambda key: f"x-{key}"),
    TEXT | st.integers(-99, 99) | st.booleans() | st.lists(st.integers(0, 9), max_size=3)
    | st.dictionaries(st.text(max_size=4), st.integers(0, 9), max_size=2)
    | st.lists(st.dictionaries(st.text(max_size=4), TEXT, min_size=1, max_size=2), min_size=1, max_size=2),
    max_size=2,
)  # fmt: skip
POINTS = st.none() | st.integers(0, 100)
NOTES = st.builds(
    Note,
    kind=st.sampled_from(KINDS),
    text=TEXT,
    severity=st.sampled_from(SEVERITIES),
    file=st.none() | st.sampled_from(["a.py", "src/b.cu"]),
    lines=st.none() | st.tuples(st.integers(1, 9), st.integers(10, 20)),
    quote=TEXT,
    id=st.uuids().map(str),
    extra=UNKNOWN,
)
CARDS = st.builds(
    Scorecard,
    task=st.just("kv"),
    model=TEXT,
    judge=TEXT,
    rubric=st.builds(RubricSeen, st.sampled_from(["", "kv"]), st.none() | st.integers(1, 9), TEXT, UNKNOWN),
    submission=st.none() | st.just("sha256:00"),
    created=st.none()
    | st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.replace(microsecond=0)),
    overall=POINTS,
    overall_reason=TEXT,
    grade=st.none() | st.sampled_from(["A", "A-"]),
    summary=TEXT,
    dimensions=st.dictionaries(
        st.text(min_size=1, max_size=8), st.builds(DimensionScore, POINTS, TEXT, UNKNOWN), max_size=3
    ),
    notes=st.lists(NOTES, max_size=3, unique_by=lambda note: note.id).map(tuple),
    checks=st.lists(st.builds(CheckSeen, TEXT, TEXT, TEXT, UNKNOWN), max_size=2).map(tuple),
    extra=UNKNOWN,
)


@given(CARDS)
def test_a_card_reads_back_as_it_was_written_with_every_unknown_key(card: Scorecard) -> None:
    text = render_scorecard(card)
    again = parse_scorecard(text.encode(), HERE)
    assert again == card
    assert render_scorecard(again) == text


@given(CARDS, st.integers(0, 100))
def test_one_more_score_changes_nothing_but_its_own_lines(card: Scorecard, score: int) -> None:
    before = render_scorecard(card.with_score("zz-dimension", None)).splitlines()
    after = render_scorecard(card.with_score("zz-dimension", score)).splitlines()
    changed = [line for line in difflib.ndiff(before, after) if line[0] in "+-"]
    assert len(changed) <= 3  # a blank line, the section's head, the score
    assert all(line.startswith("+") for line in changed)


def test_an_absent_score_is_not_scored_and_never_zero() -> None:
    card = parse_scorecard(b'task="kv"\nmodel="m"\njudge="j"\n[dimensions.a]\ncomment="c"\n', HERE)
    assert card.score("a") is None
    assert card.score("b") is None
    assert card.overall is None
    assert "score" not in render_scorecard(card)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('judge = 3\ntask="kv"\nmodel="m"', 1, "'judge' must be a text"),
        ('task="kv"\nmodel="m"', None, "'judge' is missing"),
        ('task="kv"\nmodel="m"\njudge="j"\noverall = 101', 4, "between 0 and 100"),
        ('task="kv"\nmodel="m"\njudge="j"\noverall = true', 4, "whole number"),
        ('task="kv"\nmodel="m"\njudge="j"\n[dimensions.a]\nscore = 92.5', 5, "whole number"),
        ('task="kv"\nmodel="m"\njudge="j"\n[dimensions]\na = 5', 5, "must be a table"),
        ('task="kv"\nmodel="m"\njudge="j"\n[[notes]]\nkind="praise"\ntext=""', 5, "strength"),
        (
            'task="kv"\nmodel="m"\njudge="j"\n[[notes]]\nkind="bug"\ntext="t"\nlines=[1]',
            7,
            "first and the last",
        ),
        ('schema = 2\ntask="kv"\nmodel="m"\njudge="j"', 1, "schema 2"),
    ],
)
def test_a_malformed_card_is_one_error_with_file_and_line(text: str, line: int | None, words: str) -> None:
    with pytest.raises(WorkspaceError) as caught:
        parse_scorecard(text.encode(), HERE)
    assert words in caught.value.message
    assert caught.value.file == "card.toml"
    assert caught.value.line == line


@pytest.fixture
def card() -> Scorecard:
    return Scorecard(task="kv", model="glm5", judge="anna").with_score("correctness", 85)


def test_saving_stamps_the_moment_and_gives_the_stamp_of_the_file(tmp_path: Path, card: Scorecard) -> None:
    path = tmp_path / "scores" / "kv" / "glm5" / "anna.toml"
    stamp = save_scorecard(path, card, None)
    saved, read = read_scorecard(path)
    assert saved is not None
    assert (stamp, stamp) == (read, FileStamp.at(path))
    assert saved.created == saved.updated is not None
    assert replace(saved, created=None, updated=None) == card
    assert [p.name for p in path.parent.iterdir()] == ["anna.toml"]


def test_two_windows_of_one_judge_are_told_apart(tmp_path: Path, card: Scorecard) -> None:
    path = tmp_path / "anna.toml"
    first = save_scorecard(path, card, None)
    save_scorecard(path, card.with_score("correctness", 60), first)
    for believed in (first, None):
        with pytest.raises(Conflict):
            save_scorecard(path, card.with_score("correctness", 99), believed)
    assert load_scorecard(path).score("correctness") == 60
    path.unlink()
    with pytest.raises(Conflict):
        save_scorecard(path, card, first)


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_failure_between_writing_and_renaming_leaves_the_old_card(
    tmp_path: Path, card: Scorecard, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "anna.toml"
    stamp = save_scorecard(path, card, None)
    before = path.read_bytes()

    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, {"write": "fdopen"}.get(step, step), fail)
    with pytest.raises(WorkspaceError, match="No space left"):
        save_scorecard(path, card.with_score("correctness", 1), stamp)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["anna.toml"]


def test_a_folder_that_refuses_to_be_flushed_is_no_failed_save(
    tmp_path: Path, card: Scorecard, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = tmp_path / "anna.toml", os.fsync

    def fsync(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(22, "Invalid argument")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    stamp = save_scorecard(path, card, None)
    save_scorecard(path, card.with_score("correctness", 1), stamp)
    assert load_scorecard(path).score("correctness") == 1


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP, errno.ENOSYS])
def test_a_disk_that_cannot_flush_at_all_takes_a_save(
    tmp_path: Path, card: Scorecard, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fsync(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fsync)
    path = tmp_path / "anna.toml"
    stamp = save_scorecard(path, card, None)
    save_scorecard(path, card.with_score("correctness", 1), stamp)
    assert load_scorecard(path).score("correctness") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["anna.toml"]


def test_a_program_killed_before_renaming_costs_nothing_and_its_rest_is_swept(
    tmp_path: Path, card: Scorecard
) -> None:
    path = tmp_path / "anna.toml"
    stamp = save_scorecard(path, card, None)
    pid = os.fork()
    if pid == 0:
        os.replace = lambda *_: os._exit(9)  # type: ignore[assignment]
        save_scorecard(path, card.with_score("correctness", 1), stamp)
        os._exit(0)
    os.waitpid(pid, 0)
    assert len(list(tmp_path.iterdir())) == 2
    assert load_scorecard(path).score("correctness") == 85
    save_scorecard(path, card.with_score("correctness", 2), stamp)
    assert [p.name for p in tmp_path.iterdir()] == ["anna.toml"]


def refused(*_: object) -> None:
    raise PermissionError(errno.EPERM, "Operation not permitted")


def test_on_a_disk_without_locks_and_modes_a_card_is_saved_beside_what_a_killed_program_left(
    tmp_path: Path, card: Scorecard, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "anna.toml"
    stamp = save_scorecard(path, card, None)
    monkeypatch.setattr("judge_tui.judging.storage.fcntl.flock", refused)
    monkeypatch.setattr("judge_tui.judging.storage.os.fchmod", refused)
    # in a container the next process may have the same number
    (tmp_path / f".anna.toml.{os.getpid()}.tmp").write_text("half")
    save_scorecard(path, card.with_score("correctness", 2), stamp)
    assert load_scorecard(path).score("correctness") == 2


def test_the_mode_of_a_card_is_kept_and_a_link_is_followed(tmp_path: Path, card: Scorecard) -> None:
    real, link = tmp_path / "real.toml", tmp_path / "link.toml"
    stamp = save_scorecard(real, card, None)
    real.chmod(0o640)
    link.symlink_to(real)
    save_scorecard(link, card.with_score("correctness", 3), stamp)
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert load_scorecard(real).score("correctness") == 3


def test_a_folder_that_is_a_file_is_one_error(tmp_path: Path, card: Scorecard) -> None:
    (tmp_path / "scores").write_text("")
    with pytest.raises(WorkspaceError, match="cannot be written"):
        save_scorecard(tmp_path / "scores" / "anna.toml", card, None)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_one_error(tmp_path: Path, card: Scorecard) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(WorkspaceError, match="cannot be written"):
        save_scorecard(tmp_path / "anna.toml", card, None)
    tmp_path.chmod(0o700)


def test_text_that_utf8_cannot_carry_does_not_stop_a_save(tmp_path: Path, card: Scorecard) -> None:
    path = tmp_path / "anna.toml"
    save_scorecard(path, card.with_summary("broken \udcff byte"), None)
    assert load_scorecard(path).summary == "broken \ufffd byte"


def test_notes_without_ids_get_stable_ones_that_are_not_written(write: Callable[..., Path]) -> None:
    note = '\n[[notes]]\nkind = "bug"\nseverity = "minor"\ntext = "t"\n'
    path = write('schema = 1\ntask = "kv"\nmodel = "m"\njudge = "j"\n' + note)
    card = load_scorecard(path)
    assert card.notes == load_scorecard(path).notes
    assert card.notes[0].id
    assert render_scorecard(card) == path.read_text()
    twice = parse_scorecard(path.read_bytes() + note.encode(), HERE)
    assert len({note.id for note in twice.notes}) == 2


FOLLOWED = """
[[notes]]
kind = "bug"
severity = "minor"
text = "off by one"
file = "a.py"
lines = [3, 3]
quote = "x"

[notes.followed]
file = "b.py"
lines = [9, 10]
quote = "y"
{more}
[notes.followed.context]
before = ["z"]
text = "1f"
mine = 1
"""


def parsed(more: str) -> tuple[Note, str]:
    """A note that was followed, and how its card is written again."""
    text = 'task = "kv"\nmodel = "a"\njudge = "b"\n' + FOLLOWED.format(more=more)
    card = parse_scorecard(text.encode(), Path("a.toml"))
    return card.notes[0], render_scorecard(card)


def test_where_the_lines_of_a_note_went_is_kept_with_every_unknown_key() -> None:
    note, written = parsed("gone = true\nmood = 2\n")
    assert note.followed is not None
    assert (note.followed.file, note.followed.lines, note.followed.gone) == ("b.py", (9, 10), True)
    assert (note.file, note.lines, note.quote) == ("a.py", (3, 3), "x")
    assert "mood = 2" in written
    assert "mine = 1" in written
    assert parse_scorecard(written.encode(), Path("a.toml")).notes == (note,)


def test_a_way_of_a_note_that_is_none_that_is_known_stays_as_somebody_wrote_it() -> None:
    note, written = parsed('gone = "for good"\n')
    assert note.followed is None
    assert 'gone = "for good"' in written
