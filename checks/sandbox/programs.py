"""Run a native program in the jail: a compiler on a submission's text, or what it made of it.

The program sees the system's libraries, what is shown to it, and a scratch folder that holds
the files that it is given. It is confined as a worker is, apart from being run at all; no
network, no home, no workspace, no references.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from judge_tui.checks.errors import EngineError
from judge_tui.checks.sandbox import mounts
from judge_tui.checks.sandbox.bubblewrap import find_bubblewrap
from judge_tui.checks.sandbox.confinement import Limits
from judge_tui.checks.sandbox.jail import Jail
from judge_tui.checks.sandbox.level import Mode
from judge_tui.checks.sandbox.start import Order, compile_worker, start_plain, start_wrapped
from judge_tui.checks.sandbox.streams import Streams

__all__ = ["MOST_PRINTED", "Ran", "run_program"]

_PATH = "/usr/local/bin:/usr/bin:/bin"
_POLL = 0.002
#: Wall time of a program whose own is bounded: so many times that, and some for the jail around it.
_WALL, _AROUND = 10.0, 60.0
#: Bytes of the list of files in a tree.
_INDEX = 1 << 20
#: Bytes that a program whose input is given may print.
MOST_PRINTED = 64 << 20
_PROGRAM = Limits(cpu_seconds=300, address_space=6 << 30, file_size=256 << 20)


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended, and what it left; all of it from the untrusted side.

    Attributes:
        status: Exit status, ``-n`` for signal n; ``None`` when it was killed from outside.
        ended: How it ended, as a clause.
        output: What it printed on both streams, or on stderr where its input was given; the middle of a flood
            is left out.
        files: Wanted name → bytes, of those that it left.
        seconds: Wall time, start of the jail included.
        timed_out: Whether its time ran out.
        peak_bytes: Resident memory of its largest process.
        printed: What it printed on stdout where its input was given.
        own_seconds: Wall time of the program alone, less what it waited for a processor; 0 where it was
            killed with what is around it.
        flooded: Whether it was killed because it printed more than is kept.
    """

    status: int | None
    ended: str
    output: str
    files: Mapping[str, bytes]
    seconds: float
    timed_out: bool = False
    peak_bytes: int = 0
    printed: bytes = b""
    own_seconds: float = 0.0
    flooded: bool = False

    @property
    def ok(self) -> bool:
        """Whether it ended by itself, with status 0."""
        return self.status == 0


def run_program(
    argv: Sequence[str],
    *,
    seconds: float,
    files: Mapping[str, bytes] | None = None,
    wanted: Mapping[str, int] | None = None,
    shown: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
    processes: bool = False,
    observed: bool = False,
    limits: Limits = _PROGRAM,
    memory_bytes: int | None = None,
    mode: Mode = "auto",
    gpu: bool = False,
    stdin: bytes | None = None,
    tree: int = 0,
    python: Sequence[str] | None = None,
) -> Ran:
    """Run a program in the jail, with its scratch folder as current folder.

    Args:
        argv: Absolute path of the program, or one relative to the scratch folder with a slash in it; and its
            arguments.
        seconds: Wall time until it is killed, start of the jail included; where its input is given, the
            program's own, without what it waits for a processor.
        files: Relative path → content, written into the scratch folder before; they may be executed.
        wanted: Relative path → most bytes: what is brought back.
        shown: Further files and trees of this machine that it may read and execute, by their own paths.
        environment: Added to a bare one.
        processes: Whether it may start others, as compilers do.
        observed: Whether it starts another that it watches, as compute-sanitizer does: they may signal each
            other, and talk by pipes and sockets. Only in namespaces of their own, so without bubblewrap it
            is not started.
        limits: Resource limits of each process.
        memory_bytes: Resident memory of all of them past which they are killed, for programs that need an
            unlimited address space.
        mode: How it is confined.
        gpu: Show it the GPU; needs ``limits.address_space`` to be ``None``.
        stdin: What it reads, from a pipe; its standard output is a pipe as well then, apart from stderr.
            It is killed that prints more than :data:`MOST_PRINTED`. Without input it reads nothing, and both
            streams are one.
        tree: Most bytes of all files together that it left in the scratch folder, which are brought back by
            their relative paths; 0 for those that are wanted alone.
        python: Where it is this interpreter, which finds the packages that a submission finds in a worker:
            further ones that it finds.

    Raises:
        EngineError: The jail cannot be started.
    """
    started = time.monotonic()
    with contextlib.ExitStack() as held, tempfile.TemporaryDirectory() as empty:
        told = _memory(held)
        sources = {name: _memory(held, content) for name, content in (files or {}).items()}
        sinks = {name: (_memory(held), most) for name, most in (wanted or {}).items()}
        left = _memory(held) if tree else None
        streams = held.enter_context(Streams(stdin, MOST_PRINTED)) if stdin is not None else None
        program: dict[str, Any] = {
            "argv": list(argv),
            "environment": {"PATH": _PATH, "LANG": "C.UTF-8", **(environment or {})},
            "files": sources,
            "wanted": sinks,
            "told": told,
            "streams": streams.theirs if streams else None,
            "seconds": seconds if streams else None,
            "tree": [left, tree] if left is not None else None,
            "python": python is not None,
            "processes": processes or observed,
            "observed": observed,
        }
        fds = (told, *sources.values(), *(fd for fd, _most in sinks.values()))
        fds += (*(streams.theirs if streams else ()), *((left,) if left is not None else ()))
        order = Order(
            Path(empty).resolve(),
            None,
            None,
            limits,
            mounts.WORKER.resolve(),
            gpu=gpu,
            program=program,
            fds=fds,
            shown=tuple(path.resolve() for path in shown),
            memory_bytes=memory_bytes,
            packages=tuple(python or ()),
        )
        with _started(order, mode) as jail:
            if streams is not None:
                streams.start(lambda: jail.stop(f"printed more than {_size(MOST_PRINTED)}"))
            ran = _followed(jail, told, sinks, started, seconds, streams)
        files = {**_unpacked(_content(left, tree + _INDEX)), **ran.files} if left is not None else ran.files
        return replace(ran, files=files)


