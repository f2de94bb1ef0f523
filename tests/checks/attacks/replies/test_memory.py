"""Whatever a worker says, the engine takes no memory for it, and one beside it is judged as ever."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from judge_tui.checks.calling.replies import MOST_OBJECTS
from judge_tui.checks.events import Finished, decode
from judge_tui.checks.verdict import Outcome, Verdict

HONEST = Path(__file__).parents[2] / "tasks" / "backwards" / "twins" / "cache_first.py"
CHECKS = ("loads", "forward_accuracy", "gradients", "purity")
#: What the engine may take beyond what an honest submission costs it.
MOST_MIB = 64
#: What takes most, and what is refused for its length alone; the others are for those who run campaigns.
OFTEN = ("many parts", "too many parts")
#: Put before the honest code: what the worker sends is changed on the way.
SENDS = """
import sys

_wire = sys.modules["judge_worker.wire"]
_real = _wire.send


def _send(control, body, fds=(), *, most=0):
    if isinstance(body, dict) and "op" not in body:
        body = _forged(body)
    _real(control, body, fds, most=1 << 30)


_wire.send = _send
"""
FORGED = {
    "many parts": """
def _forged(body):
    return {**body, 'more': [[]] * MANY}
""",
    "too many parts": """
def _forged(body):
    return {**body, 'more': [{}] * 3_000_000}
""",
    "long texts": """
def _forged(body):
    return {**body, 'printed': 'x' * 79_000, 'more': 'y' * 4_000_000}
""",
    "numbers": """
def _forged(body):
    return {**body, 'value': [0.5] * 440_000, 'bytes': 2 ** 62}
""",
    "many functions": """
def _forged(body):
    made = [dict(name=f'f{i}', line=i, doc='d' * 30, params=None) for i in range(49_000)]
    return {**body, 'functions': made, 'classes': body.get('classes', [])}
""",
    "long exceptions": """
def _forged(body):
    told = dict(type='E' * 19_000, message='m' * 19_000, traceback='t' * 79_000, file='f' * 19_000, line=1)
    return {'raised': told, 'printed': 'x' * 79_000}
""",
    "deep": """
def _forged(body):
    inner = {'kind': 'list', 'parts': []}
    for _ in range(400):
        inner = {'kind': 'list', 'parts': [['i', 0, inner]]}
    return {**body, 'tree': inner}
""",
    "wide": """
def _forged(body):
    inner = {'kind': 'int'}
    for _ in range(2):
        inner = {'kind': 'list', 'parts': [['i', n, inner] for n in range(99)]}
    return {**body, 'tree': inner} if 'tree' in body else body
""",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """What an engine said, and the most memory that it had, in MiB."""

    outcomes: tuple[Outcome, ...]
    peak: float

    def verdicts(self, model: str) -> dict[str, Verdict]:
        return {each.check: each.verdict for each in self.outcomes if each.model == model}


def engine(folder: Path, **sources: str) -> Judged:
    """Judge submissions in a process of its own."""
    asked = []
    for model, text in sources.items():
        path = folder / model / "backwards"
        path.mkdir(parents=True)
        (path / "code.py").write_text(text)
        asked.append({"model": model, "path": str(path)})
    body = {"task": "backwards", "submissions": asked, "checks": CHECKS, "seed": 3, "jobs": 1, "fresh": True}
    environment = {**os.environ, "JUDGE_TUI_CACHE": str(folder / "cache")}
    outcomes: list[Outcome] = []
    peak = 0.0
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "judge_tui.checks.engine"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(body).encode() + b"\n")
        process.stdin.flush()
        # an engine whose request is taken back stops: its input stays open
        for event in map(decode, process.stdout):
            # its own, and not that of the processes that it started; gone once it has said its last
            told = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())
            peak = max(peak, int(told[1]) / 1024 if told else 0.0)
            if isinstance(event, Finished):
                outcomes.append(event.outcome)
    return Judged(tuple(outcomes), peak)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """An honest submission by itself."""
    return engine(tmp_path_factory.mktemp("alone"), honest=HONEST.read_text())


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=() if k in OFTEN else pytest.mark.campaign) for k in FORGED]
)
def test_what_a_worker_says_costs_the_engine_nothing(kind: str, alone: Judged, tmp_path: Path) -> None:
    forged = FORGED[kind].replace("MANY", str(MOST_OBJECTS - 1000))
    hostile = HONEST.read_text().replace("import numpy", forged + SENDS + "\nimport numpy", 1)
    both = engine(tmp_path, hostile=hostile, honest=HONEST.read_text())
    assert both.verdicts("honest") == alone.verdicts("honest")
    assert set(both.verdicts("honest").values()) == {Verdict.PASS}
    assert Verdict.ERROR not in both.verdicts("hostile").values()
    assert len(both.verdicts("hostile")) == len(CHECKS)
    assert both.peak <= alone.peak + MOST_MIB
