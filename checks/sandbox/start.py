"""Start a worker's process: in bubblewrap, or plainly.

Either way it gets the terms of its confinement on standard input, a pipe for its
output, and its end of the control socket; nothing else of this process.
"""

from __future__ import annotations

import compileall
import contextlib
import errno
import functools
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge_tui.checks.errors import EngineError
from judge_tui.checks.sandbox import mounts
from judge_tui.checks.sandbox.confinement import Limits, terms
from judge_tui.checks.sandbox.jail import Jail

__all__ = [
    "START_SECONDS",
    "Bubblewrap",
    "Order",
    "compile_worker",
    "find_bubblewrap",
    "start_plain",
    "start_wrapped",
]

#: Wall seconds within which a worker must have started; a machine may be very busy.
START_SECONDS = 120.0
#: What a machine says that has no room just now, and seconds to wait before trying again.
_PASSING = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
_PAUSES = (0.2, 1.0, 3.0)
_PROCESSES = 256
_PREFIX = "judge-tui-"


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


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """A bubblewrap that works, and what it can do here.

    Attributes:
        path: The program.
        proc: Whether it can mount ``/proc``; some containers refuse.
        size: Whether it can bound the scratch folder; older ones cannot.
    """

    path: str
    proc: bool
    size: bool


@functools.cache
def find_bubblewrap() -> tuple[Bubblewrap | None, str]:
    """Find a bubblewrap that works here, trying with less where more is refused; once per process.

    Returns:
        The bubblewrap, if any, and a sentence about it.

    Raises:
        EngineError: It does not answer, which says nothing about whether it works.
    """
    path = shutil.which("bwrap")
    if path is None:
        return None, "bubblewrap is not installed"
    said = ""
    for proc, size in ((True, True), (False, True), (True, False), (False, False)):
        found = Bubblewrap(path, proc, size)
        empty = mounts.WORKER
        argv = [
            *_wrapped(found),
            *mounts.bubblewrap_view(empty, None, empty, proc=proc, size=size, gpu=False)[0],
        ]
        argv += ["--", *_python("pass")]
        refused = _refused(argv)
        if refused is None:
            return found, "runs in bubblewrap" + ("" if proc else ", without /proc")
        said = said or refused
    return None, f"bubblewrap does not work here: {said}"


def _refused(argv: Sequence[str]) -> str | None:
    """Why a program does not run here; ``None`` when it does. What may pass is tried again.

    Raises:
        EngineError: It does not answer.
    """
    said = ""
    for pause in (*_PAUSES, None):
        try:
            tried = subprocess.run(argv, capture_output=True, timeout=START_SECONDS, check=False, env={})
        except subprocess.TimeoutExpired as error:
            raise EngineError(
                f"bubblewrap did not answer within {START_SECONDS:.3g} s, so nobody knows whether it works",
                hint="The machine may be too busy: run it again when less else runs.",
            ) from error
        except OSError as error:
            said, passes = f"cannot be started: {error.strerror}", error.errno in _PASSING
        else:
            if tried.returncode == 0:
                return None
            said = tried.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            killed = tried.returncode < 0 or tried.returncode > 128
            passes = killed or any(os.strerror(number) in said for number in _PASSING)
        if not passes:
            break
        if pause is not None:
            time.sleep(pause)
    return said


def _wrapped(bubblewrap: Bubblewrap) -> list[str]:
    """The worker is the only process of its namespace, and so its pid 1."""
    return [
        bubblewrap.path,
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--as-pid-1",
        "--cap-drop",
        "ALL",
    ]


