"""The filter, interpreted here for both machines: what it refuses, and what it lets through."""

from __future__ import annotations

import errno
import struct

import pytest

from judge_tui.checks.worker import seccomp

PID = 4242
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOWED, KILLED = "allowed", "killed"
# name → (x86_64, aarch64)
CALLS = {
    "read": (0, 63), "mmap": (9, 222), "futex": (202, 98), "openat": (257, 56), "exit_group": (231, 94),
    "clone": (56, 220), "clone3": (435, 435), "execve": (59, 221), "kill": (62, 129), "tgkill": (234, 131),
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "prctl": (157, 167),
    "fcntl": (72, 25), "ioctl": (16, 29), "prlimit64": (302, 261), "ptrace": (101, 117),
    "memfd_create": (319, 279), "fchmod": (91, 52), "bind": (49, 200), "listen": (50, 201),
    "accept": (43, 202), "accept4": (288, 242), "madvise": (28, 233),
    "shmat": (30, 196), "shmctl": (31, 195), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "setpgid": (109, 154), "setsid": (112, 157),
    "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192), "mq_unlink": (241, 181),
}  # fmt: skip
THREAD, AF_UNIX, AF_INET, STREAM, DGRAM, PACKETS, CLOEXEC = 0x10000, 1, 2, 1, 2, 5, 0o2000000
SHARED, PRIVATE, ANONYMOUS = 0x01, 0x02, 0x20


def judged(code: bytes, arch: int, number: int, *args: int) -> str | int:
    """Run the filter on one system call."""
    data = struct.pack("=IIQ6Q", number, arch, 0, *args, *[0] * (6 - len(args)))
    program = [struct.unpack_from("=HBBI", code, at) for at in range(0, len(code), 8)]
    at, word = 0, 0
    while True:
        operation, true, false, value = program[at]
        at += 1
        if operation == 0x20:
            (word,) = struct.unpack_from("=I", data, value)
        elif operation == 0x54:
            word &= value
        elif operation == 0x06:
            return {0x7FFF0000: ALLOWED, 0x80000000: KILLED}.get(value, value & 0xFFFF)
        else:
            tests = {0x15: word == value, 0x35: word >= value, 0x45: bool(word & value)}
            at += true if tests[operation] else false


@pytest.fixture(params=["x86_64", "aarch64"])
def machine_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize(
    ("call", "args", "expected"),
    [
        ("read", (), ALLOWED),
        ("mmap", (), ALLOWED),
        ("futex", (), ALLOWED),
        ("openat", (), ALLOWED),
        ("exit_group", (), ALLOWED),
        ("clone", (THREAD | 0x3D0F00,), ALLOWED),
        ("clone", (17,), errno.EPERM),
        ("clone3", (), errno.ENOSYS),
        ("execve", (), errno.EPERM),
        ("kill", (PID, 9), ALLOWED),
        ("kill", (1, 9), errno.EPERM),
        ("kill", (0xFFFFFFFF, 9), errno.EPERM),
        ("tgkill", (PID, PID + 1, 6), ALLOWED),
        ("tgkill", (PID + 1, PID + 1, 6), errno.EPERM),
        ("socket", (AF_UNIX, STREAM), errno.EPERM),
        ("socket", (AF_INET, STREAM), errno.EPERM),
        ("socket", (AF_UNIX, PACKETS), errno.EPERM),
        ("bind", (), errno.EPERM),
        ("listen", (), errno.EPERM),
        ("socketpair", (AF_UNIX, STREAM | CLOEXEC), ALLOWED),
        ("socketpair", (AF_UNIX, DGRAM | CLOEXEC), errno.EPERM),
        ("socketpair", (AF_INET, STREAM), errno.EPERM),
        ("connect", (), errno.EPERM),
        ("prctl", (15,), ALLOWED),
        ("prctl", (1, 0), errno.EPERM),
        ("prctl", (4, 1), errno.EPERM),
        ("fcntl", (3, 1), ALLOWED),
        ("fcntl", (3, 8), errno.EPERM),
        ("fcntl", (3, 1026), errno.EPERM),
        ("ioctl", (0, 0x5401), ALLOWED),
        ("ioctl", (0, 0x5412), errno.EPERM),
        ("prlimit64", (0, 7), ALLOWED),
        ("prlimit64", (1, 7), errno.EPERM),
        ("ptrace", (16, 1), errno.EPERM),
        ("memfd_create", (), errno.EPERM),
        ("fchmod", (), errno.EPERM),
    ],
)
def test_a_system_call_is_judged_by_its_arguments(
    machine_name: str, call: str, args: tuple[int, ...], expected: str | int
) -> None:
    code = seccomp.program(machine_name, PID, metadata=False, gpu=False)
    number = CALLS[call][list(ARCH).index(machine_name)]
    assert judged(code, ARCH[machine_name], number, *args) == expected


