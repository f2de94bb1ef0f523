"""Start a worker's process: in bubblewrap, or plainly.

Either way it gets the terms of its confinement on standard input, a pipe for its
output, and its end of the control socket; nothing else of this process.
"""

from __future__ import annotations

import compileall
import contextlib
import functools
import json
import os
import select
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge_tui.checks.errors import EngineError
from judge_tui.checks.niceness import be_nice
from judge_tui.checks.sandbox import mounts, packages
from judge_tui.checks.sandbox.bubblewrap import START_SECONDS, Bubblewrap, python, wrapped
from judge_tui.checks.sandbox.confinement import Limits, terms
from judge_tui.checks.sandbox.jail import Jail
from judge_tui.checks.sandbox.scratch import OwnMount, SharedFolder
from judge_tui.checks.temporary import folder_of_worker

__all__ = [
    "Order",
    "compile_worker",
    "start_plain",
    "start_wrapped",
]

_PROCESSES = 256
#: How much sooner than others a worker is ended where the machine's memory runs out, in thousandths.
_OOM_SCORE = "700"
#: Seconds until a process has its own session at most, and between two looks at it.
_SESSION_S, _LOOK_S = 1.0, 0.001
#: Where memory is counted, what is given back goes back at once, and no page is larger than what is in it.
_COUNTED = {"MALLOC_MMAP_THRESHOLD_": "16384", "MALLOC_TRIM_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1",
            "NUMPY_MADVISE_HUGEPAGE": "0"}  # fmt: skip
_OWN_THREADS = "/proc/self/task"
_SYSTEM_TOOLKIT = "/usr/local/cuda"


@dataclass(frozen=True, slots=True)
class Order:
    """What to start.

    Attributes:
        submission: The submission's folder, resolved.
        adapter: An ``adapter.py`` that is shown beside it, resolved.
        control: The worker's end of the control socket.
        limits: Resource limits.
        worker: The package that runs inside, resolved.
        gpu: Show the GPU.
        port: A TCP port on the loopback interface that the probe tries; 0 for none.
        program: What ``worker/program.py`` runs in place of a session; the fds that it names are handed over.
        fds: Those.
        shown: Further files and trees that are shown, by the paths that they have here.
        memory_bytes: Resident memory past which it is killed; ``None`` for no such watch.
        device: The one device that CUDA sees; empty for all that are visible.
        arrays: The module that a submission gets for NumPy.
        packages: Installed packages that are shown beside NumPy, frameworks included.
        hashes: What the hashes of texts hang on, and with them the order of sets.
    """

    submission: Path
    adapter: Path | None
    control: socket.socket | None
    limits: Limits
    worker: Path
    gpu: bool = False
    port: int = 0
    program: Mapping[str, Any] | None = None
    fds: tuple[int, ...] = ()
    shown: tuple[Path, ...] = ()
    memory_bytes: int | None = None
    device: str = ""
    arrays: str = "numpy"
    packages: tuple[str, ...] = ()
    hashes: int = 0


@functools.cache
def compile_worker(worker: Path) -> None:
    """Compile the package that runs inside; it cannot write its own bytecode.

    Args:
        worker: The package's folder.
    """
    compileall.compile_dir(worker, quiet=2)


def start_wrapped(bubblewrap: Bubblewrap, order: Order) -> Jail:
    """Start a worker in bubblewrap.

    Args:
        bubblewrap: One that works.
        order: What to start.

    Raises:
        EngineError: It cannot be started.
    """
    argv, view = mounts.bubblewrap_view(
        order.submission,
        order.adapter,
        order.worker,
        proc=bubblewrap.proc,
        size=bubblewrap.size,
        gpu=order.gpu,
        shown=_shown(order),
        arrays=order.arrays,
        packages=order.packages,
    )
    held = _held(order, view) | {"own_mounts": True, "own_pids": True, "devices": ["/dev"]}
    # who judges in the folder of temporary files has another one by that name in there: its own
    held["outside"] = [path for path in held["outside"] if path != view.scratch]
    held["rlimits"]["processes"] = _PROCESSES
    if order.gpu and held.get("processes"):
        # its own /proc tells of what it starts alone
        held["rewrite"] = ["/proc"]
    reader, writer = os.pipe()
    argv = [
        *wrapped(bubblewrap),
        "--info-fd",
        str(writer),
        *argv,
        "--",
        *python(_code(order, view)),
    ]
    try:
        with os.fdopen(writer, "wb"):
            fds = (*_fds(order), writer)
            process, output = _start(argv, held, fds, _environment(view, order), Path("/"))
        inner = _inner_pid(reader)
    finally:
        os.close(reader)
    pid = inner or process.pid
    _in_its_session(pid)
    _ranked(pid)
    return Jail(
        process,
        output,
        pid,
        cpu_seconds=order.limits.cpu_seconds,
        scratch=OwnMount(pid, view.scratch),
        memory_bytes=order.memory_bytes,
    )


def start_plain(order: Order) -> Jail:
    """Start a worker without mounts and namespaces of its own.

    Args:
        order: What to start.

    Raises:
        EngineError: It cannot be started.
    """
    folder = folder_of_worker()
    view = mounts.plain_view(
        order.submission,
        order.adapter,
        order.worker,
        Path(folder.name).resolve(),
        shown=_shown(order),
        arrays=order.arrays,
        packages=order.packages,
    )
    held = _held(order, view)
    held["outside"] += [tempfile.gettempdir(), folder.name]
    argv, environment = python(_code(order, view)), _environment(view, order)
    process, output = _start(argv, held, _fds(order), environment, Path(view.scratch))
    _ranked(process.pid)
    return Jail(
        process,
        output,
        process.pid,
        cpu_seconds=order.limits.cpu_seconds,
        folder=folder,
        scratch=SharedFolder(folder.name),
        memory_bytes=order.memory_bytes,
    )


