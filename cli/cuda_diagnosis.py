"""What ``judge-tui doctor`` examines of CUDA: the driver, CuPy, the compilers, and where checks can run.

The same is asked as when checks run: what is found here is what they get.
"""

from __future__ import annotations

import tempfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from judge_tui.checks.errors import JudgeError
from judge_tui.cli.finding import Finding, first_line, last_line

__all__ = ["backends", "compiler", "cupy", "gpu", "nvcc", "nvrtc", "sanitizer"]

_EXTRAS = "pip install 'judge-tui[gpu]', with CUDA 13 'judge-tui[gpu-cuda13]'"
#: Packages that all bring the module ``cupy``.
_CUPYS = ("cupy-cuda12x", "cupy-cuda13x", "cupy")
#: Seconds until a worker on a GPU must have started.
_START = 60.0


def gpu(_: Path | None) -> Finding:
    """The driver, and the card behind it."""
    from judge_tui.checks.backends import driver_trouble

    line = first_line(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"])
    if trouble := driver_trouble():
        # a card without its driver should be mended; no card is no fault
        return Finding("off" if line else "note", f"{trouble}; checks run on the CPU", "See docs/gpu.md.")
    return Finding("ok", line or "the driver sees a device")


def cupy(_: Path | None) -> Finding:
    """CuPy: one of its packages, for it works with no second one."""
    from judge_tui.checks.backends import driver_trouble

    if find_spec("cupy") is None:
        return Finding("note", "not installed", f"With an NVIDIA GPU: {_EXTRAS}")
    found = [f"{package} {version}" for package in _CUPYS if (version := _version(package))]
    told = " and ".join(found) or "installed"
    if len(found) > 1:
        return Finding("off", f"{told} are both installed", "pip uninstall them all, and install one anew.")
    if driver_trouble():
        return Finding("note", f"{told}; nothing to compute on")
    return Finding("ok", told)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def backends(_: Path | None) -> Finding:
    """Where checks can run; the GPU is tried by computing on every device, and once more in the sandbox."""
    from judge_tui.checks.backends import NAMES, driver_trouble, find

    found = {name: find(name) for name in NAMES}
    told = "; ".join(f"{each.name}: {each.line}" for each in found.values())
    card = found["gpu"]
    if not card.works:
        return Finding("ok", told) if driver_trouble() else Finding("off", told, card.hint)
    if said := _confined():
        return Finding("off", f"{told}; in the sandbox the GPU does not start: {said}", "See docs/gpu.md.")
    return Finding("ok", told)


def _confined() -> str:
    """Why a worker with the GPU does not start; empty where it does."""
    from judge_tui.checks.backends import find
    from judge_tui.checks.calling.remote import Worker
    from judge_tui.checks.submission import Submission

    with tempfile.TemporaryDirectory() as folder:
        nothing = Submission("nobody", "nothing", Path(folder))
        try:
            Worker(nothing, start_budget=_START, place=find("gpu").places[0]).close()
        except JudgeError as error:
            return error.hint.strip().rpartition("\n")[2] or error.message
    return ""


def nvrtc(_: Path | None) -> Finding:
    """NVIDIA's run-time compiler, which takes nvcc's place where that is missing."""
    from judge_tui.checks.cuda.toolchains import find_nvrtc

    found = find_nvrtc()
    if found is None:
        return Finding("note", "not found", f"To compile CUDA without nvcc: {_EXTRAS}")
    told = f"{found.name} ({found.library})"
    if not found.headers:
        return Finding("note", f"{told}, without CUDA's headers", f"To compile what includes them: {_EXTRAS}")
    return Finding("ok", told)


def nvcc(_: Path | None) -> Finding:
    """NVIDIA's compiler, wherever the toolkit lies."""
    from judge_tui.checks.cuda.toolchains import find_nvcc

    found = find_nvcc()
    if found is None:
        return Finding("note", "not found; NVRTC does where it is installed")
    line = last_line([str(found.path), "--version"])
    if not line:
        return Finding("off", f"{found.path} does not say what it is", "Look at CUDA_HOME and CUDA_PATH.")
    return Finding("ok", f"{line} ({found.path})")


def sanitizer(_: Path | None) -> Finding:
    """What watches kernels on a card; it runs there alone, so that its absence says nothing elsewhere."""
    from judge_tui.checks.cuda.sanitizer import find_sanitizer

    found = find_sanitizer()
    if found is not None:
        return Finding("ok", str(found.path))
    return Finding("note", "not found", "It tells races of kernels on a GPU; the CUDA toolkit has it.")


def compiler(_: Path | None) -> Finding:
    """The compiler that the emulator takes, tried as the emulator uses it."""
    from judge_tui.checks.cuda import emulator

    if trouble := emulator.available():
        told, _colon, remedy = trouble.partition(": ")
        return Finding("note", told, f"{remedy[:1].upper()}{remedy[1:]}." if remedy else "")
    return Finding("ok", first_line(["g++", "--version"]))
