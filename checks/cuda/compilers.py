"""Compiling CUDA sources in the jail: nvcc, else NVRTC on the device code."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from judge_tui.checks.cuda.device_code import PRELUDE, STUBS, device_only
from judge_tui.checks.cuda.diagnostics import Diagnostic, diagnostics
from judge_tui.checks.cuda.reading import Reading
from judge_tui.checks.cuda.resources import Usage, usages
from judge_tui.checks.cuda.standards import NVCC_DEFAULT
from judge_tui.checks.cuda.toolchains import Nvcc, Nvrtc
from judge_tui.checks.sandbox import Limits
from judge_tui.checks.sandbox.programs import Ran, run_program
from judge_tui.checks.sources import is_side_program

__all__ = [
    "ARCHES",
    "Compiled",
    "by_nvcc",
    "by_nvrtc",
    "include_folders",
    "instance",
    "kernels_left",
    "units",
]

#: Compute capabilities that are compiled for: A100 and H100.
ARCHES = (80, 90)
_UNIT = "judge_unit.cu"
_LIMITS = Limits(cpu_seconds=240, address_space=8 << 30, file_size=128 << 20)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)
#: Headers of CUDA's own that are read from the toolkit where it is there.
_CUDA_HEADERS = re.compile(
    r"^(?:cuda_(?:fp16|bf16|fp8|pipeline|awbarrier)\w*\.h|mma\.h|cub/|cuda/|cooperative_groups)"
)


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a compiler made of one translation unit.

    Attributes:
        unit: The file.
        compiler: Its name.
        ok: Whether it was accepted.
        diagnostics: Errors and warnings; files are relative to the submission's folder.
        usages: Registers and memory per kernel.
        output: What it printed.
        ended: How it ended, as a clause.
        timed_out: Whether its time ran out.
        seconds: Wall time.
    """

    unit: str
    compiler: str
    ok: bool
    diagnostics: tuple[Diagnostic, ...]
    usages: tuple[Usage, ...]
    output: str
    ended: str
    timed_out: bool
    seconds: float


