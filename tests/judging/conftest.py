from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from judge_tui.judging.workspace import Workspace

RUBRIC = """\
task = "kv"
title = "KV cache"
version = 3

[[dimension]]
id = "correctness"
title = "Correctness"
key = "c"
weight = 3.0
checks = ["incremental_equals_full"]

[dimension.levels]
60 = "wrong"
85 = "right"

[[dimension]]
id = "code_quality"
title = "Code | Quality"
key = "e"
weight = 1.0

[[cap]]
if = "incremental_equals_full fails"
dimension = "correctness"
max = 60
reason = "A wrong cache answers wrongly."

[[grade]]
letter = "A"
min = 90

[[grade]]
letter = "B"
min = 0
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace with two models that submitted for one task, and its own rubric."""
    root = tmp_path / "ws"
    for model in ("glm5", "qwen36"):
        folder = root / "submissions" / model / "kv"
        folder.mkdir(parents=True)
        (folder / "kv_cache.py").write_text(f"# {model}\nclass Cache:\n    pass\n")
    (root / "rubrics").mkdir()
    (root / "scores").mkdir()
    (root / "rubrics" / "kv.toml").write_text(RUBRIC)
    return Workspace.at(root)


@pytest.fixture
def rubric_text() -> str:
    return RUBRIC


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a text into a file and gives its path."""

    def _write(text: str | bytes, name: str = "file.toml") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return _write
