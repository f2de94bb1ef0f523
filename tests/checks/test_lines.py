"""A line is one thing: for Python, for the checks, for notes and for the panes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.checks.generic.size import measure_cuda, measure_python
from judge_tui.checks.lines import count_lines, from_feeds, line_at, split_lines, unified
from judge_tui.checks.sources import fence_line, parsed
from judge_tui.judging.note import new_note, quote_of
from judge_tui.tui.code.source import Source

#: What ``str.splitlines`` takes for an end of a line and nobody else does.
NO_ENDS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
ENDS = ("\n", "\r\n", "\r")
TEXTS = st.text(st.sampled_from([*"ab \t", *NO_ENDS, "\r", "\n"]), max_size=60)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("inside", NO_ENDS)
def test_evidence_of_python_names_a_line_that_the_pane_has(end: str, inside: str) -> None:
    code = end.join(["# one", f"x = 'a{inside}b'", "# three", "def late():", "    return x", ""])
    data = code.encode()
    [line] = [node.lineno for node in parsed(data).body if isinstance(node, ast.FunctionDef)]
    shown = Source(data)
    assert shown.lines[line - 1] == "def late():"
    assert len(shown) == measure_python(data).lines == count_lines(code) == 5
    assert quote_of(code, (line, line)) == "def late():"


def test_what_ends_lines_in_a_cuda_source_is_the_same_for_figures_and_panes() -> None:
    data = b"// one\r__global__ void k() {\r\n}\x0c\n// \xe2\x80\xa8 four\r"
    assert measure_cuda(data).lines == len(Source(data)) == 4
    assert measure_cuda(data).comment == 2
    assert measure_cuda(data).longest[1:] == (2, 2)


@given(TEXTS)
def test_lines_are_counted_alike_everywhere(text: str) -> None:
    lines = split_lines(text)
    assert list(Source(text.encode()).lines) == lines
    assert re.split("\r\n|\r|\n", text)[: len(lines)] == lines
    assert "\n".join(lines) == unified(text).removesuffix("\n") or lines == [""]
    for offset, character in enumerate(text):
        if character not in "\r\n":
            assert character in lines[line_at(text, offset) - 1]
            data = text.encode()
            assert line_at(data, len(text[:offset].encode())) == line_at(text, offset)


@given(TEXTS)
def test_a_line_of_those_who_count_line_feeds_alone_is_found(text: str) -> None:
    at = 0
    for number, line in enumerate(text.split("\n"), 1):
        assert from_feeds(text.encode(), number) == line_at(text, at)
        at += len(line) + 1


def test_a_fence_behind_lone_carriage_returns_is_named_by_its_line() -> None:
    assert fence_line("a\rb\r\nc\n```python\nx\n```\n") == 4


def test_a_note_on_a_file_with_lone_carriage_returns_quotes_the_line_that_is_shown() -> None:
    code = "a = 1\rb = 2\rc = 3\r"
    note = new_note("bug", "n", file="a.py", lines=(2, 2), source=code)
    assert note.quote == Source(code.encode()).lines[1] == "b = 2"


def test_nobody_in_the_house_splits_sources_by_other_ends() -> None:
    root = Path(__file__).parents[2]
    # what they read are reports of programs, and no sources
    known = {
        "checks/adapter_skeleton.py", "checks/backends.py", "checks/cuda/diagnostics.py",
        "checks/cuda/emulator/program.py", "checks/cuda/emulator/symbols.py", "checks/cuda/host_library.py",
        "checks/cuda/resources.py", "checks/cuda/sanitizer.py", "checks/sandbox/packages.py",
        "cli/diagnosis.py", "cli/finding.py", "cli/web/served_app.py", "tui/engine/engine_link.py",
    }  # fmt: skip
    rooms = (file for room in ("checks", "judging", "tui", "cli") for file in (root / room).rglob("*.py"))
    found = {
        str(file.relative_to(root))
        for file in rooms
        if ".splitlines(" in file.read_text("utf-8") and file.name != "lines.py"
    }
    assert found <= known