def _followed(
    jail: Jail,
    told: int,
    sinks: Mapping[str, tuple[int, int]],
    started: float,
    seconds: float,
    streams: Streams | None,
) -> Ran:
    """How a program ended that was started at a time, killed when its seconds are over."""
    timed_out = not _ended(jail, started + (_AROUND + _WALL * seconds if streams else seconds))
    jail.kill()
    ending = _ending(told)
    timed_out = timed_out or ending.get("timed_out") is True
    brought = {
        name: _content(fd, most) for name, (fd, most) in sinks.items() if name in ending.get("brought", ())
    }
    printed = streams.printed() if streams else b""
    flooded = streams is not None and streams.exceeded
    ended = f"did not end within {_seconds(seconds)} s" if timed_out else _clause(jail, ending)
    return Ran(
        None if flooded else ending.get("status"),
        jail.ended() if flooded else ended,
        jail.output(),
        brought,
        time.monotonic() - started,
        timed_out and not flooded,
        int(ending.get("peak_bytes", 0)),
        printed,
        float(ending.get("own_seconds", 0)),
        flooded,
    )


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count} bytes"


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= 2 else f"{seconds:.3g}"


def _unpacked(packed: bytes) -> dict[str, bytes]:
    """The files of a tree; what its index says of them is the untrusted side's."""
    head, _newline, rest = packed.partition(b"\n")
    found: dict[str, bytes] = {}
    with contextlib.suppress(ValueError, TypeError):
        for name, size in json.loads(head):
            if not isinstance(name, str) or not isinstance(size, int) or not 0 <= size <= len(rest):
                break
            path = PurePosixPath(name)
            if not path.is_absolute() and ".." not in path.parts:
                found[name] = rest[:size]
            rest = rest[size:]
    return found


def _started(order: Order, mode: Mode) -> Jail:
    bubblewrap, said = (None, "") if mode == "plain" else find_bubblewrap()
    if mode == "bwrap" and bubblewrap is None:
        raise EngineError(said, hint="Install bubblewrap, or leave the choice to judge-tui.")
    if bubblewrap is None and order.program is not None and order.program["observed"]:
        raise EngineError(
            "a program that watches another runs in bubblewrap alone", hint=said or "Install bubblewrap."
        )
    compile_worker(order.worker)
    return start_plain(order) if bubblewrap is None else start_wrapped(bubblewrap, order)


def _memory(held: contextlib.ExitStack, content: bytes = b"") -> int:
    fd = os.memfd_create("file", os.MFD_CLOEXEC)
    held.callback(os.close, fd)
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _ended(jail: Jail, deadline: float) -> bool:
    pause = _POLL
    while jail.poll() is None:
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
    return True


def _ending(told: int) -> dict[str, Any]:
    """What the process beside the program told; nothing when it was killed with it."""
    try:
        ending = json.loads(_content(told, 1 << 20) or b"{}")
    except ValueError:
        return {}
    return ending if isinstance(ending, dict) else {}


def _clause(jail: Jail, ending: Mapping[str, Any]) -> str:
    status = ending.get("status")
    if not isinstance(status, int):
        return jail.ended()
    return f"exited with status {status}" if status >= 0 else f"was killed by signal {-status}"


def _content(fd: int, most: int) -> bytes:
    return os.pread(fd, min(most, os.fstat(fd).st_size), 0)
