"""What a file is that somebody brings, and the files that it comes to."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Literal, get_args

from judge_tui.checks.sources import fence_line, is_binary
from judge_tui.cli.bringing.answers import from_text
from judge_tui.cli.bringing.archives import from_archive
from judge_tui.cli.bringing.brought import Brought, Refused, listed
from judge_tui.cli.bringing.notebooks import from_notebook
from judge_tui.cli.bringing.samples import looks_like_samples
from judge_tui.judging.containers import HEAD, NOTEBOOK, packing

__all__ = ["FORMS", "Form", "brought_of", "form_of", "text_of"]

Form = Literal["files", "archive", "answer", "notebook", "samples"]
FORMS: tuple[str, ...] = get_args(Form)
_ANSWERS = frozenset({".md", ".markdown", ".mdx"})
_MAYBE_ANSWERS = frozenset({".txt", ".text", ""})
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LINES = frozenset({".jsonl", ".ndjson"})


def form_of(name: str, data: bytes, *, piped: bool = False) -> Form:
    """What a file is, by its name and its first bytes.

    Args:
        name: Its name.
        data: Its content.
        piped: Whether it came through a pipe, and has no name of its own.
    """
    suffix = PurePosixPath(name.lower()).suffix
    if packing(name, data[:HEAD]):
        return "archive"
    if suffix == NOTEBOOK or (piped and data.lstrip()[:1] == b"{" and b'"nbformat"' in data):
        return "notebook"
    if suffix in _LINES or (piped and looks_like_samples(data)):
        return "samples"
    if is_binary(data) and not data.startswith(_UTF16):
        return "files"
    fenced = suffix in _MAYBE_ANSWERS and fence_line(data.decode("utf-8", "replace"))
    return "answer" if piped or suffix in _ANSWERS or fenced else "files"


def brought_of(form: Form, name: str, data: bytes, task: str) -> Brought:
    """The files that one file comes to.

    Args:
        form: What it is; samples are answers, each to be brought by itself.
        name: Its name.
        data: Its content.
        task: What files without a name are called after.

    Raises:
        Refused: It is damaged, holds too much, or nothing.
    """
    if form == "archive":
        return _one_more(from_archive(name, data), task)
    if form == "notebook":
        return from_notebook(data, task)
    if form == "answer":
        return from_text(text_of(data), task)
    return Brought({name: data}, told=_told_of(name, data))


def _one_more(unpacked: Brought, task: str) -> Brought:
    """What was packed; an answer or a notebook that was packed alone is taken for what it is."""
    if len(unpacked.files) != 1:
        return Brought(unpacked.files, unpacked.left_out, (*unpacked.told, *told_of_files(unpacked)))
    [(name, data)] = unpacked.files.items()
    form = form_of(name, data)
    if form not in ("answer", "notebook"):
        return unpacked
    inner = brought_of(form, name, data, task)
    return Brought(inner.files, unpacked.left_out, (*unpacked.told, *inner.told))


def told_of_files(brought: Brought) -> tuple[str, ...]:
    """What is said of notebooks among files of code."""
    found = [name for name in brought.files if name.lower().endswith(NOTEBOOK)]
    if not found:
        return ()
    are = "is a notebook" if len(found) == 1 else "are notebooks"
    return (f"{listed(found)} {are}, where no check reads code: judge-tui add takes one by itself.",)


def _told_of(name: str, data: bytes) -> tuple[str, ...]:
    text = data.decode("utf-8", "replace") if name.endswith((".py", ".cu")) else ""
    if line := fence_line(text):
        return (f"{name} has a Markdown fence in line {line}: --format answer takes the code out of it.",)
    return ()


def text_of(data: bytes) -> str:
    """The text of an answer.

    Raises:
        Refused: It is none.
    """
    if data.startswith(_UTF16):
        return data.decode("utf-16", "replace")
    if is_binary(data):
        raise Refused("is no text.")
    return data.decode("utf-8-sig", "replace")