@pytest.mark.parametrize(
    "call",
    ["shmat", "shmctl", "msgsnd", "msgrcv", "msgctl", "semop", "semctl", "semtimedop", "mq_unlink"],
)
def test_memory_and_queues_of_other_processes_are_out_of_reach(machine_name: str, call: str) -> None:
    code = seccomp.program(machine_name, PID, metadata=True, gpu=True)
    number = CALLS[call][list(ARCH).index(machine_name)]
    assert judged(code, ARCH[machine_name], number, 0) == errno.EPERM


@pytest.mark.parametrize("call", ["setpgid", "setsid"])
def test_without_pids_of_its_own_nothing_leaves_the_group_that_is_killed(
    machine_name: str, call: str
) -> None:
    number = CALLS[call][list(ARCH).index(machine_name)]
    for leaving, expected in ((False, errno.EPERM), (True, ALLOWED)):
        code = seccomp.program(machine_name, PID, metadata=True, gpu=False, processes=True, leaving=leaving)
        assert judged(code, ARCH[machine_name], number, 0, 0) == expected


def test_what_mounts_or_a_gpu_make_harmless_can_be_left_open(machine_name: str) -> None:
    code = seccomp.program(machine_name, PID, metadata=True, gpu=True)
    column = list(ARCH).index(machine_name)
    for call in ("fchmod", "memfd_create"):
        assert judged(code, ARCH[machine_name], CALLS[call][column]) == ALLOWED


def test_programs_of_which_one_watches_another_may_talk_and_signal(machine_name: str) -> None:
    code = seccomp.program(
        machine_name, PID, metadata=True, gpu=True, programs=True, processes=True, observed=True
    )
    column = list(ARCH).index(machine_name)
    for call, args in (
        ("socket", (AF_UNIX, STREAM)),
        ("connect", ()),
        ("kill", (PID + 1, 0)),
        ("execve", ()),
    ):
        assert judged(code, ARCH[machine_name], CALLS[call][column], *args) == ALLOWED
    assert judged(code, ARCH[machine_name], CALLS["ptrace"][column]) == errno.EPERM


@pytest.mark.parametrize(
    ("call", "args", "expected"),
    [
        ("socket", (AF_UNIX, PACKETS | CLOEXEC), ALLOWED),
        ("socket", (AF_UNIX, STREAM), errno.EPERM),
        ("socket", (AF_UNIX, DGRAM), errno.EPERM),
        ("socket", (AF_INET, PACKETS), errno.EPERM),
        ("socketpair", (AF_UNIX, DGRAM), errno.EPERM),
        ("bind", (), ALLOWED),
        ("listen", (), ALLOWED),
        ("accept", (), errno.EPERM),
        ("accept4", (), errno.EPERM),
        ("connect", (), errno.EPERM),
        ("execve", (), errno.EPERM),
    ],
)
def test_with_a_gpu_a_socket_may_listen_and_nobody_is_reached(
    machine_name: str, call: str, args: tuple[int, ...], expected: str | int
) -> None:
    code = seccomp.program(machine_name, PID, metadata=False, gpu=True)
    number = CALLS[call][list(ARCH).index(machine_name)]
    assert judged(code, ARCH[machine_name], number, *args) == expected


@pytest.mark.parametrize(
    ("call", "args", "expected"),
    [
        ("mmap", (0, 4096, 3, PRIVATE | ANONYMOUS), ALLOWED),
        ("mmap", (0, 4096, 3, SHARED), ALLOWED),
        ("mmap", (0, 4096, 3, SHARED | ANONYMOUS), errno.ENOMEM),
        ("mmap", (0, 4096, 3, SHARED | ANONYMOUS | 0x4000), errno.ENOMEM),
        ("mmap", (0, 4096, 3, 3 | ANONYMOUS), errno.ENOMEM),
        ("madvise", (0, 4096, 4), ALLOWED),
        ("madvise", (0, 4096, 21), errno.EPERM),
        ("fcntl", (3, 1), ALLOWED),
        ("fcntl", (3, 8), errno.EPERM),
        ("fcntl", (3, 1031), errno.EPERM),
        ("socketpair", (AF_UNIX, STREAM), errno.EPERM),
        ("memfd_create", (), errno.EPERM),
        ("clone", (17,), errno.EPERM),
    ],
)
def test_where_memory_is_counted_none_is_kept_out_of_sight(
    machine_name: str, call: str, args: tuple[int, ...], expected: str | int
) -> None:
    code = seccomp.program(machine_name, PID, metadata=True, gpu=False, counted=True)
    number = CALLS[call][list(ARCH).index(machine_name)]
    assert judged(code, ARCH[machine_name], number, *args) == expected


def test_another_architectures_calls_are_no_way_round(machine_name: str) -> None:
    code = seccomp.program(machine_name, PID, metadata=False, gpu=False)
    assert judged(code, 0x40000003, 2) == KILLED  # i386's fork
    if machine_name == "x86_64":
        assert judged(code, ARCH["x86_64"], 0x40000000 | 57) == KILLED  # x32's fork


def test_an_unknown_machine_has_no_filter() -> None:
    with pytest.raises(OSError, match="riscv64"):
        seccomp.program("riscv64", PID, metadata=False, gpu=False)
