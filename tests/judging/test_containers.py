"""Files that hold code as something else: what they are, and what is said where nothing else is there."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from judge_tui.checks.submission import Submission
from judge_tui.judging.containers import closed, container, unopened


def _zip() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.py", "x")
    return out.getvalue()


def _tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.py"))
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("w.zip", _zip(), "a zip archive"),
        ("w", _zip(), "a zip archive"),
        ("w.tar", _tar(), "a tar archive"),
        ("w.tgz", gzip.compress(b"x"), "a gzip archive"),
        ("w.npz", _zip(), ""),
        ("w.docx", _zip(), "a Word document"),
        ("w.pdf", b"%PDF-1.7", "a PDF"),
        ("w.ipynb", b"{}", "a notebook"),
        ("w.md", b"x", "Markdown"),
        ("w.py", b"x", ""),
        ("w", b"", ""),
    ],
    ids=range(11),
)
def test_a_file_is_told_by_its_bytes_and_its_name(name: str, data: bytes, what: str) -> None:
    assert container(name, data[:512]) == what
    assert bool(closed(name, data)) == (what not in ("", "a notebook", "Markdown"))


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"w.zip": _zip()}, "w.zip is a zip archive, no file of code, and judge-tui add w.zip makes those."),
        ({"w.ipynb": b"{}", "notes.txt": b"x"}, "w.ipynb is a notebook, no file of code, and judge-tui add"),
        ({"a.md": b"```python\nx = 1\n```\n"}, "a.md is Markdown with code in fences, no file of code, and"),
        ({"w.pdf": b"%PDF-1.7"}, "w.pdf is a PDF, no file of code."),
        ({"a.md": b"prose\n"}, ""),
        ({"w.zip": _zip(), "a.py": b"x = 1\n"}, ""),
        ({}, ""),
    ],
    ids=range(7),
)
def test_a_submission_without_a_file_of_code_is_told_why(
    tmp_path: Path, files: dict[str, bytes], told: str
) -> None:
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    found = unopened(Submission.at(tmp_path))
    assert found.startswith(told)
    assert bool(found) == bool(told)
