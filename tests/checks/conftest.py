"""A machine to attack, with canaries in it; and a task as small as can be, with its submissions."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks import sandbox
from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.own_time import Account
from judge_tui.checks.check import Check, Findings
from judge_tui.checks.contract import Contract, Param, Return, Role, Sample
from judge_tui.checks.generic import with_generic
from judge_tui.checks.sandbox import Level, mounts
from judge_tui.checks.sandbox.bubblewrap import find_bubblewrap
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.tolerance import relative_error

from . import goldens

HOSTILE = Path(__file__).parent / "hostile"


@dataclass
class Machine:
    """What a submission must leave alone.

    Attributes:
        home: A fake home folder.
        workspace: A fake workspace, and the current folder.
        temporary: Where the trusted side makes its temporary files.
        secret: What the private files say.
        told: What an attack is told about where things are.
    """

    home: Path
    workspace: Path
    temporary: Path
    secret: str
    listeners: list[socket.socket]

    @property
    def told(self) -> dict[str, object]:
        scores, reference = self.workspace / "scores", mounts.WORKER.parent
        return {
            "secret": self.secret,
            "private": [str(path) for path in self.private],
            "folders": [str(path) for path in (self.home, self.home / ".ssh", self.workspace, scores)],
            "references": [str(reference / name) for name in ("tasks", "verdict.py", "__init__.py")],
            "parent": os.getpid(),
            "group": os.getpgrp(),
            "port": self.port,
            "unix": str(self.workspace / "agent.sock"),
        }

    @property
    def port(self) -> int:
        """The TCP port that listens."""
        return int(self.listeners[0].getsockname()[1])

    @property
    def private(self) -> list[Path]:
        """Files that say the secret."""
        scorecard = self.workspace / "scores" / "task" / "model" / "me.toml"
        return [self.home / ".ssh" / "id_ed25519", self.home / "notes.txt", scorecard]

    def snapshot(self) -> list[tuple[object, ...]]:
        """Everything about every file."""
        found: list[tuple[object, ...]] = []
        for root in (self.home, self.workspace):
            for path in sorted(root.rglob("*")):
                about = path.lstat()
                content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
                found.append((path, about.st_mode, about.st_uid, about.st_mtime_ns, about.st_nlink, content))
        return found

    @property
    def left(self) -> list[Path]:
        """Temporary files of the trusted side, but for the snapshots of submissions that are still judged."""
        return [path for path in self.temporary.iterdir() if not path.name.endswith("-snapshot")]

    def reached(self) -> bool:
        """Whether anyone connected."""
        for listener in self.listeners:
            listener.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                listener.accept()[0].close()
                return True
        return False

    def folder(self, name: str) -> Path:
        """An empty submission's folder."""
        made = self.workspace / "submissions" / name / "task"
        made.mkdir(parents=True)
        return made

    def written(self, name: str, text: str) -> Submission:
        """A submission of one file."""
        folder = self.folder(name)
        (folder / "code.py").write_text(text)
        return Submission.at(folder)

    def hostile(self, name: str) -> Submission:
        """A hostile submission, beside what it is told and a link to what is private."""
        folder = self.folder(name)
        shutil.copy(HOSTILE / f"{name}.py", folder / "code.py")
        (folder / "innocent.txt").symlink_to(self.private[0])
        (folder / "told.json").write_text(json.dumps(self.told))
        return Submission.at(folder)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    home, workspace, temporary = (tmp_path / name for name in ("home", "workspace", "temporary"))
    for folder in (home, workspace, temporary):
        folder.mkdir()
    secret = "canary-8c1f2e"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("JUDGE_SEED", secret)
    monkeypatch.chdir(workspace)
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(socket.create_server(("127.0.0.1", 0)))]
        # A relative name: an address of this kind has 108 bytes.
        for address in ("agent.sock", f"\0judge-tui-test-{os.getpid()}"):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(address)
            listener.listen()
            listeners.append(listener)
        made = Machine(home, workspace, temporary, secret, listeners)
        for path in made.private:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(secret)
        yield made


@pytest.fixture(params=["bwrap", "plain"])
def mode(request: pytest.FixtureRequest) -> sandbox.Mode:
    """Both ways to confine, each where it works here."""
    wanted: sandbox.Mode = request.param
    found, said = find_bubblewrap()
    if wanted == "bwrap" and found is None:
        pytest.skip(said)
    if wanted == "plain" and (measured := sandbox.measure("plain")).level != Level.FULL:
        pytest.skip("; ".join(measured.notes))
    return wanted


@pytest.fixture
def accounts(monkeypatch: pytest.MonkeyPatch) -> list[Account]:
    """What every check took of its submission's own time, from now on."""
    made: list[Account] = []

    def opened(seconds: float = float("inf")) -> Account:
        made.append(Account(seconds))
        return made[-1]

    monkeypatch.setattr("judge_tui.checks.bench.Account", opened)
    return made


Files = Mapping[str, str | bytes]


@pytest.fixture
def submitted(tmp_path: Path) -> Callable[..., Submission]:
    """Writes files as a submission for the task ``scale``."""

    def submit(files: Files | str, model: str = "someone") -> Submission:
        folder = tmp_path / "submissions" / model / "scale"
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in ({"code.py": files} if isinstance(files, str) else files).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return Submission.at(folder)

    return submit


def _sample(rng: np.random.Generator) -> Sample:
    x, dy = rng.standard_normal((2, 3, 4))
    inputs = {"x": x, "factor": rng.standard_normal(4), "dy": dy}
    return Sample(inputs, {"y": (3, 4), "dx": (3, 4), "dfactor": (4,)})


def _right(bench: Bench, found: Findings) -> str:
    """Hold y against x·factor, on two draws."""
    for draw in range(2):
        inputs = _sample(bench.rng(draw)).inputs
        forward = bench.call("forward", inputs)
        error = relative_error(forward.array("y", (3, 4)), inputs["x"] * inputs["factor"])
        found.limit("y, relative error per row", error, 1e-6)
    return f"y {error:.1e} off"


@pytest.fixture
def scale() -> Task:
    """A task as small as can be: y = x·factor with a cache, and its gradients."""
    x, factor = Param("x", aliases=("inputs",)), Param("factor", aliases=("scale", "weight"))
    dy, cache = Param("dy", aliases=("grad_output", "dout")), Param("cache", "handle", ("ctx",))
    gradients = (Return("dx"), Return("dfactor", aliases=("grad_factor",)))
    answers = (Return("y"), Return("cache", "handle"))
    forward = Role("forward", (x, factor), answers, (r"^scale(_forward)?$", r"forward"))
    backward = Role("backward", (dy, cache), gradients, (r"scale_back", r"backward"))
    contract = Contract((forward, backward), _sample)
    right = Check("right", "right", "y = x·factor", _right, budget=20, roles=("forward",))
    return Task("scale", "scale by a factor", contract, with_generic(right))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write the goldens that were asked for, whatever process found which."""
    told = [
        json.loads(value)
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == goldens.PROPERTY and report.when == "call"
    ]
    if told:
        goldens.store(told)
        terminalreporter.write_line(f"goldens: {len(told)} submissions written")