def _python(code: str) -> list[str]:
    """Run code with this environment's interpreter, without its start-up files (25 ms saved)."""
    return [os.path.realpath(sys.executable), "-I", "-S", "-B", "-X", "faulthandler", "-c", code]


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
        shown=order.shown,
        arrays=order.arrays,
    )
    held = _held(order, view) | {"own_mounts": True, "own_pids": True, "devices": ["/dev"]}
    held["rlimits"]["processes"] = _PROCESSES
    reader, writer = os.pipe()
    argv = [
        *_wrapped(bubblewrap),
        "--info-fd",
        str(writer),
        *argv,
        "--",
        *_python(_code(order, view)),
    ]
    try:
        with os.fdopen(writer, "wb"):
            fds = (*_fds(order), writer)
            process, output = _start(argv, held, fds, _environment(view, order), Path("/"))
        inner = _inner_pid(reader)
    finally:
        os.close(reader)
    return Jail(
        process,
        output,
        inner or process.pid,
        cpu_seconds=order.limits.cpu_seconds,
        memory_bytes=order.memory_bytes,
    )


def start_plain(order: Order) -> Jail:
    """Start a worker without mounts and namespaces of its own.

    Args:
        order: What to start.

    Raises:
        EngineError: It cannot be started.
    """
    _sweep(tempfile.gettempdir())
    folder = tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-", ignore_cleanup_errors=True)
    view = mounts.plain_view(
        order.submission,
        order.adapter,
        order.worker,
        Path(folder.name).resolve(),
        shown=order.shown,
        arrays=order.arrays,
    )
    held = _held(order, view)
    held["outside"] += [tempfile.gettempdir(), folder.name]
    argv, environment = _python(_code(order, view)), _environment(view, order)
    process, output = _start(argv, held, _fds(order), environment, Path(view.scratch))
    return Jail(
        process,
        output,
        process.pid,
        cpu_seconds=order.limits.cpu_seconds,
        folder=folder,
        folder_bytes=mounts.SCRATCH_BYTES,
        memory_bytes=order.memory_bytes,
    )


def _held(order: Order, view: mounts.View) -> dict[str, Any]:
    """The terms of confinement; with a program, what may be run."""
    held = terms(view, order.limits, order.submission, gpu=order.gpu, port=order.port)
    held["arrays"] = order.arrays
    if order.program is not None:
        held |= {"program": dict(order.program), "programs": True, "execute": [*view.read, view.scratch]}
        held["processes"] = bool(order.program["processes"])
    return held


def _fds(order: Order) -> tuple[int, ...]:
    return (*((order.control.fileno(),) if order.control else ()), *order.fds)


@functools.cache
def _sweep(folder: str) -> None:
    """Remove what processes that were killed could not; once per process."""
    for left in Path(folder).glob(f"{_PREFIX}[0-9]*-*"):
        owner = left.name.removeprefix(_PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            if not Path("/proc", owner).exists() and left.lstat().st_uid == os.geteuid():
                shutil.rmtree(left, ignore_errors=True)


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
    """What the interpreter runs; ``site`` gives ``exit`` and ``quit`` back, and nothing else."""
    if order.control is None:
        return (
            f"import sys; sys.path[:0] = [{view.package_root!r}]\n"
            f"from {mounts.PACKAGE} import confine, program; program.main(confine.load())"
        )
    arguments = f"{order.control.fileno()}, {view.submission!r}, {view.adapter!r}"
    return (
        "import sys, site; site.setquit()\n"
        f"sys.path[:0] = [{view.package_root!r}]; sys.path += {[*view.sites]!r}\n"
        f"from {mounts.PACKAGE} import confine; from {mounts.PACKAGE}.__main__ import main\n"
        f"main({arguments}, confine.load())"
    )


def _environment(view: mounts.View, order: Order) -> dict[str, str]:
    fixed = {"PATH": "/usr/bin:/bin", "HOME": view.scratch, "TMPDIR": view.scratch, "LANG": "C.UTF-8",
             "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # fmt: skip
    if not order.gpu:
        return fixed
    passed = ("CUDA_VISIBLE_DEVICES", "CUDA_PATH", "CUDA_HOME", "LD_LIBRARY_PATH")
    own = {"CUDA_VISIBLE_DEVICES": order.device} if order.device else {}
    return fixed | {name: os.environ[name] for name in passed if name in os.environ} | own


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
