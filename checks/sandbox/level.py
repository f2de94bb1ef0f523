"""The sandbox: start a submission's process confined, and measure what holds.

:func:`launch` starts one worker in bubblewrap where that works, plainly where not; either way
the worker confines itself further (``worker/confine.py``) and tries what a hostile program
would (``worker/probe.py``). :func:`measure` reads that once and names the level.
"""

from __future__ import annotations

import functools
import socket
import struct
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

import msgspec

from judge_tui.checks.errors import EngineError
from judge_tui.checks.sandbox import mounts
from judge_tui.checks.sandbox.bubblewrap import START_SECONDS, find_bubblewrap
from judge_tui.checks.sandbox.confinement import Limits
from judge_tui.checks.sandbox.jail import Jail
from judge_tui.checks.sandbox.start import Order, compile_worker, start_plain, start_wrapped

__all__ = ["Level", "Limits", "Measured", "Mode", "launch", "level_of", "measure"]

#: ``auto`` takes bubblewrap where it works; ``plain`` goes without; ``bwrap`` insists.
Mode = Literal["auto", "bwrap", "plain"]

_MAX_HELLO = 1 << 20
#: Whoever asks while it is being measured waits for that.
_MEASURING = threading.Lock()
#: Wall seconds that a process which closed its connection may take to end.
_LAST_SECONDS = 5.0
#: Resident memory on the machine's side of a worker with a GPU, whose address space cannot be bounded.
_GPU_MEMORY = 12 << 30


class Level(StrEnum):
    """How well a worker is confined, by measurement."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Measured:
    """What the hostile probe found.

    Attributes:
        level: ``full``: every attempt was refused; ``partial``: at least those on the network, on files
            outside the scratch folder and on other processes; else ``none``.
        notes: What confines, and what does not hold, as sentences for people.
        facts: Attempt → whether it was refused.
    """

    level: Level
    notes: tuple[str, ...]
    facts: Mapping[str, bool]


_DEFAULT = Limits()
_FOR_PARTIAL = ("no_network", "read_only", "others_unkillable")
#: Every fact, and what a submission can do where it does not hold.
_WITHOUT = {
    "no_network": "reach the network",
    "no_sockets": "open sockets",
    "read_only": "write outside its scratch folder",
    "others_unkillable": "signal other processes",
    "others_invisible": "see other processes",
    "home_unreadable": "read the home folder",
    "workspace_unreadable": "read the workspace",
    "reference_unreadable": "read the references",
    "no_fork": "start processes",
    "no_exec": "run programs",
    "no_capabilities": "use capabilities",
    "files_limited": "write files of any size",
    "memory_limited": "use any amount of memory",
}


def launch(
    submission: Path,
    *,
    adapter: Path | None,
    control: socket.socket,
    limits: Limits = _DEFAULT,
    mode: Mode = "auto",
    gpu: bool = False,
    device: str = "",
    arrays: str = "numpy",
    packages: tuple[str, ...] = (),
    hashes: int = 0,
    worker: Path = mounts.WORKER,
    port: int = 0,
) -> Jail:
    """Start a worker for one submission. It dies with the thread that started it.

    Args:
        submission: The submission's folder.
        adapter: An ``adapter.py`` that is shown beside it.
        control: The worker's end of the control socket; the caller closes its copy afterwards.
        limits: Resource limits.
        mode: How it is confined.
        gpu: Show it the GPU; needs ``limits.address_space`` to be ``None``.
        device: The one device that CUDA sees, as ``CUDA_VISIBLE_DEVICES`` names it; empty for all.
        arrays: The module that a submission gets for NumPy.
        packages: Installed packages that are shown beside it.
        hashes: What the hashes of texts hang on, and with them the order of sets.
        worker: The package that runs inside.
        port: A TCP port on the loopback interface that it must not reach.

    Raises:
        EngineError: ``mode`` insists on bubblewrap and it does not work, or nothing can be started.
    """
    bubblewrap, said = (None, "") if mode == "plain" else find_bubblewrap()
    if mode == "bwrap" and bubblewrap is None:
        raise EngineError(said, hint="Install bubblewrap, or leave the choice to judge-tui.")
    compile_worker(worker)
    beside = adapter.resolve() if adapter else None
    order = Order(
        submission.resolve(),
        beside,
        control,
        limits,
        worker.resolve(),
        gpu,
        port,
        memory_bytes=_GPU_MEMORY if gpu else None,
        device=device,
        arrays=arrays,
        packages=packages,
        hashes=hashes,
    )
    return start_plain(order) if bubblewrap is None else start_wrapped(bubblewrap, order)


def measure(mode: Mode = "auto") -> Measured:
    """Start a worker without a submission and read what its hostile probe found; once per process.

    Args:
        mode: How it is confined.

    Raises:
        EngineError: It cannot be measured; that is no level, and is tried again when asked again.
    """
    with _MEASURING:
        return _measured(mode)


@functools.cache
def _measured(mode: Mode) -> Measured:
    how = "runs without bubblewrap" if mode == "plain" else find_bubblewrap()[1]
    try:
        hello = _hello(mode)
    except (OSError, ValueError, EOFError, msgspec.DecodeError) as error:
        raise EngineError(f"the sandbox cannot be measured: {error}") from error
    told = hello.get("facts")
    facts = {name: value is True for name, value in told.items()} if isinstance(told, dict) else {}
    confined = [clause for clause in hello.get("confined", ()) if isinstance(clause, str)]
    failed = [clause for clause in confined if ": failed" in clause]
    open_doors = [f"a submission can {words}" for fact, words in _WITHOUT.items() if not facts.get(fact)]
    return Measured(level_of(facts), (how, *failed, *open_doors), facts)


def level_of(facts: Mapping[str, Any]) -> Level:
    """Name the level that facts amount to; one that is missing does not hold.

    Args:
        facts: What the probe found; ``memory_limited`` may be missing, as it is with a GPU.
    """
    if all(facts.get(fact, fact == "memory_limited") is True for fact in _WITHOUT):
        return Level.FULL
    return Level.PARTIAL if all(facts.get(fact) is True for fact in _FOR_PARTIAL) else Level.NONE


def _hello(mode: Mode) -> dict[str, Any]:
    """Start a worker on nothing, with a listener that it must not reach, and read its first message."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with ours, theirs, socket.socket() as listener, tempfile.TemporaryDirectory() as empty:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        jail = launch(Path(empty), adapter=None, control=theirs, mode=mode, port=listener.getsockname()[1])
        with jail:
            theirs.close()
            ours.settimeout(START_SECONDS)
            try:
                (length,) = struct.unpack("<I", _exactly(ours, 4))
                told = msgspec.msgpack.decode(_exactly(ours, min(length, _MAX_HELLO)))
            except TimeoutError as error:
                raise EngineError(
                    f"the sandbox cannot be measured: its worker did not answer within {START_SECONDS:.3g} s",
                    hint="The machine may be too busy: run it again when less else runs.",
                ) from error
            except (OSError, EOFError) as error:
                jail.wait(_LAST_SECONDS)
                clause, said = jail.ended(), jail.output().strip().rpartition("\n")[2]
                raise EngineError(
                    f"the sandbox cannot be measured: its worker {clause}", hint=said
                ) from error
    return told if isinstance(told, dict) else {}


def _exactly(stream: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        if not (part := stream.recv(count - len(data))):
            raise EOFError("closed")
        data += part
    return data
