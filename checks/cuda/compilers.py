"""Compiling CUDA sources in the jail by nvcc; :mod:`.nvrtc` is for where there is none."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from judge_tui.checks.cuda.diagnostics import Diagnostic, diagnostics
from judge_tui.checks.cuda.reading import Reading
from judge_tui.checks.cuda.resources import Usage, usages
from judge_tui.checks.cuda.standards import NVCC_DEFAULT
from judge_tui.checks.cuda.toolchains import Nvcc
from judge_tui.checks.sandbox import Limits
from judge_tui.checks.sandbox.programs import Ran, run_program
from judge_tui.checks.sources import is_side_program

__all__ = [
    "ARCHES",
    "COMPILING",
    "INCLUDE",
    "UNIT",
    "Compiled",
    "by_nvcc",
    "compiled",
    "include_folders",
    "instance",
    "kernels_left",
    "units",
]

#: Compute capabilities that are compiled for: A100 and H100.
ARCHES = (80, 90)
#: What includes a submission's file, and adds to it.
UNIT = "judge_unit.cu"
_STEM = UNIT.removesuffix(".cu")
#: Bytes of a unit's assembly.
_MOST_PTX = 64 << 20
COMPILING = Limits(cpu_seconds=240, address_space=8 << 30, file_size=128 << 20)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)


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
        blind: Why a refusal says nothing of the source, as a clause: what it is about is not shown to the
            compiler, or lacks here. Empty where it does.
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
    blind: str = ""


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
        for _mark, name in INCLUDE.findall(data.decode("utf-8", "replace"))
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
    argv = [str(nvcc.path), f"-std=c++{standard}", "-c", "--keep"]
    argv += include_folders(files, unit)
    for arch in arches:
        argv += ["-gencode", f"arch=compute_{arch},code=sm_{arch}"]
    argv += ["-o", "judge_unit.o", UNIT]
    names = {f"{_STEM}.compute_{arch}.ptx": arch for arch in arches} | {f"{_STEM}.ptx": arches[0]}
    ran = run_program(
        argv,
        seconds=seconds,
        files={**files, UNIT: text.encode()},
        wanted=dict.fromkeys(names, _MOST_PTX),
        shown=[nvcc.root],
        environment={"PATH": _search_path(nvcc)},
        processes=True,
        limits=COMPILING,
    )
    left = time.monotonic() + seconds - ran.seconds
    reports = [
        _assembled(nvcc, data, names[name], left - time.monotonic()) for name, data in ran.files.items()
    ]
    return compiled(unit, nvcc.name, ran, "".join(reports))


def _search_path(nvcc: Nvcc) -> str:
    return f"{nvcc.path.parent}:/usr/local/bin:/usr/bin:/bin"


def _assembled(nvcc: Nvcc, ptx: bytes, arch: int, seconds: float) -> str:
    """What ptxas by itself reports of a kernel's assembly.

    Other tools print beside it what a source says, lines that look as ptxas's do: messages of pragmas, names
    of files with line breaks in them, ``.print`` of the assembler.
    """
    ptxas = shutil.which("ptxas", path=_search_path(nvcc))
    if ptxas is None or seconds <= 0:
        return ""
    return run_program(
        [ptxas, "-v", f"-arch=sm_{arch}", "-o", f"{_STEM}.cubin", f"{_STEM}.ptx"],
        seconds=seconds,
        files={f"{_STEM}.ptx": ptx},
        shown=[nvcc.root],
        limits=COMPILING,
    ).output


def _instantiated(instances: Sequence[str]) -> str:
    if not instances:
        return ""
    held = ", ".join(f"(const void*)&{name}" for name in instances)
    return f"__attribute__((used)) static const void* judge_instances[] = {{{held}}};\n"


def compiled(unit: str, compiler: str, ran: Ran, report: str) -> Compiled:
    """What came of a compiler.

    Args:
        unit: The file.
        compiler: Its name.
        ran: How it ended.
        report: What ptxas alone printed.
    """
    found = tuple(each for each in diagnostics(ran.output) if each.file != UNIT or each.severity == "error")
    return Compiled(
        unit, compiler, ran.ok, found, usages(report), ran.output, ran.ended, ran.timed_out, ran.seconds
    )


def instance(name: str, arguments: Sequence[object]) -> str:
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
