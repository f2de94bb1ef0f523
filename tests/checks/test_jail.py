"""A jail's life: it lets honest code work, ends when told or when the judge does, and says how it ended."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import Died
from judge_tui.checks.sandbox import Level, Limits, Mode, launch, level_of
from judge_tui.checks.sandbox.bubblewrap import find_bubblewrap
from judge_tui.checks.submission import Submission
from judge_tui.checks.temporary import sweep
from judge_tui.checks.worker import wire

from .conftest import Machine

JUDGE = """
    import sys, threading
    from pathlib import Path
    from judge_tui.checks.calling.remote import Worker
    from judge_tui.checks.submission import Submission

    worker = Worker(Submission.at(Path(sys.argv[1])), mode=sys.argv[2])
    threading.Timer(0.3, lambda: print(worker.jail.inner_pid, flush=True)).start()
    worker.load("code.py", budget=60)
"""
HONEST = """
    import asyncio, concurrent.futures, os, signal, tempfile
    from pathlib import Path
    import numpy as np

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda n: n * n, range(64)))[-1] == 63 * 63
    assert np.linalg.norm(np.random.default_rng(0).normal(size=(256, 256)) @ np.eye(256)) > 0
    asyncio.run(asyncio.sleep(0.001))
    signal.raise_signal(signal.SIGCONT)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "old").write_text("cache")
        os.rename(folder + "/old", folder + "/new")
        np.save(folder + "/array.npy", np.arange(5))
        assert np.load(folder + "/array.npy", mmap_mode="r")[4] == 4
    Path.home().joinpath("cache").mkdir()
    assert exit and quit
"""


def running(pid: int) -> bool:
    """Whether a process is there and no zombie, whose reaper is not ours."""
    with contextlib.suppress(OSError):
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    return False


def session_of(pid: int) -> tuple[str, str]:
    """The kernel's name of the session of a process, and how nice that is.

    Both are empty where its session began before sessions were told apart: then it shares as all others do.
    """
    name, _, nice = Path(f"/proc/{pid}/autogroup").read_text().strip().rpartition(" nice ")
    return name, nice


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="processors are not shared by sessions")
def test_a_worker_s_session_is_as_nice_as_who_starts_it(machine: Machine, mode: Mode) -> None:
    found: list[tuple[str, str]] = []
    submission = machine.written("nice", "x = 1")

    def judge() -> None:
        os.setpriority(os.PRIO_PROCESS, 0, 7)
        with Worker(submission, mode=mode) as worker:
            worker.load("code.py")
            # who is no administrator waits a tenth of a second between two of them
            time.sleep(0.0 if os.geteuid() == 0 else 0.5)
            found.append(session_of(worker.jail.inner_pid))

    # a niceness is a thread's own, and is not taken back
    for _ in range(8):
        thread = threading.Thread(target=judge)
        thread.start()
        thread.join()
    assert [nice for _, nice in found] == ["7"] * 8
    ours, _ = session_of(os.getpid())
    assert ours not in {name for name, _ in found}


def test_threads_numpy_asyncio_and_scratch_files_work_inside(machine: Machine, mode: Mode) -> None:
    with Worker(machine.written("honest", textwrap.dedent(HONEST)), mode=mode) as worker:
        worker.load("code.py")
    assert not (machine.home / "cache").exists()


def test_an_adapter_beside_the_submission_is_shown(machine: Machine, mode: Mode) -> None:
    overlay = machine.workspace / "overlay"
    overlay.mkdir()
    (overlay / "adapter.py").write_text("def forward():\n    return 1\n")
    submission = Submission("m", "t", machine.folder("m"), (overlay,))
    with Worker(submission, mode=mode) as worker:
        assert [found["name"] for found in worker.load("adapter.py")["functions"]] == ["forward"]


def test_the_worker_dies_with_the_judge(machine: Machine, mode: Mode) -> None:
    submission = machine.hostile("stubborn")
    argv = [sys.executable, "-c", textwrap.dedent(JUDGE), str(submission.path), mode]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as judge:
        assert judge.stdout is not None
        inner = int(judge.stdout.readline())
        assert running(inner)
        judge.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 5
    while running(inner) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not running(inner)
    # Once per process, and measuring the sandbox may have been that once.
    sweep.cache_clear()
    with Worker(machine.written("next", "pass"), mode=mode) as worker:
        assert len(machine.left) == (1 if mode == "plain" else 0)
    assert worker.jail.poll() is not None


def test_killing_twice_is_killing_once_and_leaves_no_thread(machine: Machine, mode: Mode) -> None:
    worker = Worker(machine.hostile("flood"), mode=mode)
    assert worker.jail.poll() is None
    assert worker.jail.ended() == "is still running"
    worker.close()
    worker.close()
    assert worker.jail.poll() == -signal.SIGKILL
    assert not [thread for thread in threading.enumerate() if thread.name == "jail-output"]


def test_the_workers_peak_memory_can_be_read_from_outside(machine: Machine, mode: Mode) -> None:
    with Worker(machine.hostile("flood"), mode=mode) as worker:
        status = Path(f"/proc/{worker.jail.inner_pid}/status").read_text()
    assert "python" in status.partition("\n")[0]
    assert "VmHWM" in status


def test_a_jail_with_a_gpu_limits_all_but_address_space(machine: Machine, mode: Mode) -> None:
    ours, theirs = socket.socketpair()
    limits = Limits(address_space=None)
    with ours, theirs:
        jail = launch(machine.folder("m"), adapter=None, control=theirs, limits=limits, mode=mode, gpu=True)
        with jail:
            ours.settimeout(20)
            facts = wire.receive(ours)[0]["facts"]
    assert "memory_limited" not in facts
    assert level_of(facts) == Level.FULL


@pytest.mark.parametrize(
    ("code", "clause"),
    [
        ("import os; os._exit(3)", "exited with status 3"),
        ("import ctypes; ctypes.string_at(0)", "was killed by signal 11 (SIGSEGV)"),
        ("import os; os.write(2, b'MemoryError\\n'); os._exit(1)", "ran out of memory"),
    ],
)
def test_how_a_worker_ended_is_told_in_words(machine: Machine, mode: Mode, code: str, clause: str) -> None:
    with (
        Worker(machine.written("end", code), mode=mode) as worker,
        pytest.raises(Died, match=re.escape(clause)),
    ):
        worker.load("code.py")


def test_whoever_judges_in_the_folder_of_temporary_files_has_the_same_sandbox(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, said = find_bubblewrap()
    if found is None:
        pytest.skip(said)
    submission = machine.written("here", "pass")
    levels = []
    for folder in (str(machine.workspace), "/tmp"):
        monkeypatch.chdir(folder)
        with Worker(submission, mode="bwrap") as worker:
            levels.append(level_of(worker.facts["facts"]))
    assert levels[0] == levels[1]


def test_where_memory_runs_out_the_worker_goes_before_the_judge(machine: Machine, mode: Mode) -> None:
    def score(pid: int | str) -> int:
        return int(Path(f"/proc/{pid}/oom_score_adj").read_text())

    with Worker(machine.written("here", "pass"), mode=mode) as worker:
        assert score(worker.jail.inner_pid) > score("self")
