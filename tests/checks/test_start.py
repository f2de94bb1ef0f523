"""What is started: bubblewrap with all it can do here, or nothing around the worker."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from judge_tui.checks import sandbox
from judge_tui.checks.errors import EngineError
from judge_tui.checks.sandbox import Level, mounts
from judge_tui.checks.sandbox.start import find_bubblewrap


@pytest.fixture
def forgetful() -> Iterator[None]:
    """What was found out about this machine is found out anew, before and after."""
    find_bubblewrap.cache_clear()
    sandbox.measure.cache_clear()
    yield
    find_bubblewrap.cache_clear()
    sandbox.measure.cache_clear()


@pytest.mark.usefixtures("forgetful")
def test_insisting_on_bubblewrap_without_one_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(EngineError, match="bubblewrap is not installed"):
        sandbox.launch(tmp_path, adapter=None, control=theirs, mode="bwrap")
    assert sandbox.measure("auto").notes[0] == "bubblewrap is not installed"


@pytest.mark.usefixtures("forgetful")
@pytest.mark.parametrize(
    ("refused", "said"),
    [
        ("--proc", "runs in bubblewrap, without /proc"),
        ("--size", "runs in bubblewrap"),
        ("--unshare-all", "bubblewrap does not work here: bwrap: refused"),
    ],
)
def test_a_bubblewrap_that_can_do_less_is_asked_for_less(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, refused: str, said: str
) -> None:
    real, why = find_bubblewrap()
    if real is None:
        pytest.skip(why)
    fake = tmp_path / "bwrap"
    fake.write_text(
        f"#!/bin/sh\ncase \" $* \" in *' {refused} '*) echo 'bwrap: refused' >&2; exit 1;; esac\n"
        f'exec {real.path} "$@"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    find_bubblewrap.cache_clear()
    measured = sandbox.measure("auto")
    assert measured.notes[0] == said
    assert measured.level == Level.FULL or find_bubblewrap()[0] is None


def test_what_is_hidden_inside_a_shown_tree_is_left_out_of_the_rules(tmp_path: Path) -> None:
    site = tmp_path / "site"
    for name in ("site/numpy/a.py", "site/judge_tui/checks/verdict.py", "site/msgspec/b.py", "other/c.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    read, listed = mounts.around([site, tmp_path / "other"], [site / "judge_tui"])
    assert sorted(Path(path).name for path in read) == ["msgspec", "numpy", "other"]
    assert [Path(path).name for path in listed] == ["site"]
