"""``judge-tui serve`` as a process, its apps with an engine that only talks, and what became of them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

__all__ = ["PATIENCE_S", "Served", "family", "running", "until"]

PATIENCE_S = 120.0
APP = """
import sys
from judge_tui.tui.engine import check_runner, engine_link
engine = (sys.executable, "-c", sys.argv.pop(1))
engine_link.ENGINE = check_runner.EngineOptions.__init__.__kwdefaults__["command"] = engine
from judge_tui.cli import main
main()
"""
SERVER = f"""
import sys
from judge_tui.cli import main, serve
serve.PROGRAM = (sys.executable, "-c", {APP!r}, sys.argv.pop(1))
main()
"""


def until(holds: Callable[[], bool]) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.05)


class Served:
    """A server on a port that the system chose.

    Args:
        folder: The workspace; state and caches lie beside it.
        engine: Source of the program that plays the engine.
        arguments: What stands behind ``judge-tui serve``.
    """

    def __init__(self, folder: Path, engine: str, *arguments: str) -> None:
        guarded = any(word.startswith(("--token", "--host")) for word in arguments)
        arguments = arguments if guarded else ("--no-token", *arguments)
        own = {name: str(folder.with_name(name)) for name in ("state", "config", "cache")}
        env = {
            name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "JUDGE_TUI_TOKEN")
        }
        env |= {"XDG_STATE_HOME": own["state"], "XDG_CONFIG_HOME": own["config"]}
        env |= {"JUDGE_TUI_CACHE": own["cache"], "JUDGE_TUI_JUDGE": "anna"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, engine.replace("END", ""), "serve", "--port", "0", *arguments],
            cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        found = re.search(r"http\S+", self.process.stdout.readline())
        assert found, self.process.communicate()
        self.url = found[0]

    @property
    def port(self) -> int:
        found = re.search(r":(\d+)/", self.url)
        assert found
        return int(found[1])

    def family(self) -> frozenset[int]:
        """Everything that it has started and that still runs, engines included."""
        return family(self.process.pid)

    def end(self, number: int = signal.SIGINT) -> tuple[int, str]:
        """End it by a signal: its exit status, and what it said on standard error."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, errors

    def close(self) -> None:
        """End it, whatever has become of it."""
        alive = self.family()
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        for pid in alive:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def running(pids: frozenset[int]) -> frozenset[int]:
    """Those of them that still run."""
    return frozenset(pid for pid in pids if _parent(pid) is not None)


def family(root: int) -> frozenset[int]:
    """Everything that a process has started and that still runs."""
    parents = dict(_parents())
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return frozenset(found - {root})


def _parents() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (parent := _parent(int(entry.name))) is not None:
            yield int(entry.name), parent


def _parent(pid: int) -> int | None:
    """Its parent; none where it has ended, waited for or not."""
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return None
    return None if state == "Z" else int(parent)
