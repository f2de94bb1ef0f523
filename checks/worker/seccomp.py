"""A seccomp filter: no new processes, no programs, no sockets, no reach into other processes.

A deny list, for a Python process that needs memory, threads, files and its one socket:
what is refused fails with EPERM (ENOSYS where the C library then takes an older way).

Source: Linux ``Documentation/userspace-api/seccomp_filter.rst``; system call numbers
from ``asm/unistd_64.h`` (x86_64) and ``asm-generic/unistd.h`` (aarch64).
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["install", "program"]

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _ARCH_AT, _ARGS_AT = 0, 4, 16
_ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
_CLONE_THREAD = 0x00010000
_AF_UNIX, _SOCK_STREAM, _SOCK_SEQPACKET, _TYPE_MASK = 1, 1, 5, 0xF
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2

#: Refused with EPERM whatever the arguments: name → (x86_64, aarch64), ``None`` where there is no such call.
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # new processes and programs
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281),
    # other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440), "process_mrelease": (448, 448), "setpriority": (141, 140),
    "ioprio_set": (251, 30), "migrate_pages": (256, 238), "move_pages": (279, 239),
    # namespaces and mounts
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "open_tree_attr": (467, 467),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    # the kernel's own doors
    "bpf": (321, 280), "perf_event_open": (298, 241), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "userfaultfd": (323, 282), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "acct": (163, 89), "quotactl": (179, 60), "syslog": (103, 116), "settimeofday": (164, 170),
    "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    "sethostname": (170, 161), "setdomainname": (171, 162), "iopl": (172, None), "ioperm": (173, None),
    "modify_ldt": (154, None), "fanotify_init": (300, 262), "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    # sockets, but for the pair that asyncio wants
    "bind": (49, 200), "listen": (50, 201), "accept": (43, 202), "accept4": (288, 242),
    "connect": (42, 203),
    # memory that no limit counts, and what others have of it, which goes by small numbers and by names
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "msgget": (68, 186), "msgsnd": (69, 189),
    "msgrcv": (70, 188), "msgctl": (71, 187), "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191),
    "semtimedop": (220, 192), "mq_open": (240, 180), "mq_unlink": (241, 181), "memfd_secret": (447, 447),
}  # fmt: skip

#: The C library falls back from these.
_UNKNOWN = {"clone3": (435, 435), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
            "io_uring_register": (427, 427)}  # fmt: skip

#: Left open for programs, for programs that start others, and for those of which one watches another.
_PROGRAMS = ("execve", "execveat")
_PROCESSES = ("fork", "vfork")
_OBSERVED = ("socket", "bind", "listen", "accept", "accept4", "connect", "kill", "tgkill")

#: Metadata of files that Landlock does not guard; refused where mounts are the user's own.
_METADATA: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14),
    "lremovexattr": (198, 15), "fremovexattr": (199, 16), "setxattrat": (463, 463),
    "removexattrat": (466, 466), "file_setattr": (469, 469),
}  # fmt: skip

#: Without pids of its own, what a program starts is ended with its group, which nothing may leave.
_LEAVING: dict[str, tuple[int | None, int | None]] = {"setpgid": (109, 154), "setsid": (112, 157)}

_MEMFD_CREATE = (319, 279)
#: Left open for CUDA, whose driver makes a socket at its start on which other processes could ask it for
#: memory, and does not start without; who asks is never accepted.
_LISTENS = ("bind", "listen")
_CLONE, _SOCKET, _SOCKETPAIR = (56, 220), (41, 198), (53, 199)
#: Calls whose first argument is a pid that must be this process.
_SELF_ONLY = {"kill": (62, 129), "tgkill": (234, 131)}
#: Calls whose first argument is a pid that must be this process, or 0 for it.
_SELF_OR_ZERO = {"prlimit64": (302, 261), "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119),
                 "sched_setparam": (142, 118), "sched_setattr": (314, 274)}  # fmt: skip
#: call → (numbers, argument, refused values): death signal and dumpable; signal owners, and news of folders;
#: terminal input.
_REFUSED_VALUES = {
    "prctl": ((157, 167), 0, (1, 4)),
    "fcntl": ((72, 25), 1, (8, 10, 15, 1026)),
    "ioctl": ((16, 29), 1, (0x5412, 0x541C, 0x8901, 0x8902)),
}

#: With ``counted``: a shared map without a file keeps its pages where nobody sees them, and so does swap.
_MMAP, _MADVISE = (9, 222), (28, 233)
_MAP_SHARED, _MAP_SHARED_VALIDATE, _MAP_ANONYMOUS, _MAP_KINDS = 0x01, 0x03, 0x20, 0x2F
_MADV_PAGEOUT, _F_SETPIPE_SZ = 21, 1031

_Instruction = tuple[int, int, int, int]


def install(libc: ctypes.CDLL, limits: Mapping[str, Any]) -> str:
    """Put the filter on the calling thread; needs ``no_new_privs``.

    Args:
        libc: The C library, loaded with ``use_errno``.
        limits: ``own_mounts`` leaves calls on file metadata open, ``own_pids`` those that leave a group of
            processes; ``gpu`` leaves open what CUDA needs;
            ``programs`` leaves ``execve`` open, ``processes`` that, forks and file metadata, ``observed``
            sockets and signals as well, for which it takes namespaces of its own; ``counted`` refuses
            memory that is not counted as resident.

    Raises:
        OSError: The machine or the kernel is not supported.
    """
    processes = bool(limits.get("processes"))
    code = program(
        os.uname().machine, os.getpid(), metadata=bool(limits.get("own_mounts")) or processes,
        gpu=bool(limits.get("gpu")), programs=bool(limits.get("programs")), processes=processes,
        observed=bool(limits.get("observed")), counted=bool(limits.get("counted")),
        leaving=bool(limits.get("own_pids")),
    )  # fmt: skip
    buffer = ctypes.create_string_buffer(code, len(code))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    wanted = Program(len(code) // 8, ctypes.addressof(buffer))
    if libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_MODE_FILTER), ctypes.byref(wanted), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return ""


def program(
    machine: str,
    pid: int,
    *,
    metadata: bool,
    gpu: bool,
    programs: bool = False,
    processes: bool = False,
    observed: bool = False,
    counted: bool = False,
    leaving: bool = False,
) -> bytes:
    """Assemble the filter.

    Args:
        machine: ``x86_64`` or ``aarch64``.
        pid: The process that may signal and limit itself.
        metadata: Allow chmod, chown, utime and extended attributes.
        gpu: Allow ``memfd_create``, and a socket within this machine that listens and never accepts.
        programs: Allow running a program in this process's place.
        processes: Allow that, and new processes.
        observed: Allow sockets, and signals to other processes.
        counted: Refuse memory that is not counted as resident.
        leaving: Allow leaving a group of processes.

    Returns:
        Classic BPF instructions, 8 bytes each.

    Raises:
        OSError: The machine is not known.
    """
    if machine not in _ARCHES:
        raise OSError(f"no filter for the machine {machine}")
    column = list(_ARCHES).index(machine)
    out: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCH_AT), (_EQUAL, 1, 0, _ARCHES[machine]), (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]  # fmt: skip
    if machine == "x86_64":
        out += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _KILL_PROCESS)]
    open_calls = (_PROGRAMS if programs or processes else ()) + (_PROCESSES if processes else ())
    open_calls += (_LISTENS if gpu else ()) + (_OBSERVED if observed else ())
    # the first block of a call is the one that counts
    blocks = [*(_uncounted() if counted else ()), *_blocks(pid, open_calls, metadata=metadata, gpu=gpu)]
    blocks += [] if leaving else [(numbers, [_fail()]) for numbers in _LEAVING.values()]
    for numbers, block in blocks:
        number = numbers[column]
        if number is not None:
            out += [(_EQUAL, 0, len(block), number), *block]
    out.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in out)


def _blocks(
    pid: int, open_calls: Sequence[str], *, metadata: bool, gpu: bool
) -> list[tuple[Sequence[int | None], list[_Instruction]]]:
    """What is done for which call; every block ends in a return."""
    refused = [numbers for name, numbers in _REFUSED.items() if name not in open_calls]
    refused += [] if metadata else list(_METADATA.values())
    refused += [] if gpu else [_MEMFD_CREATE]
    blocks: list[tuple[Sequence[int | None], list[_Instruction]]] = [
        (numbers, [_fail()]) for numbers in refused
    ]
    blocks += [(numbers, [_fail(errno.ENOSYS)]) for numbers in _UNKNOWN.values()]
    blocks += [(numbers, _only(0, (pid,))) for name, numbers in _SELF_ONLY.items() if name not in open_calls]
    blocks += [(numbers, _only(0, (0, pid))) for numbers in _SELF_OR_ZERO.values()]
    blocks += [(numbers, _never(argument, values)) for numbers, argument, values in _REFUSED_VALUES.values()]
    if not set(_PROCESSES) <= set(open_calls):
        blocks.append((_CLONE, [_argument(0), (_ANY_BIT, 0, 1, _CLONE_THREAD), _pass(), _fail()]))
    # A datagram socket could be pointed at any other on the machine; one of a connected kind cannot.
    blocks.append((_SOCKETPAIR, _unix(_SOCK_STREAM)))
    if "socket" not in open_calls:
        blocks.append((_SOCKET, _unix(_SOCK_SEQPACKET) if gpu else [_fail()]))
    return blocks


def _uncounted() -> list[tuple[Sequence[int | None], list[_Instruction]]]:
    """Refuse memory that is kept without being resident: shared maps, swap, pipes and sockets."""
    shared = [
        step
        for kind in (_MAP_SHARED, _MAP_SHARED_VALIDATE)
        for step in ((_EQUAL, 0, 1, kind | _MAP_ANONYMOUS), _fail(errno.ENOMEM))
    ]
    numbers, argument, values = _REFUSED_VALUES["fcntl"]
    return [
        (_MMAP, [_argument(3), (_AND, 0, 0, _MAP_KINDS), *shared, _pass()]),
        (_MADVISE, _never(2, (_MADV_PAGEOUT,))),
        (numbers, _never(argument, (*values, _F_SETPIPE_SZ))),
        (_SOCKETPAIR, [_fail()]),
    ]


def _unix(kind: int) -> list[_Instruction]:
    """Only sockets within this machine, and of one kind; its flags stand above it."""
    of_kind = [_argument(1), (_AND, 0, 0, _TYPE_MASK), (_EQUAL, 0, 1, kind), _pass(), _fail()]
    return [_argument(0), (_EQUAL, 1, 0, _AF_UNIX), _fail(), *of_kind]


def _only(argument: int, values: Sequence[int]) -> list[_Instruction]:
    tests = [step for value in values for step in ((_EQUAL, 0, 1, value), _pass())]
    return [_argument(argument), *tests, _fail()]


def _never(argument: int, values: Sequence[int]) -> list[_Instruction]:
    tests = [step for value in values for step in ((_EQUAL, 0, 1, value), _fail())]
    return [_argument(argument), *tests, _pass()]


def _argument(index: int) -> _Instruction:
    """Load the low word of an argument; the kernel's own types for these are 32 bits wide, or flags."""
    return (_LOAD, 0, 0, _ARGS_AT + 8 * index)


def _pass() -> _Instruction:
    return (_RETURN, 0, 0, _ALLOW)


def _fail(code: int = errno.EPERM) -> _Instruction:
    return (_RETURN, 0, 0, _ERRNO | code)
