from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.document import Inline, parse_toml, read_document, render_toml

DOCUMENT = b"""\
# a comment
top = 1

[a]
x = "one"

[[notes]]
kind = "bug"

[[notes]]
kind = "strength"
[[notes.criteria]]
name = "n"
edge = 3

[inline]
cells = { left = 5 }
"""


def test_a_fault_names_the_line_of_a_key_in_a_repeated_table() -> None:
    root = parse_toml(DOCUMENT, Path("f.toml"))
    second = root.tables("notes")[1]
    assert root.fault("off", "top").line == 2
    assert root.table("a").fault("off", "x").line == 5
    assert second.fault("off", "kind").line == 11
    assert second.tables("criteria")[0].fault("off", "edge").line == 14


def test_a_fault_about_an_absent_key_names_the_line_of_its_table() -> None:
    root = parse_toml(DOCUMENT, Path("f.toml"))
    assert root.tables("notes")[1].fault("off", "absent").line == 10
    assert root.table("inline").table("cells").fault("off", "absent").line == 17


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"a = 1\nb = \xff\n", 2, "UTF-8"),
        (b"a = 1\nb = = 2\n", 2, "TOML"),
        (b"a = 1\na = 2\n", 2, "TOML"),
        (b"a = [" * 3000, None, ""),
        (b"a = " + b"9" * 5000, None, "too many digits"),
    ],
)
def test_malformed_bytes_give_one_error_with_the_line(data: bytes, line: int | None, words: str) -> None:
    with pytest.raises(WorkspaceError) as caught:
        parse_toml(data, Path("scores/f.toml"))
    assert words in caught.value.message
    assert caught.value.file == "scores/f.toml"
    assert line is None or caught.value.line == line


@pytest.mark.parametrize("value", ["9" * 400, "0x" + "f" * 5000, "inf", "nan"])
def test_a_number_that_no_float_holds_is_none_and_told_with_its_line(value: str) -> None:
    table = parse_toml(f"a = 1\nn = {value}\n".encode(), Path("scores/f.toml"))
    for read in (table.number, table.points):
        with pytest.raises(WorkspaceError) as caught:
            read("n")
        assert caught.value.line == 2


def test_a_missing_file_and_a_folder_are_told_in_one_sentence(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.toml", tmp_path):
        with pytest.raises(WorkspaceError) as caught:
            read_document(path)
        assert caught.value.file == str(path)


def test_a_byte_order_mark_is_no_fault() -> None:
    assert parse_toml(b"\xef\xbb\xbfa = 1\n", Path("f")).integer("a") == 1


VALUES = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.replace(microsecond=0)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=5))
def test_what_is_rendered_reads_back_the_same(raw: dict[str, object]) -> None:
    assert tomllib.loads(render_toml(raw)) == raw


def test_small_tables_and_pairs_of_lines_are_written_compactly() -> None:
    text = render_toml({"lines": [1, 2], "cells": Inline({"a": "x", "b|": 'q"'})})
    assert text == 'lines = [1, 2]\ncells = { a = "x", "b|" = "q\\"" }\n'
    assert tomllib.loads(text)["cells"] == {"a": "x", "b|": 'q"'}


def test_a_moment_is_written_as_the_standard_says() -> None:
    assert (
        render_toml({"t": datetime(2026, 4, 27, 18, 49, 22, tzinfo=UTC)}) == "t = 2026-04-27T18:49:22+00:00\n"
    )