def _in_its_session(pid: int) -> None:
    """Wait until bubblewrap has given a process its session: a rank from before is left behind there."""
    deadline = time.monotonic() + _SESSION_S
    with contextlib.suppress(OSError):
        while os.getsid(pid) != pid and time.monotonic() < deadline:
            time.sleep(_LOOK_S)


def _ranked(pid: int) -> None:
    """Have a process stand back for the judge, in processor time and where memory runs out."""
    with contextlib.suppress(AttributeError):
        nice = os.getpriority(os.PRIO_PROCESS, 0)
        if nice > 0:
            be_nice(pid, nice)
    # where memory runs out, the submission goes before the judge
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text(_OOM_SCORE, encoding="ascii")


def _held(order: Order, view: mounts.View) -> dict[str, Any]:
    """The terms of confinement; with a program, what may be run."""
    held = terms(view, order.limits, order.submission, gpu=order.gpu, port=order.port)
    every = order.packages == packages.EVERY
    refused = () if every else sorted(packages.FRAMEWORKS.difference(order.packages))
    held |= {"arrays": order.arrays, "refused": [*refused]}
    if order.gpu:
        # the driver names its threads, and does not start where it may not
        held["rewrite"] = [_OWN_THREADS]
    if order.program is not None:
        held |= {"program": dict(order.program), "programs": True, "execute": [*view.read, view.scratch]}
        held["processes"] = bool(order.program["processes"])
        held["sites"] = [*view.sites] if order.program["python"] else []
        if order.program["observed"]:
            held |= {"observed": True, "meet": [view.scratch]}
    return held


def _fds(order: Order) -> tuple[int, ...]:
    return (*((order.control.fileno(),) if order.control else ()), *order.fds)


def _start(
    argv: Sequence[str],
    settings: Mapping[str, Any],
    fds: Sequence[int],
    environment: Mapping[str, str],
    cwd: Path,
) -> tuple[subprocess.Popen[bytes], int]:
    """Start a process whose stdin holds the settings; return it and the read end of its output."""
    reader, writer = os.pipe()
    handed = os.memfd_create("settings", os.MFD_CLOEXEC)
    try:
        os.write(handed, json.dumps(settings).encode())
        os.lseek(handed, 0, os.SEEK_SET)
        process = subprocess.Popen(
            argv,
            stdin=handed,
            stdout=writer,
            stderr=writer,
            pass_fds=fds,
            env=dict(environment),
            cwd=cwd,
            start_new_session=True,
        )
    except OSError as error:
        os.close(reader)
        raise EngineError(f"cannot start {argv[0]}: {error.strerror}") from error
    finally:
        os.close(writer)
        os.close(handed)
    return process, reader


def _code(order: Order, view: mounts.View) -> str:
    """What the interpreter runs; ``site`` gives ``exit`` and ``quit`` back, and tells where packages lie.

    CuPy looks there for CUDA's libraries, and compiles nothing without them.
    """
    if order.control is None:
        return (
            f"import sys; sys.path[:0] = [{view.package_root!r}]\n"
            f"from {mounts.PACKAGE} import confine, program; program.main(confine.load())"
        )
    arguments = f"{order.control.fileno()}, {view.submission!r}, {view.adapter!r}"
    return (
        f"import sys, site; site.setquit(); site.getsitepackages = lambda prefixes=None: {[*view.sites]!r}\n"
        f"sys.path[:0] = [{view.package_root!r}]; sys.path += {[*view.sites]!r}\n"
        f"from {mounts.PACKAGE} import confine; from {mounts.PACKAGE}.__main__ import main\n"
        f"main({arguments}, confine.load())"
    )


def _environment(view: mounts.View, order: Order) -> dict[str, str]:
    fixed = {"PATH": "/usr/bin:/bin", "HOME": view.scratch, "TMPDIR": view.scratch, "LANG": "C.UTF-8",
             "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
             "PYTHONHASHSEED": str(order.hashes)}  # fmt: skip
    if not order.gpu:
        # Triton's kernels run as Python where there is no card
        fixed["TRITON_INTERPRET"] = "1"
    if order.limits.counted:
        fixed |= _COUNTED
    if not order.gpu:
        return fixed
    passed = ("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH")
    own = {"CUDA_VISIBLE_DEVICES": order.device} if order.device else {}
    # named even where it is the usual one: what looks for it by a process of its own finds nothing in here
    own |= {"CUDA_PATH": str(toolkit)} if (toolkit := _toolkit()) else {}
    return fixed | {name: os.environ[name] for name in passed if name in os.environ} | own


def _shown(order: Order) -> tuple[Path, ...]:
    toolkit = _toolkit() if order.gpu else None
    return (*order.shown, *((toolkit,) if toolkit else ()))


def _toolkit() -> Path | None:
    """The folder of CUDA's toolkit on this machine; what CuPy's own packages hold comes before it."""
    named = (os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), _SYSTEM_TOOLKIT)
    return next((Path(each).resolve() for each in named if each and os.path.isdir(each)), None)


def _inner_pid(reader: int) -> int | None:
    """The worker's pid, which bubblewrap tells before the worker runs; ``None`` when it failed before."""
    told = b""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and select.select([reader], [], [], START_SECONDS)[0]:
        part = os.read(reader, 4096)
        told += part
        if not part:
            break
    try:
        return int(json.loads(told)["child-pid"])
    except (ValueError, KeyError, TypeError):
        return None
