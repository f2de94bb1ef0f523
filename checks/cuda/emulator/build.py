"""Build a CUDA source for the emulator, in the jail: preprocess, rewrite, compile, link."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from judge_tui.checks.cuda.compilers import include_folders
from judge_tui.checks.cuda.diagnostics import Diagnostic, diagnostics, worst
from judge_tui.checks.cuda.emulator import compiler
from judge_tui.checks.cuda.emulator.guarding import NO_HOOKS, guarded
from judge_tui.checks.cuda.emulator.linking import closed
from judge_tui.checks.cuda.emulator.program import DRIVER, Program
from judge_tui.checks.cuda.emulator.rewriting import rewritten
from judge_tui.checks.cuda.emulator.tokens import Refusal
from judge_tui.checks.cuda.standards import NVCC_DEFAULT
from judge_tui.checks.sandbox.programs import Ran

__all__ = ["Failure", "build"]

_MOST_TEXT = 48 << 20
_MOST_ASSEMBLY = 96 << 20
_MOST_PROGRAM = 96 << 20
#: Where variables of device memory are stored (walls.ld); by its name one without bytes in the program.
_STORED = {"data": 'section("emu_device")', "zero": 'section(".bss.emu_device")'}
#: What GCC says in front of an error in a template or a constant that something else asked for.
_ASKED_FOR = re.compile(r"instantiation of|substitut|required (?:from|by)|expansion of", re.I)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no program.

    Attributes:
        kind: ``diagnostics`` (the compiler refused), ``refused`` (the emulator has no meaning for something),
            ``timed_out``.
        reason: One clause.
        diagnostics: Errors and warnings with their places in the submission.
        output: What the compiler printed.
        own: Whether it is about a file of the submission, whatever the driver does with it.
    """

    kind: Literal["diagnostics", "refused", "timed_out"]
    reason: str
    diagnostics: tuple[Diagnostic, ...] = ()
    output: str = ""
    own: bool = False


def build(
    driver: str,
    files: Mapping[str, bytes],
    *,
    defines: Mapping[str, str] | None = None,
    standard: int = NVCC_DEFAULT,
    seconds: float = 120.0,
) -> Program | Failure:
    """Build a driver and the submission that it includes.

    Args:
        driver: CUDA text that includes files of the submission and defines ``extern "C" int
            judge_launch(const float* logits, void* indices, void* probabilities, long long rows, long long V,
            int K)``.
        files: Relative path → content of the submission's files.
        defines: Macros.
        standard: The edition of C++.
        seconds: Wall time of all steps together.

    Raises:
        EngineError: There is no compiler, no jail, or the runtime does not compile.
    """
    deadline = time.monotonic() + seconds
    runtime = compiler.runtime()
    # nothing of a submission's lies among our headers, which count as the system's
    files = {name: data for name, data in files.items() if not name.startswith(compiler.HEADERS)}
    unwatched, stored, known = (f"{name}_{secrets.token_hex(8)}" for name in ("unwatched", "stored", "known"))
    headers = f"{compiler.HEADERS}-{known}"
    sources = {**files, DRIVER: driver.encode(), **compiler.headers(headers)}
    ours = {unwatched: NO_HOOKS, **{f"{stored}_{kind}": meant for kind, meant in _STORED.items()}}
    macros = [
        f"-DEMU_UNWATCHED={unwatched}",
        *(f"-D{name}={value}" for name, value in (defines or {}).items()),
    ]
    edition = f"-std=gnu++{standard}"
    where = include_folders(files)
    # the program's main is the emulator's; a submission's own test program keeps out of its way
    first = compiler.run_compiler(
        ["-E", "-x", "c++", edition, "-fpermissive", *macros, "-Dmain=judge_submission_main", *where,
         "-isystem", headers, "-include", "emulator/cuda.h", DRIVER, "-o", "unit.ii"],
        sources, {"unit.ii": _MOST_TEXT}, deadline - time.monotonic(),
    )  # fmt: skip
    if not first.ok:
        return _failed(first, files)
    try:
        read = first.files["unit.ii"].decode("utf-8", "surrogateescape")
        text, told = guarded(rewritten(read, headers, stored), ours)
    except Refusal as refusal:
        said = Diagnostic("error", refusal.message, refusal.file.removeprefix("./"), refusal.line)
        return Failure("refused", str(said), (said,), own=said.file in files)
    second = compiler.run_compiler(
        [*compiler.COMPILE, edition, "-x", "c++", "-fpreprocessed", "-S", "unit.ii",
         "-o", "unit.s"],
        {"unit.ii": text.encode("utf-8", "surrogateescape")}, {"unit.s": _MOST_ASSEMBLY},
        deadline - time.monotonic(),
    )  # fmt: skip
    if not second.ok:
        return _failed(second, files)
    assembly = closed(second.files["unit.s"].decode("utf-8", "surrogateescape"))
    third = compiler.run_compiler(
        ["-no-pie", "-Wl,-z,relro,-z,now", "-T", "walls.ld", "unit.s", "runtime.o", "-o", "program"],
        {"unit.s": assembly.encode("utf-8", "surrogateescape"), "runtime.o": runtime,
         "walls.ld": compiler.walls()},
        {"program": _MOST_PROGRAM}, deadline - time.monotonic(),
    )  # fmt: skip
    if not third.ok:
        return _failed(third, {})
    # a file may say that it is another
    own = (each if each.file in files else replace(each, file="", line=0) for each in told)
    return Program(third.files["program"], tuple(files), tuple(own))


def _failed(ran: Ran, files: Collection[str]) -> Failure:
    """Why a step gave nothing; ``files`` are those of the submission that it read before the driver."""
    told = diagnostics(ran.output)
    if ran.timed_out:
        return Failure("timed_out", f"compiling {ran.ended}", told, ran.output)
    first = worst(told)
    missing = re.search(r"undefined reference to [`']([^'`]+)'", ran.output)
    if missing and (first is None or first.severity != "error"):
        return Failure("diagnostics", f"'{missing[1]}' is used and not defined", told, ran.output)
    reason = str(first) if first else f"the compiler {ran.ended}"
    before, error, _after = ran.output.partition(" error: ")
    # An instantiation may be the driver's doing.
    own = bool(error) and first is not None and first.file in files and not _ASKED_FOR.search(before)
    return Failure("diagnostics", reason, told, ran.output, own)
