"""Addresses of instructions back to lines of the submission, by ``addr2line`` in the jail."""

from __future__ import annotations

import functools
import re
import shutil
from collections.abc import Collection, Sequence

from judge_tui.checks.cuda.emulator.compiler import HEADERS
from judge_tui.checks.errors import EngineError
from judge_tui.checks.sandbox.programs import run_program

__all__ = ["ADDRESS", "lines", "plain"]

#: Stands for the file of a place that is known by its address alone.
ADDRESS = "@"
_SECONDS = 30.0
_FRAME = re.compile(r"^(.*):(\d+|\?)(?: \(discriminator \d+\))?$")


@functools.cache
def _tool() -> str | None:
    return shutil.which("addr2line")


def plain(file: str) -> str:
    """A file's name as the submission has it; empty for what is not the submission's."""
    name = file.removeprefix("/tmp/").removeprefix("./")
    return "" if name.startswith(("/", HEADERS, "<")) else name


def lines(binary: bytes, addresses: Sequence[int], files: Collection[str]) -> dict[int, tuple[str, int]]:
    """Look addresses up; of inlined calls the innermost place in the submission counts.

    Args:
        binary: The program; untrusted, so it is read in the jail.
        addresses: Of instructions.
        files: Names of the submission's files.

    Returns:
        Address → file and line; ``("", 0)`` where none is known.
    """
    tool = _tool()
    found = dict.fromkeys(addresses, ("", 0))
    if tool is None or not addresses:
        return found
    arguments = [tool, "-a", "-i", "-e", "program", *(hex(address) for address in addresses)]
    try:
        ran = run_program(arguments, seconds=_SECONDS, files={"program": binary})
    except EngineError:
        return found
    current = 0
    for line in ran.output.splitlines():
        if line.startswith("0x"):
            current = int(line, 16) if re.fullmatch(r"0x[0-9a-fA-F]+", line) else 0
        elif current in found and not found[current][0] and (match := _FRAME.match(line)):
            name = _own(match[1], files)
            if name and match[2].isdigit():
                found[current] = (name, int(match[2]))
    return found


def _own(path: str, files: Collection[str]) -> str:
    name = plain(re.sub(r"^.*?/tmp/", "/tmp/", path) if "/tmp/" in path else path)
    if name in files:
        return name
    return next((file for file in files if path.endswith("/" + file)), "")
