"""The engine as a child process: started ahead of time, asked once, gone when nobody needs it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from judge_tui.checks.events import Done, Failed
from judge_tui.checks.request import Request
from judge_tui.checks.submission import Submission
from judge_tui.tui.engine.check_runner import CheckRunner, EngineOptions
from judge_tui.tui.engine.engine_link import EngineProcess, EngineRun

REQUEST = Request("kv", ())
#: Says its process id in place of seconds.
OWN_PID = """
import json, os, sys
sys.stdin.readline()
print(json.dumps({"type": "done", "seconds": os.getpid()}), flush=True)
"""
WAITING = "import sys; sys.stdin.read()"


def started(source: str) -> EngineProcess:
    return EngineProcess((sys.executable, "-c", source))


async def test_an_engine_that_was_started_ahead_is_the_one_that_is_asked() -> None:
    ahead = started(OWN_PID)
    run = EngineRun(REQUEST, (sys.executable, "-c", "raise SystemExit('a second engine')"), ahead)
    events = [event async for event in run.events()]
    assert events == [Done(float(ahead.pid))]
    assert ahead.ended


async def test_an_engine_that_died_while_it_loaded_is_told() -> None:
    ahead = started("import sys; sys.exit('no such module')")
    await ahead.wait()
    events = [event async for event in EngineRun(REQUEST, (), ahead).events()]
    assert events == [Failed("The check engine ended unexpectedly (exit code 1).", "no such module")]


async def test_an_engine_that_cannot_be_started_is_told() -> None:
    events = [event async for event in EngineRun(REQUEST, ("/nowhere/engine",)).events()]
    assert isinstance(events[0], Failed)
    assert "cannot be started" in events[0].message


async def test_cancelling_ends_the_engine_and_its_log() -> None:
    ahead = started(WAITING)
    run = EngineRun(REQUEST, (), ahead)
    await run.cancel()
    assert ahead.ended
    ahead.kill()


def test_an_engine_that_nobody_asks_ends_with_whoever_started_it() -> None:
    program = (
        "import os, sys; from judge_tui.tui.engine.engine_link import EngineProcess\n"
        f"print(EngineProcess((sys.executable, '-c', {WAITING!r})).pid, flush=True)\n"
        "os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    pid = int(done.stdout)
    for _ in range(1000):
        # One that ended may wait to be reaped.
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or ") Z " in state.read_text():
            return
        time.sleep(0.02)
    pytest.fail("the engine stays behind")


async def test_only_the_first_run_takes_it() -> None:
    ahead = started(OWN_PID)
    options = EngineOptions(command=(sys.executable, "-c", OWN_PID), ahead=ahead)
    pids: list[float] = []
    submission = Submission("alpha", "kv", Path("/nowhere"))

    def tell(event: object) -> None:
        assert isinstance(event, Done)
        pids.append(event.seconds)

    runner = CheckRunner([submission], options, tell, lambda: None)
    for _ in range(2):
        runner.start()
        while runner.active:
            await asyncio.sleep(0.01)
    assert pids[0] == ahead.pid != pids[1]


def test_the_engine_stands_back_for_the_screen() -> None:
    process = EngineProcess((sys.executable, "-c", "input()"))
    try:
        mine = os.getpriority(os.PRIO_PROCESS, 0)
        nice = min(mine + 15, 19)
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == nice
        session = Path(f"/proc/{process.pid}/autogroup")
        assert not session.exists() or session.read_text().split()[-1] == str(nice)
    finally:
        process.kill()


@pytest.mark.parametrize("said", ["'x' * (70 << 20)", "'no event'"])
async def test_an_engine_that_says_what_cannot_be_read_is_ended_and_not_waited_for(said: str) -> None:
    head = "import sys, time\nsys.stdin.readline()\n"
    source = f"{head}print({said}, flush=True)\nprint('y' * (1 << 20))\ntime.sleep(600)"
    run = EngineRun(REQUEST, (sys.executable, "-c", source))
    async with asyncio.timeout(60):
        events = [event async for event in run.events()]
    assert [type(event) for event in events] == [Failed]
