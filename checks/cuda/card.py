"""Running a driver on a card: built by nvcc and run in the jail, with the answers that the emulator gives.

Nothing here has run on a card so far: what it builds was compiled and linked, no more.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from judge_tui.checks.cuda import sanitizer
from judge_tui.checks.cuda.compilers import include_folders
from judge_tui.checks.cuda.diagnostics import diagnostics, worst
from judge_tui.checks.cuda.emulator import Answer, Case, Event, Failure, Program
from judge_tui.checks.cuda.emulator.program import INPUTS, JOB, OUTPUTS, packed
from judge_tui.checks.cuda.sanitizer import Sanitizer, Tool
from judge_tui.checks.cuda.standards import NVCC_DEFAULT
from judge_tui.checks.cuda.toolchains import Nvcc
from judge_tui.checks.errors import EngineError
from judge_tui.checks.sandbox import Limits
from judge_tui.checks.sandbox.programs import Ran, run_program

__all__ = ["CardProgram", "Watched", "build"]

_DRIVER, _MAIN = "judge_driver.cu", "judge_card.cu"
_MOST_PROGRAM = 128 << 20
_COMPILING = Limits(cpu_seconds=240, address_space=8 << 30, file_size=128 << 20)
#: CUDA reserves address space without bound; resident memory is watched instead.
_RUNNING = Limits(cpu_seconds=300, address_space=None, file_size=256 << 20)
_MOST_MEMORY = 8 << 30
_MOST_LOG = 1 << 20
#: So that what launches allocate and free is counted.
_COUNTED = (
    "cudaMalloc", "cudaMallocAsync", "cudaMallocManaged", "cudaMallocPitch", "cudaFree", "cudaFreeAsync"
)  # fmt: skip
#: What the driver on this machine is found by, and its numbers of cards hang on.
_PASSED = ("LD_LIBRARY_PATH", "CUDA_DEVICE_ORDER")
#: How the program ends that has no room for its own buffers, and what it says of that.
_NO_ROOM, _SAID = 4, "no memory on the card: "


@dataclass(frozen=True, slots=True)
class Watched:
    """What compute-sanitizer says of some launches.

    Attributes:
        events: What it found.
        trouble: Why it is no answer; empty where it came to its end.
    """

    events: tuple[Event, ...] = ()
    trouble: str = ""


class CardProgram(Program):
    """A program that launches on the card.

    Args:
        binary: The executable; untrusted.
        files: Names of the submission's files.
        device: What ``CUDA_VISIBLE_DEVICES`` calls the card; empty for the first.
    """

    signs = False

    def __init__(self, binary: bytes, files: Sequence[str] = (), device: str = "") -> None:
        super().__init__(binary, files)
        self._device = device

    def _ran(self, files: Mapping[str, bytes], wanted: Mapping[str, int], seconds: float) -> Ran:
        ran = run_program(
            ["./program"], seconds=seconds, files=files, wanted=wanted, limits=_RUNNING,
            memory_bytes=_MOST_MEMORY, environment=self._visible, gpu=True,
        )  # fmt: skip
        if ran.status == _NO_ROOM and _SAID in ran.output:
            said = ran.output.rpartition(_SAID)[2].partition("\n")[0]
            raise EngineError(f"{_SAID}{said}", hint="Look at what else runs on it: nvidia-smi.")
        return ran

    def run(self, cases: Sequence[Case], *, budget_s: float) -> list[Answer]:
        """As an emulated program; the device's time is its own, whatever else the machine does.

        Args:
            cases: What to run.
            budget_s: Seconds for all of them.

        Raises:
            EngineError: The jail cannot be started, a case is too large, or the card has no room for it.
        """
        answers = super().run(cases, budget_s=budget_s)
        return [replace(a, cpu_seconds=a.seconds) if a.status == "timed_out" else a for a in answers]

    @property
    def _visible(self) -> dict[str, str]:
        passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
        return passed | ({"CUDA_VISIBLE_DEVICES": self._device} if self._device else {})

    def watched(self, by: Sanitizer, tool: Tool, cases: Sequence[Case], *, seconds: float) -> Watched:
        """Run cases once more under compute-sanitizer, in one process.

        Args:
            by: The sanitizer.
            tool: What it is to look for.
            cases: Small ones: each access is watched, which takes ten to a hundred times as long.
            seconds: Wall time.

        Raises:
            EngineError: The jail cannot be started, or is none that it could run in.
        """
        job, inputs, outputs, _places = packed(cases, seconds, watched=True)
        ran = run_program(
            by.argv(tool, "./program"), seconds=seconds,
            files={"program": self.binary, JOB: job, INPUTS: inputs, OUTPUTS: outputs},
            wanted={sanitizer.LOG: _MOST_LOG}, shown=[by.root], observed=True, limits=_RUNNING,
            memory_bytes=_MOST_MEMORY, environment=self._visible, gpu=True,
        )  # fmt: skip
        log = ran.files.get(sanitizer.LOG, b"").decode("utf-8", "replace")
        events = tuple(sanitizer.reported(log, self.files))
        return Watched(events, ran.ended if ran.timed_out else sanitizer.trouble(log))


def build(
    nvcc: Nvcc,
    driver: str,
    files: Mapping[str, bytes],
    *,
    capability: str,
    device: str = "",
    standard: int = NVCC_DEFAULT,
    seconds: float = 180.0,
) -> CardProgram | Failure:
    """Build a driver and the submission that it includes for one card.

    Args:
        nvcc: The compiler.
        driver: As for the emulator.
        files: Relative path → content of the submission's files.
        capability: Of the card, such as ``90``.
        device: What ``CUDA_VISIBLE_DEVICES`` calls it.
        standard: The edition of C++.
        seconds: Wall time.
    """
    argv = [str(nvcc.path), f"-std=c++{standard}", "-O3", "-lineinfo", f"-arch=sm_{capability}"]
    # constants of std:: are called in device code by what builds with this flag, and mean the same without
    argv += ["--expt-relaxed-constexpr", "-DJUDGE_CARD", *include_folders(files)]
    argv += [word for name in _COUNTED for word in ("-Xlinker", f"--wrap={name}")]
    ran = run_program(
        [*argv, "-o", "program", _DRIVER, _MAIN],
        seconds=seconds,
        files={**files, _DRIVER: driver.encode(), _MAIN: Path(__file__).with_name("card.cu").read_bytes()},
        wanted={"program": _MOST_PROGRAM},
        shown=[nvcc.root],
        environment={"PATH": f"{nvcc.path.parent}:/usr/local/bin:/usr/bin:/bin"},
        processes=True,
        limits=_COMPILING,
    )
    if ran.ok and "program" in ran.files:
        return CardProgram(ran.files["program"], tuple(files), device)
    told = diagnostics(ran.output)
    first = worst(told)
    if ran.timed_out:
        return Failure("timed_out", f"compiling {ran.ended}", told, ran.output)
    return Failure("diagnostics", str(first or f"nvcc {ran.ended}"), told, ran.output)
