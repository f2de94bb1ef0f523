from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.tui.code import syntax
from judge_tui.tui.code.definitions import names_in
from judge_tui.tui.code.folds import fold_at
from judge_tui.tui.code.highlight import Highlight, read
from judge_tui.tui.code.source import Source
from judge_tui.tui.code.text_lines import TextLines

PYTHON = '''import numpy as np

TABLE = [
    1,
    2,
]


class Cache:
    """Rows
def not_a_function():
of keys."""

    @property
    def keys(self):
        return self._keys


def step_{n}(query, cache):
    if query is None:
        return None
    else:
        for row in cache.keys:
            print(row)


@decorated
def attend_{n}(query): return query @ TABLE  # one line
'''
CUDA = """#include "cache.h"
#ifdef FAST
#define STEP_{n} 4
#endif
namespace part_{n} {{
template <int K> __global__ void kern_{n}(float* x) {{
  for (int i = 0; i < K; ++i) {{
    x[threadIdx.x + i] = 1.5f;
  }}
}}
struct S_{n} {{
  int a;
}};
}}
"""


@given(st.lists(st.sampled_from(("", "a", "\n", "b\n\n", "漢\r", "\udcff")), max_size=30).map("".join))
def test_lines_are_those_of_a_split(text: str) -> None:
    wanted = text.split("\n")
    if len(wanted) > 1 and not wanted[-1]:
        wanted.pop()
    lines = TextLines(text)
    assert list(lines) == wanted
    assert [lines[n - len(lines)] for n in range(len(lines))] == wanted
    assert lines[1:-1] == wanted[1:-1]
    assert [lines.length(n) for n in range(len(lines))] == [len(line) for line in wanted]
    assert all(lines.at(lines.starts[n]) == n for n in range(len(lines)))


def told(name: str, source: Source, known: Highlight) -> list[object]:
    """All that the screen takes from the syntax of a file."""
    lines = range(len(source))
    assert known.syntax is not None
    assert known.highlighter is not None
    indents = [len(line) - len(line.lstrip()) for line in source.lines]
    return [
        known.symbols,
        [bytes(known.highlighter.styles(n) or b"") for n in lines],
        [fold_at(known.syntax, n, indents[n]) for n in lines],
        [names_in(source, known, n) for n in lines],
    ]


@pytest.mark.parametrize(("name", "text"), [("a.py", PYTHON), ("a.cu", CUDA)])
def test_a_large_file_read_part_by_part_tells_what_its_whole_tree_tells(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Source(
        "".join(text.replace("{n}", str(n)).replace("{{", "{").replace("}}", "}") for n in range(6)).encode()
    )
    whole = told(name, source, read(name, source))
    monkeypatch.setattr(syntax, "_WHOLE", 0)
    for step, kept in ((200, 10_000), (900, 10_000), (900, 100)):
        monkeypatch.setattr(syntax, "_STEP", step)
        monkeypatch.setattr(syntax, "_KEPT", kept)
        known = read(name, source)
        assert known.syntax is not None
        assert len(list(known.syntax.roots())) > 1
        assert told(name, source, known) == whole


def test_a_file_that_is_one_broken_definition_is_read_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax, "_WHOLE", 0)
    monkeypatch.setattr(syntax, "_STEP", 100)
    source = Source(b"namespace a {\n" + b"int f() {\n  return 1;\n}\n" * 40)
    known = read("a.cpp", source)
    assert known.syntax is not None
    assert len(list(known.syntax.roots())) == 1
    assert len(known.symbols) == 41
