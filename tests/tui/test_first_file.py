"""What opens first is the work itself: not what builds it, describes it, or tries it."""

from __future__ import annotations

import pytest

from judge_tui.tui.code.first_file import first_file


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
