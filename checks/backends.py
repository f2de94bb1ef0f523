"""Where checks can run: the backends, the devices that each has here, and why one is not to be had.

Nothing here imports CuPy or makes a CUDA context in this process: the driver is asked by
ctypes, and whether CuPy works is found out by a process of its own, once.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from judge_tui.checks.errors import UsageError
from judge_tui.checks.own_process import python
from judge_tui.checks.typed import from_json

__all__ = ["BACKENDS", "NAMES", "Backend", "Device", "Name", "Place", "choose", "cpu_name", "find"]

Name = Literal["cpu", "gpu", "emulator"]

_PROBE_SECONDS = 120
#: Asked of CuPy in a process of its own: every device computes once, and says what it is.
_PROBE = """
import json, cupy
found = []
for index in range(cupy.cuda.runtime.getDeviceCount()):
    with cupy.cuda.Device(index) as device:
        assert int((cupy.arange(3) + 1).sum()) == 6
        facts = cupy.cuda.runtime.getDeviceProperties(index)
        found.append({
            "id": str(index), "name": facts["name"].decode(), "memory": device.mem_info[1],
            "capability": device.compute_capability,
        })
print(json.dumps({"cupy": cupy.__version__, "devices": found}))
"""


class Device(msgspec.Struct, frozen=True):
    """One device of a backend.

    Attributes:
        id: What ``CUDA_VISIBLE_DEVICES`` calls it; empty on the CPU.
        name: The maker's name of it.
        memory: Its memory in bytes; 0 where that is the machine's.
        capability: CUDA compute capability, such as ``90``.
    """

    id: str
    name: str
    memory: int = 0
    capability: str = ""


_PROCESSOR = Device("", "CPU")


@dataclass(frozen=True, slots=True)
class Backend:
    """A way to run checks, as it is on this machine.

    Attributes:
        name: ``cpu``, ``gpu`` or ``emulator``.
        devices: What it runs on; empty when it cannot run.
        reason: Why it cannot run; empty when it can.
        hint: What to do about that.
        arrays: The module that submissions get for NumPy.
    """

    name: Name
    devices: tuple[Device, ...] = ()
    reason: str = ""
    hint: str = ""
    arrays: str = "numpy"

    @property
    def works(self) -> bool:
        """Whether it can run here."""
        return bool(self.devices)

    @property
    def places(self) -> tuple[Place, ...]:
        """One place per device."""
        return tuple(Place(self.name, device, self.arrays) for device in self.devices)

    @property
    def line(self) -> str:
        """Its devices in one line, or why there is none."""
        names = [device.name for device in self.devices]
        told = [f"{names.count(name)} × {name}" if names.count(name) > 1 else name
                for name in dict.fromkeys(names)]  # fmt: skip
        return ", ".join(told) or self.reason


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worker computes.

    Attributes:
        backend: Name of the backend.
        device: The device of it.
        arrays: The module that the submission gets for NumPy.
    """

    backend: Name = "cpu"
    device: Device = _PROCESSOR
    arrays: str = "numpy"

    @property
    def gpu(self) -> bool:
        """Whether the worker is shown a GPU."""
        return self.backend == "gpu"


def choose(
    asked: str, allowed: Sequence[str], task: str, find: Callable[[str], Backend] | None = None
) -> Backend:
    """The backend of a request.

    Args:
        asked: ``auto`` or a name.
        allowed: Those that the task can use, the best first.
        task: Its id, for the message.
        find: Gives a backend as it is where checks run; this machine's when left out.

    Raises:
        UsageError: The task cannot use what is asked for, or it does not work here.
    """
    find = find or _found
    if asked == "auto":
        found = next((each for name in allowed if (each := find(name)).works), None)
        if found is not None:
            return found
        last = find(allowed[-1])
        raise UsageError(f"nothing here can run the checks of '{task}': {last.reason}", hint=last.hint)
    if asked not in allowed:
        raise UsageError(
            f"the checks of '{task}' do not run on backend '{asked}'",
            hint=f"Leave --backend out, or say --backend {' or '.join(allowed)}.",
        )
    found = find(asked)
    if not found.works:
        raise UsageError(f"backend '{asked}' does not work here: {found.reason}", hint=found.hint)
    return found


def find(name: str) -> Backend:
    """A backend as it is on this machine; looked for once per process.

    Args:
        name: A key of :data:`BACKENDS`.
    """
    return _found(name)


@functools.cache
def _found(name: str) -> Backend:
    return BACKENDS[name]()


def cpu_name() -> str:
    """The processor's name."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return "CPU"


def _cpu() -> Backend:
    return Backend("cpu", (Device("", cpu_name()),))


def _gpu() -> Backend:
    if trouble := driver_trouble():
        return _no_gpu(trouble, "See docs/gpu.md; the checks run on the CPU with --backend cpu.")
    if importlib.util.find_spec("cupy") is None:
        remedy = "pip install 'judge-tui[gpu]'; with CUDA 13: 'judge-tui[gpu-cuda13]'"
        return _no_gpu("CuPy is not installed", remedy)
    try:
        command = python("-c", _PROBE)
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False)
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
            return _no_gpu(f"CuPy does not work: {said[:300]}", "See docs/gpu.md.")
        told = from_json(done.stdout.strip().rpartition("\n")[2], _Probed)
    except (OSError, subprocess.TimeoutExpired, msgspec.MsgspecError) as error:
        return _no_gpu(f"CuPy does not work: {error}", "See docs/gpu.md.")
    if not told.devices:
        return _no_gpu("CuPy sees no device", "Look at CUDA_VISIBLE_DEVICES.")
    return Backend("gpu", _visible(told.devices), arrays="cupy")


class _Probed(msgspec.Struct):
    cupy: str
    devices: tuple[Device, ...]


def _no_gpu(reason: str, hint: str) -> Backend:
    return Backend("gpu", (), reason, hint, "cupy")


def _visible(devices: tuple[Device, ...]) -> tuple[Device, ...]:
    """Devices by the names that ``CUDA_VISIBLE_DEVICES`` gives them, where it is set."""
    named = [word.strip() for word in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if word.strip()]
    if len(named) != len(devices):
        return devices
    return tuple(msgspec.structs.replace(each, id=name) for each, name in zip(devices, named, strict=True))


def driver_trouble() -> str:
    """Why the NVIDIA driver cannot be used; empty when it can."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no NVIDIA driver is installed (libcuda.so.1 is not found)"
    count = ctypes.c_int()
    if status := cuda.cuInit(0):
        return f"the NVIDIA driver does not start (cuInit gives {status})"
    if status := cuda.cuDeviceGetCount(ctypes.byref(count)):
        return f"the NVIDIA driver counts no devices (cuDeviceGetCount gives {status})"
    return "" if count.value else "no NVIDIA device is visible"


def _emulator() -> Backend:
    # only what runs CUDA sources needs it, and a C++ compiler with it
    from judge_tui.checks.cuda.emulator.compiler import compiler

    if compiler() is None:
        return Backend("emulator", (), "no C++ compiler is installed", "Install g++ 11 or later.")
    return Backend("emulator", (Device("", cpu_name()),))


#: Name → how it is looked for. This is the one place that says what backends exist.
BACKENDS: dict[str, Callable[[], Backend]] = {"cpu": _cpu, "gpu": _gpu, "emulator": _emulator}
NAMES = tuple(BACKENDS)
