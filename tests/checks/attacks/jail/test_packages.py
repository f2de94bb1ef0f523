"""A submission sees the standard library, NumPy and what its tests run on, and no other package."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest

from judge_tui.checks import sandbox
from judge_tui.checks.calling.remote import Target, Worker
from judge_tui.checks.sandbox import packages

from ...conftest import Machine

PROBE = """
import importlib
import os
import sys


def tried(names, further):
    sys.path += further
    importlib.invalidate_caches()
    found = []
    for name in names:
        try:
            importlib.import_module(name)
        except (ImportError if not further else (ImportError, OSError)):
            continue
        found.append(name)
    return found


def read(paths):
    found = []
    for path in paths:
        try:
            with open(path, "rb") as file:
                file.read(1)
        except OSError:
            continue
        found.append(path)
    return found
"""
THERE = ["numpy", "numpy.testing", "msgspec", "pytest", "unittest", "sqlite3", "json"]
#: Installed for the judge and its tests alone.
ELSEWHERE = ["click", "textual", "tomlkit", "regex", "mypy", "ruff", "judge_tui", "pip", "setuptools"]


def test_no_package_is_seen_that_a_worker_does_not_need(machine: Machine, mode: sandbox.Mode) -> None:
    here = Path(sysconfig.get_path("purelib"))
    folders = [here, *packages.folders([Path("/usr"), Path(sys.base_prefix)])]
    files = [str(path) for folder in folders for path in sorted(folder.glob("*/__init__.py"))]
    known = {part.name for _site, parts in packages.shown("numpy") for part in parts}
    with Worker(machine.written("prober", PROBE), mode=mode) as worker:
        worker.load("code.py")
        target = Target("code.py", "tried")
        assert worker.value(worker.call(target, [ELSEWHERE, []]).handle) == []
        assert worker.value(worker.call(target, [THERE, []]).handle) == THERE
        assert worker.value(worker.call(target, [ELSEWHERE, [str(each) for each in folders]]).handle) == []
        seen = worker.value(worker.call(Target("code.py", "read"), [files]).handle)
    assert [path for path in seen if Path(path).parent.name not in known] == []


def test_what_is_shown_is_what_is_required(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def installed(name: str, *requires: str) -> None:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        about = tmp_path / f"{name}-1.0.dist-info"
        about.mkdir()
        lines = "".join(f"Requires-Dist: {each}\n" for each in requires)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{lines}")
        (about / "RECORD").write_text(
            f"{name}/__init__.py,,\n{name}-1.0.dist-info/METADATA,,\n../../bin/x,,\n"
        )

    installed("cupy_cuda12x", "fastrlock>=1", 'nvidia-nvrtc; extra == "ctk"')
    installed("fastrlock", "numpy", 'torch; extra == "test"')
    for name in ("nvidia_nvrtc", "torch", "scipy"):
        installed(name)
    monkeypatch.syspath_prepend(str(tmp_path))
    packages.shown.cache_clear()
    try:
        told = dict(packages.shown("numpy"))[tmp_path.resolve()]
    finally:
        packages.shown.cache_clear()
    names = {path.name.partition("-")[0] for path in told}
    assert names == {"cupy_cuda12x", "fastrlock", "nvidia_nvrtc"}
