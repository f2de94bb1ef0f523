"""The probe tells the truth: each layer that is taken away shows in its facts."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path

import pytest

from judge_tui.checks import sandbox
from judge_tui.checks.sandbox import Level, Mode, mounts
from judge_tui.checks.sandbox.bubblewrap import find_bubblewrap

from .conftest import Machine

MAIN = """
import json, socket, time
from . import confine, probe

def main(fd, submission, adapter, limits):
    confine.apply(limits)
    started = time.perf_counter()
    facts = probe.run()
    told = {"facts": facts, "seconds": time.perf_counter() - started}
    socket.socket(fileno=fd).send(json.dumps(told).encode())
"""
STEPS = "for name, step in steps]"


def probed(tmp_path: Path, machine: Machine, mode: Mode, kept: str) -> tuple[dict[str, bool], float]:
    """Start a worker that confines itself by some steps only.

    Args:
        tmp_path: Where it is made.
        machine: What it must not reach.
        mode: How it is started.
        kept: Python expression over ``name``: the steps that it takes.

    Returns:
        Its facts, and the seconds that its probe took.
    """
    worker = tmp_path / "worker"
    shutil.copytree(mounts.WORKER, worker, ignore=shutil.ignore_patterns("__pycache__"))
    confine = (worker / "confine.py").read_text()
    assert STEPS in confine
    (worker / "confine.py").write_text(confine.replace(STEPS, f"{STEPS[:-1]} if {kept}]"))
    (worker / "__main__.py").write_text(MAIN)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        jail = sandbox.launch(
            machine.folder("m"), adapter=None, control=theirs, mode=mode, worker=worker, port=machine.port
        )
        with jail:
            theirs.close()
            ours.settimeout(20)
            told = ours.recv(65536)
            assert told, jail.output()
    answer = json.loads(told)
    return answer["facts"], answer["seconds"]


def test_the_level_here_is_measured_full(mode: Mode) -> None:
    measured = sandbox.measure(mode)
    assert measured.level == Level.FULL
    assert all(measured.facts.values())
    assert len(measured.notes) == 1


def test_nothing_holds_without_confinement(tmp_path: Path, machine: Machine) -> None:
    facts, _seconds = probed(tmp_path, machine, "plain", "False")
    # An ordinary account has no capabilities anyway, and cannot signal the system's first process.
    assert {name for name, holds in facts.items() if holds} <= {"no_capabilities"}
    assert sandbox.level_of(facts) == Level.NONE
    machine.reached()


def test_bubblewrap_alone_amounts_to_partial(tmp_path: Path, machine: Machine) -> None:
    found, said = find_bubblewrap()
    if found is None:
        pytest.skip(said)
    facts, _seconds = probed(tmp_path, machine, "bwrap", "False")
    assert sandbox.level_of(facts) == Level.PARTIAL
    assert facts["home_unreadable"]
    assert facts["others_invisible"]
    assert not facts["no_fork"]
    assert not facts["no_sockets"]
    assert not machine.reached()


@pytest.mark.parametrize(
    ("step", "lost"),
    [
        ("landlock", {"read_only", "home_unreadable", "workspace_unreadable", "reference_unreadable"}),
        ("seccomp", {"no_fork", "no_exec", "no_sockets", "no_network"}),
        ("rlimits", {"memory_limited", "files_limited"}),
    ],
)
def test_each_layer_that_is_missing_shows(
    tmp_path: Path, machine: Machine, mode: Mode, step: str, lost: set[str]
) -> None:
    facts, _seconds = probed(tmp_path, machine, mode, f"name != '{step}'")
    missing = {name for name, holds in facts.items() if not holds}
    if mode == "plain":
        assert missing >= lost
        assert sandbox.level_of(facts) != Level.FULL
    else:
        # Bubblewrap holds the rest by itself.
        assert missing == lost & {"no_fork", "no_exec", "no_sockets", "memory_limited", "files_limited"}


def test_the_probe_takes_a_few_milliseconds(tmp_path: Path, machine: Machine, mode: Mode) -> None:
    facts, seconds = probed(tmp_path, machine, mode, "True")
    assert all(facts.values())
    assert seconds < 0.02


def test_a_missing_fact_does_not_hold() -> None:
    partial = dict.fromkeys(("no_network", "read_only", "others_unkillable"), True)
    full = dict.fromkeys(sandbox.measure("plain").facts, True)
    assert sandbox.level_of({}) == Level.NONE
    assert sandbox.level_of(partial) == Level.PARTIAL
    assert sandbox.level_of(partial | {"read_only": False}) == Level.NONE
    assert sandbox.level_of(full) == Level.FULL
    assert sandbox.level_of(full | {"memory_limited": False}) == Level.PARTIAL
    del full["memory_limited"]  # not asked for, with a GPU
    assert sandbox.level_of(full) == Level.FULL
