"""Whether the sources compile, and what each kernel takes of the machine."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import msgspec

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.cuda.compilers import Compiled
from judge_tui.checks.cuda.constants import integer
from judge_tui.checks.cuda.definitions import Function
from judge_tui.checks.cuda.diagnostics import Diagnostic, worst
from judge_tui.checks.cuda.reading import Reading
from judge_tui.checks.cuda.repairs import toolkit_header
from judge_tui.checks.cuda.resources import Usage
from judge_tui.checks.faults import Skipped
from judge_tui.checks.sources import is_side_program
from judge_tui.checks.tasks.fuse.subject import Subject, subject_of
from judge_tui.checks.verdict import Verdict

__all__ = ["compiles", "resources"]

_NO_HEADER = re.compile(r"([\w./+-]+): No such file|could not open source file \"([^\"]+)\"")
_SHOWN = 12
_OUTPUT = 6000
#: 32-bit registers of a multiprocessor, from compute capability 5.0 on.
_REGISTERS = 65_536
#: Registers are handed out to whole warps by the 256.
_WARP, _UNIT = 32, 256


@check(
    "compiles",
    "compiles for sm_80 and sm_90",
    establishes="A CUDA compiler accepts every source as submitted, for sm_80 and sm_90.",
    version=4,
    budget=700,
    host=True,
    apart=True,
)
def compiles(bench: Bench, found: Findings) -> str:
    """Compile every source as it is; where that fails, again after mechanical repairs, which are named."""
    subject = subject_of(bench)
    if not subject.units:
        return _without_sources(bench, subject, found)
    refused: list[Compiled] = []
    blind: list[Compiled] = []
    subject.compile_at_once(bench, subject.units)
    for index, unit in enumerate(subject.units):
        bench.progress(f"compiling {unit}", index / len(subject.units))
        for made in _apart(subject.compiled(bench, unit)):
            # how long a compiler takes hangs on the machine, too
            lenient = is_side_program(unit) or made.timed_out or bool(_lacking(made))
            _unit(found, made, subject.files, otherwise=Verdict.WARN if lenient else Verdict.FAIL)
            refused += [] if made.ok or made.blind else [made]
            blind += [made] if made.blind else []
    names = ", ".join(dict.fromkeys(made.compiler for unit in subject.units
                                    for made in subject.compiled(bench, unit)))  # fmt: skip
    if blind and not refused:
        found.conclude(Verdict.SKIP)
        return f"{blind[0].compiler} cannot tell of {blind[0].unit}: {blind[0].blind}; install nvcc"
    if not refused:
        kernels = len({u.kernel for unit in subject.units
                       for made in subject.compiled(bench, unit) for u in made.usages})  # fmt: skip
        told = "1 kernel" if kernels == 1 else f"{kernels} kernels"
        return f"{_files(subject.units)} accepted by {names}, {told} for each of sm_80 and sm_90"
    refused.sort(key=lambda made: (bool(_lacking(made)), made.timed_out, is_side_program(made.unit)))
    _after_repairs(bench, subject, found, refused)
    first = worst(refused[0].diagnostics)
    told = str(first) if first and not refused[0].timed_out else refused[0].ended
    if header := _lacking(refused[0]):
        return f"{refused[0].unit} needs {header} of the CUDA toolkit, which is not installed here"
    if refused[0].timed_out:
        return f"{refused[0].unit}: {refused[0].compiler} {told}"
    return f"{refused[0].unit} is refused by {refused[0].compiler}: {told}"


def _lacking(made: Compiled) -> str:
    """The header of the toolkit for want of which a source is refused; that is the machine's fault."""
    errors = [each.text for each in made.diagnostics if each.severity == "error"]
    found = _NO_HEADER.search(errors[0]) if errors else None
    header = (found[1] or found[2]) if found else ""
    return header if toolkit_header(header) else ""


def _apart(compiled: Sequence[Compiled]) -> list[Compiled]:
    """One of each that tell the same: NVRTC compiles for every architecture by itself."""
    return list({(made.compiler, made.ok, made.diagnostics): made for made in compiled}.values())


