"""Compile device code with NVRTC; runs in the jail, on files in the current folder. Standard library only.

Command line: ``library job.json``. The job: ``name``, ``options``, ``headers`` (name → file), ``names`` (name
expressions), ``output``, ``reported`` (a pattern of ptxas's lines), ``report`` (where what it says goes).
Prints the compiler's log; the exit status tells whether it compiled.
"""

from __future__ import annotations

import ctypes
import json
import re
import sys
from pathlib import Path
from typing import Any

__all__ = ["main"]


def main() -> int:
    """Compile; 0 when it did, 1 when not, 3 when the library does not work."""
    with open(sys.argv[2], encoding="utf-8") as stream:
        job = json.load(stream)
    try:
        library = ctypes.CDLL(sys.argv[1])
    except OSError as error:
        print(f"nvrtc does not load: {error}")
        return 3
    status, program = _compiled(library, job, job["options"])
    if program is None:
        print(f"nvrtc creates no program: status {status}")
        return 3
    log = _text(library, program, "ProgramLog")
    print(log)
    Path(job["report"]).write_text(_report(library, job, log), encoding="utf-8")
    if status == 0:
        _keep(library, program, job["output"])
    return 1 if status else 0


def _compiled(
    library: ctypes.CDLL, job: dict[str, Any], options: list[str]
) -> tuple[int, ctypes.c_void_p | None]:
    """The status of a compilation, and the program, if there is any."""
    program = ctypes.c_void_p()
    texts = [Path(file).read_bytes() for file in job["headers"].values()]
    names = [name.encode() for name in job["headers"]]
    count = len(names)
    source = Path(job["name"]).read_bytes()
    status = library.nvrtcCreateProgram(
        ctypes.byref(program), source, job["name"].encode(), count,
        (ctypes.c_char_p * count)(*texts), (ctypes.c_char_p * count)(*names),
    )  # fmt: skip
    if status:
        return status, None
    for expression in job["names"]:
        library.nvrtcAddNameExpression(program, expression.encode())
    given = [option.encode() for option in options]
    return library.nvrtcCompileProgram(program, len(given), (ctypes.c_char_p * len(given))(*given)), program


def _report(library: ctypes.CDLL, job: dict[str, Any], log: str) -> str:
    """What ptxas said: all, or what comes after all that is said where ptxas has no part.

    Before it stand the front end's messages, of which a source writes some.
    """
    if all(re.fullmatch(job["reported"], line) for line in log.split("\n")):
        return log
    virtual = [option.replace("=sm_", "=compute_") for option in job["options"]]
    _status, program = _compiled(library, job, virtual)
    before = _text(library, program, "ProgramLog") if program is not None else log
    return log[len(before) :] if log.startswith(before) else ""


def _text(library: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> str:
    return _bytes(library, program, what).rstrip(b"\0").decode("utf-8", "replace")


def _bytes(library: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    if getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)):
        return b""
    buffer = ctypes.create_string_buffer(size.value)
    getattr(library, f"nvrtcGet{what}")(program, buffer)
    return buffer.raw


def _keep(library: ctypes.CDLL, program: ctypes.c_void_p, output: str) -> None:
    if output:
        Path(output).write_bytes(_bytes(library, program, "CUBIN"))


if __name__ == "__main__":
    sys.exit(main())
