"""Hostile submissions leave the machine untouched, with bubblewrap and without."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import BadResult, Died, Fault, Raised, TimedOut
from judge_tui.checks.sandbox import Limits, Mode
from judge_tui.checks.sandbox.jail import KEPT_BYTES, Jail

from .conftest import Machine

LOOK = """
import os

found = []
for number in range(256):
    try:
        os.fstat(number)
        found.append(number)
    except OSError:
        pass
os.write(1, repr(found).encode())
"""


def attacked(
    machine: Machine, name: str, mode: Mode, *, budget: float = 30.0, limits: Limits | None = None
) -> tuple[str, Fault | None, Jail]:
    """Let a hostile submission run; return what it wrote, how its call ended, and the jail, killed."""
    submission = machine.hostile(name)
    before, fault = machine.snapshot(), None
    with Worker(submission, mode=mode, limits=limits) as worker:
        pids = {worker.jail.pid, worker.jail.inner_pid}
        try:
            worker.load("code.py", budget=budget)
        except Fault as error:
            fault = error
    jail = worker.jail
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()], "a process is left"
    assert machine.snapshot() == before, "the machine was changed"
    assert not machine.reached(), "a socket was reached"
    assert not machine.left, "files are left"
    return jail.output(), fault, jail


def spoils(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith("SPOIL")]


@pytest.mark.parametrize(
    "name", ["steal", "read_home", "write_workspace", "network", "kill_parent", "linger"]
)
def test_an_escape_gets_nothing_and_changes_nothing(machine: Machine, mode: Mode, name: str) -> None:
    output, fault, _jail = attacked(machine, name, mode)
    assert spoils(output) == []
    assert "done" in output, f"the attack did not run to its end: {fault} {output[-500:]}"
    assert machine.secret not in output


def test_exit_status_zero_and_a_printed_pass_are_a_death(machine: Machine, mode: Mode) -> None:
    output, fault, jail = attacked(machine, "forge_exit", mode)
    assert isinstance(fault, Died)
    assert jail.ended() == "exited with status 0"
    assert "PASS" in output


def test_bytes_forged_on_the_control_socket_are_no_answer(machine: Machine, mode: Mode) -> None:
    _output, fault, _jail = attacked(machine, "forge_fds", mode)
    assert isinstance(fault, BadResult | Died | TimedOut)


def test_a_worker_inherits_its_streams_and_one_socket_only(machine: Machine, mode: Mode) -> None:
    with Worker(machine.written("look", LOOK), mode=mode) as worker:
        worker.load("code.py")
    assert len(json.loads(worker.jail.output())) == 4


def test_a_fork_bomb_starts_no_process(machine: Machine, mode: Mode) -> None:
    output, fault, jail = attacked(machine, "fork_bomb", mode)
    assert spoils(output) == []
    assert isinstance(fault, Died)
    assert jail.ended() == "exited with status 7"


def test_a_memory_bomb_meets_its_limit(machine: Machine, mode: Mode) -> None:
    output, fault, _jail = attacked(machine, "memory_bomb", mode, limits=Limits(address_space=2 << 30))
    assert spoils(output) == []
    assert "done" in output
    assert isinstance(fault, Raised | Died), fault


def test_a_filled_disk_is_bounded_and_given_back(machine: Machine, mode: Mode) -> None:
    output, fault, jail = attacked(machine, "disk_fill", mode)
    assert spoils(output) == []
    assert isinstance(fault, Died)
    if mode == "plain":  # seen only after it happened
        assert jail.ended() == "wrote more than 256 MiB to disk"
        return
    assert jail.ended() == "exited with status 9"
    assert int(output.rpartition("many ")[2].split()[0]) <= 256


def test_a_gigabyte_of_output_is_read_and_dropped(machine: Machine, mode: Mode) -> None:
    output, fault, _jail = attacked(machine, "flood", mode)
    assert fault is None
    assert len(output) < 2 * KEPT_BYTES + 200
    assert "bytes left out" in output
    assert output.endswith("last words\n")


def test_an_endless_loop_that_ignores_signals_dies_at_its_budget(machine: Machine, mode: Mode) -> None:
    started = time.monotonic()
    output, fault, jail = attacked(machine, "stubborn", mode, budget=0.5)
    assert isinstance(fault, TimedOut)
    assert time.monotonic() - started < 5
    assert "settled in" in output
    assert jail.ended() == "was stopped"


def test_processor_time_is_limited_and_named(machine: Machine, mode: Mode) -> None:
    _output, fault, jail = attacked(machine, "burn", mode, limits=Limits(cpu_seconds=1))
    assert isinstance(fault, Died)
    assert jail.ended() == "used up its 1 s of processor time"
