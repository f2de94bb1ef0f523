"""Registers, shared memory, stack and spills per kernel, from what ptxas reports (``-v``)."""

from __future__ import annotations

import re

import msgspec

__all__ = ["REPORT", "Usage", "plain_name", "usages"]

_INFO = r"ptxas info\s*: "
_ENTRY = re.compile(_INFO + r"Compiling entry function '(?P<name>[^']+)' for 'sm_(?P<arch>\d+)\w*'")
_FRAME = re.compile(
    r"\s*(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
    r"(?P<loads>\d+) bytes spill loads"
)
_USED = re.compile(_INFO + r"Used (?P<registers>\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")
_FUNCTION = re.compile(_INFO + r"Function properties for ")
#: A line of that report, or an empty one.
REPORT = (
    rf"{_INFO}(?:\d+ bytes gmem[\w ,\[\]]*|Compiling entry function '[\w$]+' for 'sm_\w+'"
    r"|Compile time = [\d.]+ ms|Function properties for [\w$]+|Used \d+ registers[\w ,\[\]]*)"
    r"|\s*\d+ bytes stack frame, \d+ bytes spill stores, \d+ bytes spill loads|\s*"
)
_LITERAL = re.compile(r"L(?P<type>[a-z])(?P<negative>n?)(?P<value>\d+)E")


class Usage(msgspec.Struct, frozen=True):
    """What one kernel, or one instantiation of it, takes.

    Attributes:
        kernel: Plain name with its integer template arguments, ``fused::kernel<10, 8>``.
        arch: Compute capability as a number, 80 or 90.
        registers: Per thread.
        shared: Static shared memory per block, in bytes.
        stack: Local memory per thread, in bytes.
        spill_stores: Bytes that registers spill to local memory.
        spill_loads: Bytes that are read back.
    """

    kernel: str
    arch: int
    registers: int = 0
    shared: int = 0
    stack: int = 0
    spill_stores: int = 0
    spill_loads: int = 0


def usages(output: str) -> tuple[Usage, ...]:
    """Read the report of ``ptxas -v``.

    Args:
        output: What ptxas alone printed.
    """
    found: list[Usage] = []
    entry: re.Match[str] | None = None
    frame: dict[str, int] = {}
    own = False
    for line in output.split("\n"):
        if match := _ENTRY.match(line):
            entry, frame = match, {}
        elif _FUNCTION.match(line):
            own = entry is not None and line.rstrip().endswith(entry["name"])
        elif own and (match := _FRAME.match(line)):
            frame = {name: int(value) for name, value in match.groupdict().items()}
        elif entry and (match := _USED.match(line)):
            shared = _SHARED.search(line)
            found.append(
                Usage(
                    plain_name(entry["name"]), int(entry["arch"]), int(match["registers"]),
                    int(shared[1]) if shared else 0, frame.get("stack", 0), frame.get("stores", 0),
                    frame.get("loads", 0),
                )
            )  # fmt: skip
            entry = None
    return tuple(sorted(set(found), key=lambda each: (each.kernel, each.arch)))


def plain_name(mangled: str) -> str:
    """The name and integer template arguments in an Itanium-mangled name; others are left out.

    Args:
        mangled: As in ``_ZN5fused6kernelILi10ELi8EEEvPKf``.
    """
    if not mangled.startswith("_Z"):
        return mangled
    rest = mangled[2:]
    nested = rest.startswith("N")
    rest, parts = rest[nested:], []
    while match := re.match(r"(?:St)?L?(\d+)", rest):
        length = int(match[1])
        part = rest[match.end() : match.end() + length]
        parts.append("(anonymous)" if part.startswith("_GLOBAL__N") else part)
        rest = rest[match.end() + length :]
        if not nested:
            break
    name = "::".join(parts) or mangled
    if not rest.startswith("I"):
        return name
    values = []
    rest = rest[1:]
    while match := _LITERAL.match(rest):
        negative = "-" if match["negative"] else ""
        truth = {"0": "false", "1": "true"}.get(match["value"]) if match["type"] == "b" else None
        values.append(truth or f"{negative}{match['value']}")
        rest = rest[match.end() :]
    return f"{name}<{', '.join(values)}>" if values else name
