"""What opens first is the work itself: not what builds it, describes it, or tries it."""

from __future__ import annotations

import pytest

from judge_tui.tui.code.first_file import first_definition, first_file
from judge_tui.tui.code.symbols import Symbol


@pytest.mark.parametrize(
    ("files", "first"),
    [
        (["README.md", "helpers.py", "kv_cache.py", "test_kv.py"], "kv_cache.py"),
        (["Cargo.lock", "Cargo.toml", "build.rs", "src/lib.rs", "src/paging.rs"], "src/lib.rs"),
        (["go.mod", "cache.go", "main.go", "main_test.go"], "main.go"),
        (["pyproject.toml", "setup.py", "src/pages.py", "tests/kv.py"], "src/pages.py"),
        (["__init__.py", "a.py"], "a.py"),
        (["examples/kv.py", "attention.py"], "attention.py"),
        (["package.json", "src/index.js", "src/util.js"], "src/index.js"),
        (["notes.txt", "z.md"], "notes.txt"),
        (["deep/er/kv.cu", "kv_host.cpp"], "kv_host.cpp"),
    ],
)
def test_the_work_itself_opens_first(files: list[str], first: str) -> None:
    assert first_file(files, "kv") == first
    assert first_file(files[::-1], "kv") == first


SYMBOLS = (Symbol("pages", "namespace", 2, 90, 0), Symbol("Cache", "class", 40, 60, 1))


@pytest.mark.parametrize(
    ("lines", "symbols", "file", "found"),
    [
        (['"""', "def of a cache", '"""', "import numpy", "", "class Cache:"], (), "kv.py", (1, 1)),
        (["import numpy", "", "# what it keeps", "@frozen", "class Cache:"], (), "kv.py", (4, 2)),
        (["x = 1", "async def f():"], (), "kv.py", (1, 1)),
        (["x = 1"], (), "kv.py", None),
        (["void f() {"], (), "kv.cu", None),
        (["#include <x>"] * 39 + ["// pages", "struct Cache {"], SYMBOLS, "kv.cu", (40, 39)),
        (["x"], SYMBOLS, "kv.cu", None),
    ],
)
def test_the_first_definition_is_found_with_what_is_said_above_it(
    lines: list[str], symbols: tuple[Symbol, ...], file: str, found: tuple[int, int] | None
) -> None:
    assert first_definition(lines, symbols, file) == found