def units(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """The files that are compiled: every ``.cu``, and headers that none of them includes.

    A header that tests alone include is compiled by itself as well.

    Args:
        files: Relative name → content.
    """
    included = {
        PurePosixPath(name).name
        for file, data in files.items()
        if not is_side_program(file)
        for _mark, name in _INCLUDE.findall(data.decode("utf-8", "replace"))
    }
    suffixes = {name: PurePosixPath(name).suffix.lower() for name in files}
    alone = [name for name, suffix in suffixes.items()
             if suffix == ".cuh" and PurePosixPath(name).name not in included]  # fmt: skip
    return tuple(name for name, suffix in suffixes.items() if suffix == ".cu") + tuple(alone)


def include_folders(files: Iterable[str], unit: str = "") -> list[str]:
    """Options that let a source include headers without their folder, as a build file would.

    Args:
        files: Names of the submission's files.
        unit: The source.

    Returns:
        The submission's own folder, the source's, then the others, shallow ones first.
    """
    found = {name.rpartition("/")[0] for name in files if "/" in name}
    ordered = sorted(found, key=lambda folder: (folder != unit.rpartition("/")[0], folder.count("/"), folder))
    return ["-I.", *(f"-I{folder}" for folder in ordered)]


def by_nvcc(
    nvcc: Nvcc,
    files: Mapping[str, bytes],
    unit: str,
    *,
    seconds: float,
    arches: Sequence[int] = ARCHES,
    instances: Sequence[str] = (),
    standard: int = NVCC_DEFAULT,
) -> Compiled:
    """Compile one file with nvcc, host code included, for several architectures.

    Args:
        nvcc: The compiler.
        files: Relative name → content.
        unit: Which is compiled.
        seconds: Wall time.
        arches: Compute capabilities.
        instances: Kernels with template arguments, as expressions, that are instantiated besides.
        standard: The edition of C++.
    """
    text = f'#include "{unit}"\n' + _instantiated(instances)
    argv = [str(nvcc.path), f"-std=c++{standard}", "-c", "-Xptxas", "-v", *include_folders(files, unit)]
    for arch in arches:
        argv += ["-gencode", f"arch=compute_{arch},code=sm_{arch}"]
    argv += ["-o", "judge_unit.o", _UNIT]
    ran = run_program(
        argv,
        seconds=seconds,
        files={**files, _UNIT: text.encode()},
        shown=[nvcc.root],
        environment={"PATH": f"{nvcc.path.parent}:/usr/local/bin:/usr/bin:/bin"},
        processes=True,
        limits=_LIMITS,
    )
    return _compiled(unit, nvcc.name, ran)


def _instantiated(instances: Sequence[str]) -> str:
    if not instances:
        return ""
    held = ", ".join(f"(const void*)&{name}" for name in instances)
    return f"__attribute__((used)) static const void* judge_instances[] = {{{held}}};\n"


def by_nvrtc(
    nvrtc: Nvrtc,
    files: Mapping[str, bytes],
    unit: str,
    *,
    seconds: float,
    arch: int,
    instances: Sequence[str] = (),
    standard: int = NVCC_DEFAULT,
    output: str = "",
) -> Compiled:
    """Compile the device code of one file with NVRTC; host parts are set aside.

    Args:
        nvrtc: The compiler.
        files: Relative name → content.
        unit: Which is compiled.
        seconds: Wall time.
        arch: Compute capability.
        instances: Kernels with template arguments, as expressions, that are instantiated.
        standard: The edition of C++.
        output: Where in the jail the machine code goes; empty for nowhere.

    Raises:
        Skipped: The grammar that tells host from device code is not installed.
    """
    device = {name: device_only(data) for name, data in files.items()}
    stubs = _stubs(device, nvrtc)
    job = {
        "name": _UNIT,
        "options": [f"--gpu-architecture=sm_{arch}", f"--std=c++{standard}", "--ptxas-options=-v",
                    "--device-as-default-execution-space", *include_folders(files, unit),
                    *_include_paths(nvrtc)],
        "headers": {name: f"judge_stubs/{index}" for index, name in enumerate(stubs)},
        "names": list(instances),
        "output": output,
    }  # fmt: skip
    script = Path(__file__).with_name("nvrtc_job.py").read_bytes()
    stub_files = {f"judge_stubs/{index}": text.encode() for index, text in enumerate(stubs.values())}
    python = os.path.realpath(sys.executable)
    ran = run_program(
        [python, "-I", "-S", "judge_nvrtc.py", str(nvrtc.library.resolve()), "judge_job.json"],
        seconds=seconds,
        files={
            **device,
            **stub_files,
            _UNIT: f'{PRELUDE}#include "{unit}"\n'.encode(),
            "judge_nvrtc.py": script,
            "judge_job.json": json.dumps(job).encode(),
        },
        wanted={output: 64 << 20} if output else {},
        shown=[nvrtc.library.resolve().parent, *nvrtc.headers, Path(sys.base_prefix)],
        environment={"LD_LIBRARY_PATH": str(nvrtc.library.resolve().parent)},
        limits=_LIMITS,
    )
    return _compiled(unit, f"{nvrtc.name} (device code)", ran)


def _include_paths(nvrtc: Nvrtc) -> list[str]:
    folders = [*nvrtc.headers, *(folder / "cccl" for folder in nvrtc.headers)]
    return [f"-I{folder}" for folder in folders if folder.is_dir()]


def _stubs(device: Mapping[str, bytes], nvrtc: Nvrtc) -> dict[str, str]:
    """What stands for the system's headers; a file of its own that is missing stays missing."""
    wanted = {
        name
        for data in device.values()
        for mark, name in _INCLUDE.findall(data.decode("utf-8", "replace"))
        if mark == "<" or name.startswith("cuda")
    }
    own = {PurePosixPath(name).name for name in device}
    return {
        name: STUBS.get(name, "")
        for name in sorted(wanted)
        if PurePosixPath(name).name not in own and not (nvrtc.headers and _CUDA_HEADERS.match(name))
    }


def _compiled(unit: str, compiler: str, ran: Ran) -> Compiled:
    found = tuple(each for each in diagnostics(ran.output) if each.file != _UNIT or each.severity == "error")
    return Compiled(
        unit, compiler, ran.ok, found, usages(ran.output), ran.output, ran.ended, ran.timed_out, ran.seconds
    )


def instance(name: str, arguments: Sequence[int]) -> str:
    """A kernel with template arguments, as an expression.

    Args:
        name: With its namespaces.
        arguments: Values of its leading template parameters.
    """
    return f"{name}<{', '.join(map(str, arguments))}>"


def kernels_left(reading: Reading, compiled: Sequence[Compiled]) -> list[str]:
    """Kernels of which nothing was compiled: templates that nobody instantiates.

    Args:
        reading: Of the sources.
        compiled: What came of them.
    """
    seen = {usage.kernel.partition("<")[0] for each in compiled for usage in each.usages}
    short = {name.rpartition("::")[2] for name in seen}
    return [kernel.name for kernel in reading.kernels if kernel.short not in short]
