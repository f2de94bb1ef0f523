"""What is started: bubblewrap with all it can do here, or nothing around the worker."""

from __future__ import annotations

import functools
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from judge_tui.checks import sandbox
from judge_tui.checks.errors import EngineError
from judge_tui.checks.runner import sandboxed
from judge_tui.checks.sandbox import Level, bubblewrap, level, mounts
from judge_tui.checks.sandbox.bubblewrap import find_bubblewrap


@pytest.fixture
def forgetful() -> Iterator[None]:
    """What was found out about this machine is found out anew, before and after."""
    find_bubblewrap.cache_clear()
    level._measured.cache_clear()
    yield
    find_bubblewrap.cache_clear()
    level._measured.cache_clear()


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


FAKE = """#!/bin/sh
n=$(cat {count} 2>/dev/null || echo 0)
echo $((n + 1)) > {count}
{what}
exec {real} "$@"
"""


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, forgetful: None) -> Callable[[str], Path]:
    """Puts a bubblewrap in place that does something first; a file counts how often."""
    real, why = find_bubblewrap()
    if real is None:
        pytest.skip(why)
    find_bubblewrap.cache_clear()

    def put(what: str) -> Path:
        count, program = tmp_path / "count", tmp_path / "bwrap"
        program.write_text(FAKE.format(count=count, what=what, real=real.path))
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        monkeypatch.setattr(bubblewrap, "_PAUSES", (0.0, 0.0))
        return count

    return put


@pytest.mark.parametrize(
    "what",
    [
        'echo "bwrap: Creating new namespace failed: Resource temporarily unavailable" >&2; exit 1',
        'echo "bwrap: Cannot allocate memory" >&2; exit 1',
        "kill -9 $$",
    ],
)
def test_a_machine_without_room_just_now_is_tried_again(fake: Callable[[str], Path], what: str) -> None:
    count = fake(f"test $n -ge 2 || {{ {what}; }}")
    found, said = find_bubblewrap()
    assert (found is not None, said) == (True, "runs in bubblewrap")
    assert count.read_text() == "3\n"


def test_a_machine_that_never_has_room_is_told(fake: Callable[[str], Path]) -> None:
    fake('echo "bwrap: Resource temporarily unavailable" >&2; exit 1')
    assert find_bubblewrap() == (
        None, "bubblewrap does not work here: bwrap: Resource temporarily unavailable"
    )  # fmt: skip


def test_a_bubblewrap_that_does_not_answer_is_neither_there_nor_missing(
    fake: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake("sleep 30")
    monkeypatch.setattr(bubblewrap, "START_SECONDS", 0.2)
    with pytest.raises(EngineError, match=r"did not answer within 0\.2 s"):
        sandbox.measure("auto")
    with pytest.raises(EngineError, match="did not answer"):
        sandboxed(trust=False)
    fake("")
    monkeypatch.undo()
    assert sandbox.measure("auto").level == Level.FULL, "a machine that was busy once is not judged by that"


@pytest.mark.usefixtures("forgetful")
def test_a_worker_that_does_not_answer_is_no_level(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    worker = tmp_path / "worker"
    shutil.copytree(mounts.WORKER, worker, ignore=shutil.ignore_patterns("__pycache__"))
    (worker / "__main__.py").write_text("import time\n\ndef main(*_):\n    time.sleep(60)\n")
    launch = functools.partial(sandbox.launch, worker=worker)
    monkeypatch.setattr(level, "launch", launch)
    monkeypatch.setattr(level, "START_SECONDS", 0.5)
    with pytest.raises(EngineError, match="cannot be measured: its worker did not answer"):
        sandboxed(trust=False)
    (worker / "__main__.py").write_text("def main(*_):\n    raise SystemExit(3)\n")
    monkeypatch.setattr(level, "START_SECONDS", 30.0)
    with pytest.raises(EngineError, match="cannot be measured: its worker exited with status 3"):
        sandboxed(trust=True)
    monkeypatch.undo()
    assert sandboxed(trust=False) == "full"


def test_what_is_hidden_inside_a_shown_tree_is_left_out_of_the_rules(tmp_path: Path) -> None:
    site = tmp_path / "site"
    for name in ("site/numpy/a.py", "site/judge_tui/checks/verdict.py", "site/msgspec/b.py", "other/c.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    read, listed = mounts.around([site, tmp_path / "other"], [site / "judge_tui"])
    assert sorted(Path(path).name for path in read) == ["msgspec", "numpy", "other"]
    assert [Path(path).name for path in listed] == ["site"]
