"""Compiling the device code of CUDA sources by NVRTC in the jail, where there is no nvcc.

NVRTC is shown neither the host's code nor its library. What it refuses for that is no fault of a
source, and :attr:`.Compiled.blind` says so.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from judge_tui.checks.cuda.compilers import COMPILING, UNIT, Compiled, compiled, include_folders
from judge_tui.checks.cuda.device_code import set_aside
from judge_tui.checks.cuda.diagnostics import Diagnostic
from judge_tui.checks.cuda.host_library import prelude, stubs
from judge_tui.checks.cuda.resources import REPORT
from judge_tui.checks.cuda.standards import NVCC_DEFAULT
from judge_tui.checks.cuda.toolchains import Nvrtc
from judge_tui.checks.sandbox.programs import run_program

__all__ = ["by_nvrtc"]

#: Where the job puts what ptxas said.
_REPORT = "judge_report.txt"
_LINE = re.compile(rb"^(?:[ \t\v\f]|/\*.*?\*/)*(?:#|%:)(?:[ \t\v\f]|/\*.*?\*/)*(?:line\b|\d)", re.M | re.S)
_MISSING = re.compile(r'cannot open source file "(?P<name>[^"]+)"')
_WORD = re.compile(r"[A-Za-z_]\w*")
#: Says that a name is not known, or not as what it is used for.
_UNKNOWN = re.compile(r"is undefined|has no member|must be a class or namespace name|is not a t")


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
    device, hidden = {}, set[str]()
    for name, data in files.items():
        device[name], declared = set_aside(data)
        hidden |= declared
    standard_library = any("std::" in text for text in (*map(str, device.values()), *instances))
    headers = stubs(nvrtc, device, standard=standard_library)
    folders = (*nvrtc.headers, *nvrtc.libraries)
    job = {
        "name": UNIT,
        "options": [f"--gpu-architecture=sm_{arch}", f"--std=c++{standard}", "--ptxas-options=-v",
                    "--device-as-default-execution-space", *include_folders(files, unit),
                    *(f"-I{folder}" for folder in folders)],
        "headers": {name: f"judge_stubs/{index}" for index, name in enumerate(headers)},
        "names": list(instances),
        "output": output,
        "reported": REPORT,
        "report": _REPORT,
    }  # fmt: skip
    script = Path(__file__).with_name("nvrtc_job.py").read_bytes()
    stub_files = {f"judge_stubs/{index}": text.encode() for index, text in enumerate(headers.values())}
    python = os.path.realpath(sys.executable)
    library = nvrtc.library.resolve()
    ran = run_program(
        [python, "-I", "-S", "judge_nvrtc.py", str(library), "judge_job.json"],
        seconds=seconds,
        files={
            **device,
            **stub_files,
            UNIT: f'{prelude(nvrtc, standard=standard_library)}#include "{unit}"\n'.encode(),
            "judge_nvrtc.py": script,
            "judge_job.json": json.dumps(job).encode(),
        },
        wanted={_REPORT: 1 << 20} | ({output: 64 << 20} if output else {}),
        shown=[library.parent, *folders, Path(sys.base_prefix)],
        environment={"LD_LIBRARY_PATH": str(library.parent)},
        limits=COMPILING,
    )
    report = ran.files.get(_REPORT, b"").decode("utf-8", "replace")
    made = compiled(unit, f"{nvrtc.name} (device code)", ran, report)
    own = tuple(each for each in made.diagnostics if each.severity == "error" or each.file in files)
    made = replace(made, diagnostics=own)
    if made.ok or made.timed_out:
        return made
    first = next((each for each in made.diagnostics if each.severity == "error"), None)
    return replace(made, blind=_blind(first, files, hidden))


def _blind(first: Diagnostic | None, files: Mapping[str, bytes], hidden: Collection[str]) -> str:
    """Why the first error may be NVRTC's own doing; those after it may follow from it."""
    if first is None:
        return "NVRTC says nothing of the source"
    missing = _MISSING.search(first.text)
    if missing and missing["name"] not in _quoted(files):
        return f"<{missing['name']}> is not to be had here"
    if first.file not in files:
        place = PurePosixPath(first.file)
        # a header of the library's, unless a source says of its own lines that they are another file's
        theirs = not place.is_absolute() or "include" in place.parts
        strange = theirs and not any(map(_renames, files.values()))
        return f"NVRTC stops in {place.name}" if strange else ""
    if not _UNKNOWN.search(first.text):
        return ""
    line = files[first.file].decode("utf-8", "replace").split("\n")[first.line - 1 : first.line]
    if 'namespace "std"' in first.text or "std::" in "".join(line):
        return "NVRTC has no standard library of C++"
    words = set(_WORD.findall("".join(line)))
    told = next(iter(sorted(words & set(hidden))), "")
    return f"'{told}' is declared in host code, which NVRTC is not shown" if told else ""


def _renames(data: bytes) -> bool:
    """Whether a source has line directives."""
    return _LINE.search(re.sub(rb"\\\r?\n", b"", data)) is not None


def _quoted(files: Mapping[str, bytes]) -> set[str]:
    """Names in quotes that the sources include: files of their own."""
    found = (re.findall(rb'#[ \t]*include[ \t]*"([^"\n]+)"', data) for data in files.values())
    return {name.decode("utf-8", "replace") for names in found for name in names}