def _files(units: Sequence[str]) -> str:
    return units[0] if len(units) == 1 else f"{len(units)} sources"


def _unit(found: Findings, made: Compiled, files: Collection[str], *, otherwise: Verdict) -> None:
    """One file's compilation as a claim, its diagnostics as evidence with their lines."""
    if made.blind:
        first = worst(made.diagnostics)
        found.note(
            f"{made.unit}, {made.compiler}", "cannot tell", note=f"{made.blind}: {first or made.ended}.",
            file=first.file if first and first.file in files else made.unit,
            line=(first.line if first and first.file in files else 0) or 1,
        )  # fmt: skip
        return
    errors = [each for each in made.diagnostics if each.severity == "error"]
    warnings = [each for each in made.diagnostics if each.severity == "warning"]
    first = errors[0] if errors else None
    measured = "accepted" if made.ok else str(first) if first and not made.timed_out else made.ended
    found.claim(
        f"{made.unit}, {made.compiler}",
        made.ok,
        measured=measured,
        limit="accepted",
        file=first.file if first and first.file else made.unit,
        line=first.line if first and first.line else 1,
        output="" if made.ok else made.output[:_OUTPUT],
        otherwise=otherwise,
    )
    for told in errors[1:_SHOWN]:
        found.note("error", told.text, file=told.file or made.unit, line=told.line or None)
    for told in _distinct(warnings)[:_SHOWN]:
        found.note("warning", told.text, file=told.file or made.unit, line=told.line or None)


def _distinct(warnings: Sequence[Diagnostic]) -> list[Diagnostic]:
    return list({(each.file, each.line): each for each in warnings}.values())


def _after_repairs(bench: Bench, subject: Subject, found: Findings, refused: Sequence[Compiled]) -> None:
    """Which repairs make the sources compile, as evidence."""
    units = [unit for unit in dict.fromkeys(made.unit for made in refused) if unit in subject.mended.files]
    repairs = subject.mended.repairs
    if not repairs or not units:
        return
    after = [made for unit in units for made in subject.compiled(bench, unit, mended=True)]
    ok = all(made.ok for made in after)
    note = "; ".join(str(each) for each in repairs)
    left = next((worst(made.diagnostics) for made in after if not made.ok), None)
    found.note(
        "after mechanical repairs", "accepted" if ok else f"still refused: {left or after[0].ended}",
        file=repairs[0].file, line=repairs[0].line, note=f"{note}.",
    )  # fmt: skip


def _without_sources(bench: Bench, subject: Subject, found: Findings) -> str:
    """A submission that is Markdown: what stands in its fences is compiled, and the form told."""
    repair = subject.mended.repairs[0]
    found.claim(
        "sources", False, measured="code in a Markdown fence", limit=".cu or .cuh files", file=repair.file,
        line=repair.line, otherwise=Verdict.WARN, note=f"{repair}.",
    )  # fmt: skip
    made = [each for unit in subject.mended_units for each in subject.compiled(bench, unit, mended=True)]
    for each in _apart(made):
        _unit(found, each, subject.mended.files, otherwise=Verdict.FAIL)
    told = "compiles" if all(each.ok for each in made) else "does not compile"
    return f"no source file: the code stands in a Markdown fence ({repair.file}:{repair.line}) and {told}"


