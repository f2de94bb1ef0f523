"""What a jail may write to has bounds on its bytes, its entries and their depth, with bubblewrap or not."""

from __future__ import annotations

import os

import pytest

from judge_tui.checks import sandbox
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import Died
from judge_tui.checks.sandbox.scratch import OwnMount

from ...conftest import Machine

#: Empty files, as many as it gets.
EMPTY = """
import os, time

for folder in range(60):
    os.mkdir(f"{folder}")
    for index in range(500):
        os.close(os.open(f"{folder}/{index}", os.O_CREAT | os.O_WRONLY))
time.sleep(2)
os.write(1, b"SPOIL 30,000 files")
os._exit(9)
"""
#: Bytes below a folder whose path is longer than any that can be asked for.
DEEP = """
import os, time

chunk = bytes(1 << 20)
for level in range(300):
    os.mkdir("x" * 200)
    os.chdir("x" * 200)
for index in range(10):
    with open(f"{index}", "wb", buffering=0) as file:
        for _ in range(40):
            try:
                file.write(chunk)
            except OSError:
                os._exit(7)
time.sleep(2)
os.write(1, b"SPOIL 400 MiB")
os._exit(9)
"""


def test_files_of_this_machine_are_not_counted_while_a_jail_makes_its_mounts() -> None:
    # a process whose root is still ours, as that of a jail is at first
    assert OwnMount(os.getpid(), "/").excess() == ""


@pytest.mark.parametrize(
    ("code", "told"), [(EMPTY, "made more than 20,000 files"), (DEEP, "levels deep")], ids=["empty", "deep"]
)
def test_what_no_count_of_bytes_sees_is_bounded_too(
    code: str, told: str, machine: Machine, mode: sandbox.Mode
) -> None:
    with Worker(machine.written("filler", code), mode=mode) as worker:
        with pytest.raises(Died):
            worker.load("code.py", budget=60)
        ended, output = worker.jail.ended(), worker.jail.output()
    assert "SPOIL" not in output
    # a file system of its own has a bound on its bytes, however deep they lie
    assert told in ended or (mode == "bwrap" and code is DEEP and "exited" in ended), ended
    assert machine.left == []
