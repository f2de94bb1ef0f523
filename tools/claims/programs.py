"""The reconstructions as modules, for experiments that no check makes.

They were written for this project, so that they may be imported here; whatever comes from elsewhere
is only ever run by a check, in its sandbox.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

from tools.claims.runs import ROOT

__all__ = ["folder", "lines", "program", "quiet"]


def folder(model: str, task: str) -> Path:
    """Where a model's reconstruction of a task lies."""
    return ROOT / "submissions" / model / task


@cache
def program(model: str, task: str, file: str) -> ModuleType:
    """A file of a reconstruction, imported apart from same-named files of the others.

    Args:
        model: Folder of the submission.
        task: Of that model.
        file: Its name without ``.py``.
    """
    home = folder(model, task)
    names = {path.stem for path in home.glob("*.py")}
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.path.insert(0, str(home))
    try:
        spec = importlib.util.spec_from_file_location(f"{model}_{task}_{file}", home / f"{file}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(home))
        sys.dont_write_bytecode = written
        for name in names:
            sys.modules.pop(name, None)
    return module


@contextlib.contextmanager
def quiet() -> Iterator[io.StringIO]:
    """What a reconstruction prints while the block runs, kept apart from this script's output."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        yield output


def lines(model: str, task: str) -> tuple[int, int]:
    """All lines of a submission's Python files, and those that are not blank; our adapter is not its code."""
    files = [path for path in sorted(folder(model, task).glob("*.py")) if path.name != "adapter.py"]
    texts = [path.read_text().splitlines() for path in files]
    rows = [row for text in texts for row in text]
    return len(rows), sum(bool(row.strip()) for row in rows)