@check(
    "resources",
    "registers, shared memory, spills",
    establishes="What every kernel takes per thread and block; none is too large to launch, none spills.",
    version=2,
    budget=700,
    host=True,
    apart=True,
)
def resources(bench: Bench, found: Findings) -> str:
    """Read ptxas's report for each instantiation; templates that nothing instantiates are instantiated."""
    subject = subject_of(bench)
    used = _usages(bench, subject)
    if not used:
        accepted = all(made.ok for unit in subject.units for made in subject.compiled(bench, unit))
        told = "only host code instantiates its kernels, which NVRTC is not shown" if accepted else ""
        raise Skipped(f"no kernel was compiled: {told or f'see the check {compiles.id!r}'}")
    rows: list[tuple[str, ...]] = [
        ("kernel", "sm", "registers", "shared B", "stack B", "spill stores B", "spill loads B")
    ]
    rows += [tuple(map(str, msgspec.structs.astuple(usage))) for usage in used]
    found.claim("kernels and instantiations, per architecture", True, measured=len(used), table=tuple(rows))
    for usage in used:
        _launchable(found, subject.reading, usage)
    spilling = max(used, key=lambda u: u.spill_stores + u.spill_loads)
    bytes_ = spilling.spill_stores + spilling.spill_loads
    place = _place(subject.reading, spilling)
    found.limit(
        f"spills of {spilling.kernel}, sm_{spilling.arch}", bytes_, 0, unit="B", otherwise=Verdict.WARN,
        file=place.file if place else None, line=place.line if place else None,
        note="Registers that do not fit go to local memory and come back." if bytes_ else "",
    )  # fmt: skip
    most = max(used, key=lambda u: u.registers)
    deepest = max(used, key=lambda u: u.stack)
    place = _place(subject.reading, deepest)
    if deepest.stack:
        found.note(
            f"local memory of {deepest.kernel}, sm_{deepest.arch}", deepest.stack, unit="B per thread",
            file=place.file if place else None, line=place.line if place else None,
            note="Arrays that are indexed by what is known at run time only live in local memory.",
        )  # fmt: skip
    bad = found.wrong
    if bad is not None:
        return f"{bad.quantity}: {bad.measured} {bad.unit}".rstrip()
    return (
        f"at most {most.registers} registers ({most.kernel}, sm_{most.arch}), "
        f"{max(u.shared for u in used)} B static shared memory, {deepest.stack} B stack, no spills"
    )


def _usages(bench: Bench, subject: Subject) -> list[Usage]:
    """Kernels of everything that is no test, after the repairs that ``compiles`` names.

    Where the host's code is refused, the device's is compiled by itself.
    """
    made: list[Compiled] = []
    alone: dict[str, bool] = {}
    units = subject.mended_units
    for index, unit in enumerate(units):
        bench.progress(f"compiling {unit}", index / len(units))
        as_is = subject.compiled(bench, unit) if unit in subject.units else ()
        fine = as_is and all(each.ok for each in as_is)
        taken = as_is if fine else subject.compiled(bench, unit, mended=True)
        alone[unit] = not all(each.ok or each.timed_out for each in taken)
        made += subject.compiled(bench, unit, mended=True, device=True) if alone[unit] else taken
    if instances := subject.uninstantiated(tuple(made)):
        for unit in units:
            more = subject.compiled(
                bench, unit, mended=True, device=alone[unit], instances=tuple(instances)
            )  # fmt: skip
            made += [each for each in more if each.ok]
    return sorted({u for each in made for u in each.usages}, key=lambda u: (u.kernel, u.arch))


def _place(reading: Reading, usage: Usage) -> Function | None:
    short = usage.kernel.partition("<")[0].rpartition("::")[2]
    return next((each for each in reading.kernels if each.short == short), None)


def _launchable(found: Findings, reading: Reading, usage: Usage) -> None:
    """Registers of a whole block against a multiprocessor's, where the size of a block can be read."""
    kernel = _place(reading, usage)
    threads = _threads(reading, kernel) if kernel else 0
    if kernel is None or not threads:
        return
    per_warp = -(-usage.registers * _WARP // _UNIT) * _UNIT
    needed = per_warp * -(-threads // _WARP)
    if needed > _REGISTERS:
        found.limit(
            f"registers of a block of {threads} threads, {usage.kernel}, sm_{usage.arch}", needed, _REGISTERS,
            file=kernel.file, line=kernel.line, note="The launch fails: too many resources requested.",
        )  # fmt: skip


def _threads(reading: Reading, kernel: Function) -> int:
    """Threads per block, of the launches that name a constant; 0 when none does."""
    sizes = [
        integer(each.configuration[1], reading.constants)
        for each in reading.launches
        if each.kernel.rpartition("::")[2] == kernel.short and len(each.configuration) > 1
    ]
    return max((size for size in sizes if size), default=0)
