"""The engine as a process: a request in, events out, and nothing left when it is told to stop."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.events import Done, Event, Failed, Finished, Planned, Ready, Started, decode

Engine = subprocess.Popen[bytes]

ENDLESS = "while True:\n    pass\n"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "JUDGE_TUI_CACHE": str(tmp_path / "cache")}


@pytest.fixture
def engine(environment: dict[str, str]) -> Iterator[Engine]:
    with subprocess.Popen(
        [sys.executable, "-m", "judge_tui.checks.engine"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=environment, start_new_session=True,
    ) as process:  # fmt: skip
        yield process
        process.kill()


def request(tmp_path: Path, source: str, **more: Any) -> bytes:
    folder = tmp_path / "submissions" / "m" / "backwards"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "code.py").write_text(source)
    body = {"task": "backwards", "submissions": [{"model": "m", "path": str(folder)}], **more}
    return json.dumps(body).encode() + b"\n"


def send(engine: Engine, line: bytes) -> None:
    assert engine.stdin is not None
    engine.stdin.write(line)
    engine.stdin.flush()


def heard(engine: Engine) -> Iterator[Event]:
    assert engine.stdout is not None
    for line in engine.stdout:
        yield decode(line)


@pytest.mark.parametrize(("task", "loaded"), [("kv", True), ("", False), ("no-such-task", False)])
def test_a_task_that_is_named_is_loaded_before_anything_is_asked(task: str, loaded: bool) -> None:
    program = (
        "import io, sys; from judge_tui.checks.engine import main\n"
        f"code = main(io.BytesIO(b'nothing'), io.BytesIO(), {task!r})\n"
        "print(code, 'judge_tui.checks.runner' in sys.modules, 'judge_tui.checks.tasks.kv' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "True", str(loaded)]


def test_a_request_is_answered_event_by_event(engine: Engine, tmp_path: Path) -> None:
    send(engine, request(tmp_path, "x = 1\n", checks=["loads", "size"], seed=3))
    events = list(heard(engine))
    assert engine.wait(10) == 0
    assert isinstance(events[0], Planned)
    assert isinstance(events[1], Ready)
    assert isinstance(events[-1], Done)
    assert [event.outcome.check for event in events if isinstance(event, Finished)] == ["size", "loads"]


@pytest.mark.parametrize(
    "line",
    [b"\n", b"", b"nonsense\n", b"{}\n", b'{"task": 3, "submissions": []}\n', b"\xff\xfe\n", b"[" * 9999],
)
def test_a_malformed_request_is_told_in_one_event(engine: Engine, line: bytes) -> None:
    send(engine, line)
    assert engine.stdin is not None
    engine.stdin.close()
    events = list(heard(engine))
    assert engine.wait(10) == 2
    assert len(events) == 1
    assert isinstance(events[0], Failed)
    assert events[0].message.startswith("the request is malformed")


def test_an_unknown_task_or_check_is_told_with_a_hint(engine: Engine, tmp_path: Path) -> None:
    send(engine, request(tmp_path, "x = 1\n", checks=["nonsense"]))
    events = list(heard(engine))
    assert engine.wait(10) == 2
    assert isinstance(events[-1], Failed)
    assert "nonsense" in events[-1].message
    assert "loads" in events[-1].hint


def children(pid: int) -> list[int]:
    """Every process below one, by /proc."""
    below: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                below += [int(child), *children(int(child))]
    return below


def running(pids: list[int]) -> list[int]:
    return [pid for pid in pids if Path(f"/proc/{pid}").exists() and not zombie(pid)]


def worked(pid: int) -> float:
    """Seconds of processor time."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize("how", ["SIGTERM", "end of input", "SIGKILL"])
def test_a_stopped_engine_takes_its_workers_along(engine: Engine, tmp_path: Path, how: str) -> None:
    send(engine, request(tmp_path, ENDLESS))
    events = heard(engine)
    assert any(isinstance(event, Started) for event in events)
    # Until a worker turns in the submission's loop: what is still starting cannot be told from what lingers.
    deadline = time.monotonic() + 30
    below = children(engine.pid)
    while not any(worked(pid) > 1.0 for pid in below):
        assert time.monotonic() < deadline
        time.sleep(0.05)
        below = children(engine.pid)
    started = time.monotonic()
    if how == "end of input":
        assert engine.stdin is not None
        engine.stdin.close()
    else:
        engine.send_signal(getattr(signal, how))
    code = engine.wait(10)
    assert code == (-9 if how == "SIGKILL" else 130)
    assert time.monotonic() - started < 8
    deadline = time.monotonic() + 8
    while (left := running(below)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert left == []


def test_a_reader_that_goes_away_stops_it(environment: dict[str, str], tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "judge_tui.checks.engine"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=environment,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        process.stdout.close()
        send(process, request(tmp_path, "x = 1\n", checks=["size"]))
        assert process.wait(10) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""
