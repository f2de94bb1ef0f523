"""The terms of confinement: what a worker is held to, and what its hostile probe tries.

They are handed to the worker before anything of a submission runs; ``worker/confine.py``
carries them out and ``worker/probe.py`` tries to break them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from judge_tui.checks.folders import home_folder, present_folder
from judge_tui.checks.sandbox import mounts

__all__ = ["Limits", "terms"]

_MOST_PATHS = 16
_REFERENCE_FILES = ("verdict.py", "checks/verdict.py", "tasks/__init__.py", "checks/tasks/__init__.py")
#: What the CUDA driver reads; the rest of /proc is other processes.
_FOR_GPU = (
    "/sys",
    *(f"/proc/{name}" for name in ("driver", "devices", "modules", "meminfo", "cpuinfo", "sys/vm")),
)
_OWN_FOLDERS = tuple(map(Path, ("/proc", "/dev", "/sys", "/tmp")))


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of a worker.

    Attributes:
        cpu_seconds: Processor time, in seconds.
        address_space: Bytes of address space; ``None`` for none, which CUDA needs.
        file_size: Bytes of the largest file.
        open_files: File descriptors.
        core: Bytes of a core dump.
        stack: Bytes of the first thread's stack, -1 for all that the address space has room for; ``None``
            for what this process has.
        counted: Whether all memory that it can have counts as resident: no files, no maps that outlive
            being seen, none swapped out on request.
    """

    cpu_seconds: int = 300
    address_space: int | None = 6 << 30
    file_size: int = 64 << 20
    open_files: int = 256
    core: int = 0
    stack: int | None = None
    counted: bool = False


def terms(view: mounts.View, limits: Limits, submission: Path, *, gpu: bool, port: int) -> dict[str, Any]:
    """What a worker is held to, and the paths that its probe tries.

    Args:
        view: What it sees.
        limits: Resource limits.
        submission: The submission's folder on this machine.
        gpu: Whether it gets the GPU.
        port: A TCP port on the loopback interface that the probe tries; 0 for none.

    Returns:
        Plain data; the keys are those that ``worker/confine.py`` and ``worker/probe.py`` read.
    """
    home, workspace = home_folder(), present_folder()
    hidden = [path / name for path in _secrets_inside(view) for name in _REFERENCE_FILES]
    fixed = ["/", "/usr", "/etc", "/var/tmp", "/dev/shm", str(home), str(workspace), sys.base_prefix]
    package = [view.package_root, f"{view.package_root}/{mounts.PACKAGE}"]
    rlimits = asdict(limits) | {"message_queues": 0}
    counted = rlimits.pop("counted")
    # shared memory by another name
    devices = [path for path in mounts.devices(gpu=gpu) if not (counted and path == "/dev/zero")]
    return {
        "rlimits": rlimits,
        "counted": counted,
        "read": [*view.read, *(_FOR_GPU if gpu else ())],
        "list": view.listed,
        "write": [view.scratch],
        "devices": devices,
        "gpu": gpu,
        "parent": os.getpid(),
        "port": port,
        "outside": [*fixed, *package, *view.sites, view.submission],
        "home": _private(home),
        "workspace": _private(workspace) + _private(submission.parent, submission),
        "reference": [str(path) for path in hidden],
    }


def _secrets_inside(view: mounts.View) -> list[Path]:
    """judge-tui's own code under every path that it could be seen at."""
    return [*mounts.secrets(), *(Path(site, "judge_tui") for site in view.sites)]


def _private(folder: Path, *shown: Path) -> list[str]:
    """A folder, or entries of it, that nobody has a reason to show, to be tried by the probe."""
    if folder == Path(folder.anchor):
        return []
    shown = (*mounts.visible(), *shown)
    entries: list[str] = []
    with contextlib.suppress(OSError):
        entries = sorted(entry.path for entry in os.scandir(folder) if not entry.is_symlink())
        entries.insert(0, str(folder))
    found = (path for path in map(Path, entries) if not mounts.related(path, shown) and not _made(path))
    return [str(path) for path in islice(found, _MOST_PATHS)]


def _made(path: Path) -> bool:
    """Whether the sandbox makes a folder of its own there, or on the way there."""
    return any(path == own or path in own.parents for own in _OWN_FOLDERS)
