"""What is no file is neither waited for nor read without end."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from judge_tui.checks.regular_files import open_regular
from judge_tui.checks.store import Store
from judge_tui.checks.submission import META, Submission

MAKES: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "outside": lambda path: path.symlink_to("/etc/passwd"),
    "loop": lambda path: path.symlink_to(path.name),
    "folder": Path.mkdir,
    "nothing": lambda path: None,
}


@pytest.fixture(params=MAKES)
def became(request: pytest.FixtureRequest) -> Callable[[Path], object]:
    """Puts something else in the place of a file."""

    def put(path: Path) -> None:
        path.unlink()
        MAKES[request.param](path)

    return put


def test_a_file_that_became_something_else_after_it_was_listed_reads_as_empty(
    submitted: Callable[..., Submission], became: Callable[[Path], object]
) -> None:
    submission = submitted("x = 1\n")
    assert submission.files == ("code.py",)
    became(submission.path / "code.py")
    assert (submission.read_bytes("code.py"), len(submission.digest)) == (b"", 71)


def test_a_binding_table_that_is_no_file_is_none(
    submitted: Callable[..., Submission], became: Callable[[Path], object], tmp_path: Path
) -> None:
    submission = submitted("x = 1\n")
    (submission.path / META).write_text('comment = "c"\n')
    store = Store(tmp_path / "cache")
    with_table = store.key(submission, "cpu", "a processor")
    became(submission.path / META)
    submission.refresh()
    assert submission.meta.comment == ""
    assert store.key(submission, "cpu", "a processor") != with_table


def test_a_link_to_a_file_is_followed_where_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to("file")
    with open_regular(tmp_path / "link", follow=True) as file:
        assert file.read() == b"text"
    with pytest.raises(OSError, match="symbolic links"):
        open_regular(tmp_path / "link")
