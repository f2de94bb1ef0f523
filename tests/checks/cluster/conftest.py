from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")


@dataclass(frozen=True)
class Machines:
    """A cluster on this machine.

    Attributes:
        address: Of its scheduler.
        scheduler: Process id.
        workers: Process ids.
    """

    address: str
    scheduler: int
    workers: list[int]

    @staticmethod
    def kill(pid: int) -> None:
        """End one as a machine ends that loses its power."""
        os.kill(pid, signal.SIGKILL)


Start = Callable[..., Machines]


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Start]:
    """Starts a cluster of so many workers."""
    with ExitStack() as undo:

        def start(workers: int, *how: str, **environment: str) -> Machines:
            command = [
                sys.executable,
                "-P",
                str(Path(__file__).with_name("processes.py")),
                str(workers),
                *how,
            ]
            started = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path,
                stderr=(tmp_path / "cluster.log").open("a"), env=os.environ | environment,
            )  # fmt: skip
            undo.callback(started.wait)
            assert started.stdin is not None
            assert started.stdout is not None
            undo.callback(started.stdout.close)
            undo.callback(started.stdin.close)
            return Machines(**json.loads(started.stdout.readline()))

        yield start
