"""Where the user's folders are, also where the system tells of none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from judge_tui.checks.folders import home_folder, present_folder, user_folder


def test_a_folder_of_the_user_is_the_one_that_is_named_where_that_is_absolute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for given in ("", "relative", "~/state"):
        monkeypatch.setenv("XDG_STATE_HOME", given)
        assert user_folder("STATE") == tmp_path / ".local" / "state"
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert user_folder("STATE") == Path("/state")


def test_a_user_without_a_home_has_the_root_as_in_a_container(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 3)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert home_folder() == Path("/")
    assert user_folder("CACHE") == Path("/.cache")


def test_a_present_folder_that_is_gone_is_the_root(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    program = "import os; os.rmdir(os.getcwd()); from judge_tui.checks import folders; "
    told = [sys.executable, "-c", program + "print(folders.present_folder())"]
    found = subprocess.run(told, cwd=gone, capture_output=True, text=True, check=True)
    assert found.stdout == "/\n"
    assert present_folder() == Path.cwd()
