"""A process that only looks: what it refuses, and what the kernel refuses it."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from judge_tui.checks.worker import landlock
from judge_tui.judging import read_only
from judge_tui.judging.read_only import ASKED, ReadOnly
from judge_tui.judging.sealed_order import sealed_order
from judge_tui.judging.storage import write_atomically
from judge_tui.tui.code.bookmarks import Bookmarks
from judge_tui.tui.keys.preferences import keep_choice

LOOKING = """
import os, sys
from pathlib import Path
from judge_tui.judging import read_only
from judge_tui.judging.storage import write_atomically
file = Path(sys.argv[1])
assert not read_only.holds()
held = read_only.begin()
try:
    write_atomically(file, b"x")
except read_only.ReadOnly as error:
    print("refused", error)
for what in (lambda: file.write_text("x"), lambda: file.unlink(), lambda: (file.parent / "new").mkdir(),
             lambda: os.rename(file, file.with_name("other")), lambda: os.truncate(file, 0)):
    try:
        what()
    except PermissionError:
        print("held")
import subprocess
child = [sys.executable, "-c", f"open({str(file)!r}, 'w')"]
print("child", subprocess.run(child, capture_output=True).returncode)
print(held, file.read_text())
"""


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(read_only._state, "on", True)


def test_nothing_is_written_by_a_process_that_looks_nor_by_what_it_starts(tmp_path: Path) -> None:
    if sys.platform != "linux" or landlock.abi(ctypes.CDLL(None, use_errno=True)) < 3:
        pytest.skip("this kernel's Landlock does not hold all writing")
    file = tmp_path / "card.toml"
    file.write_text("as it was")
    done = subprocess.run(
        [sys.executable, "-c", LOOKING, str(file)], capture_output=True, text=True, check=True
    )
    told = done.stdout.split("\n")
    assert told[0] == f"refused {file}: nothing is written here: this page is for looking only."
    assert told[1:6] == ["held"] * 5
    assert told[6:8] == ["child 1", "True as it was"]
    assert [each.name for each in tmp_path.iterdir()] == ["card.toml"]


def test_where_no_kernel_holds_it_what_people_keep_is_refused_all_the_same(
    tmp_path: Path, looking: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with pytest.raises(ReadOnly):
        write_atomically(tmp_path / "card.toml", b"x")
    keep_choice("home-order", "-mean")
    marks = Bookmarks(tmp_path / "submission")
    marks.toggle("a.py", 3, "x = 1")
    marks.save()
    assert not list(tmp_path.iterdir())


def test_the_order_of_a_blind_comparison_that_is_only_looked_at_is_drawn_and_not_kept(
    tmp_path: Path, looking: None
) -> None:
    file = tmp_path / "order.json"
    drawn = {sealed_order(file, ("a", "b"), ("kv", "anna")) for _ in range(64)}
    assert drawn == {("a", "b"), ("b", "a")}
    assert not file.exists()


def test_a_process_looks_only_when_it_is_told_to() -> None:
    assert read_only.asked_for({ASKED: "1"})
    assert not read_only.asked_for({ASKED: ""})
    assert not read_only.asked_for({})
    assert read_only.refusal() is None
