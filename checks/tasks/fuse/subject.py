"""What a submission for the CUDA task consists of, read and compiled once per bench."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property

from judge_tui.checks.bench import Bench
from judge_tui.checks.cuda.compilers import (
    ARCHES,
    Compiled,
    by_nvcc,
    instance,
    kernels_left,
    units,
)
from judge_tui.checks.cuda.definitions import named
from judge_tui.checks.cuda.device_code import device_only
from judge_tui.checks.cuda.nvrtc import by_nvrtc
from judge_tui.checks.cuda.reading import Reading, read
from judge_tui.checks.cuda.repairs import Repaired, cuda_sources, repaired
from judge_tui.checks.cuda.standards import stated
from judge_tui.checks.cuda.toolchains import find_nvcc, find_nvrtc
from judge_tui.checks.faults import Skipped
from judge_tui.checks.lines import from_feeds
from judge_tui.checks.sources import is_side_program, unjudgeable
from judge_tui.checks.submission import Submission

__all__ = ["Subject", "subject_of"]

_EACH = 300.0
_MOST_INSTANCES = 8
_KNOWN: weakref.WeakKeyDictionary[Bench, Subject] = weakref.WeakKeyDictionary()
_LOCK = threading.Lock()


class Subject:
    """One submission's CUDA sources.

    Args:
        submission: What is judged.
    """

    def __init__(self, submission: Submission) -> None:
        self.files: Mapping[str, bytes] = {name: submission.read_bytes(name) for name in submission.files}
        self.sources = cuda_sources(self.files)
        #: What is launched: the sources after repairs, or their device code alone.
        self.launched: Mapping[str, bytes] = self.mended.files
        self._compiled: dict[tuple[str, bool, bool, tuple[str, ...]], tuple[Compiled, ...]] = {}

    @cached_property
    def standard(self) -> int:
        """The edition of C++ that its build files and comments ask for."""
        return stated(self.files.values())

    @cached_property
    def mended(self) -> Repaired:
        """The sources after mechanical repairs."""
        return repaired(self.files)

    @cached_property
    def reading(self) -> Reading:
        """What the repaired sources define.

        Raises:
            Skipped: The grammar is not installed.
        """
        return read(self.mended.files)

    def compiled(
        self,
        bench: Bench,
        unit: str,
        *,
        mended: bool = False,
        device: bool = False,
        instances: tuple[str, ...] = (),
    ) -> tuple[Compiled, ...]:
        """What a compiler makes of one file: nvcc for all architectures at once, NVRTC one by one.

        Args:
            bench: Whose budget it takes.
            unit: The file.
            mended: After the repairs.
            device: Without the host's code besides.
            instances: Kernels with template arguments that are instantiated besides.

        Raises:
            Skipped: There is no compiler.
        """
        key = (unit, mended, device, instances)
        if key not in self._compiled:
            files = self.mended.files if mended else self.sources
            files = {name: device_only(data) for name, data in files.items()} if device else files
            self._compiled[key] = _compiled(bench, files, unit, instances, self.standard)
        return self._compiled[key]

    def compile_at_once(self, bench: Bench, units: Sequence[str]) -> None:
        """Compile files beside each other, so that :meth:`compiled` knows them.

        Args:
            bench: Whose budget it takes.
            units: The files, as they are.

        Raises:
            Skipped: There is no compiler.
        """
        with ThreadPoolExecutor(min(len(units), os.cpu_count() or 1)) as pool:
            for _made in pool.map(lambda unit: self.compiled(bench, unit), units):
                pass

    def uninstantiated(self, done: tuple[Compiled, ...]) -> list[str]:
        """Instances of kernel templates that no file of the submission compiles, as expressions.

        Args:
            done: What was compiled.
        """
        found: list[str] = []
        for name in kernels_left(self.reading, done):
            for kernel in named(self.reading.kernels, name):
                values: list[Sequence[object]] = [*self.reading.instances(kernel)]
                values += self.reading.launched_with(kernel)
                found += [instance(kernel.name, each) for each in values if each][:_MOST_INSTANCES]
        return list(dict.fromkeys(found))

    @property
    def units(self) -> tuple[str, ...]:
        """The files that are compiled, those of tests and benchmarks last."""
        return tuple(sorted(units(self.sources), key=is_side_program))

    @property
    def mended_units(self) -> tuple[str, ...]:
        """The same after the repairs, without tests and benchmarks."""
        return tuple(unit for unit in units(self.mended.files) if not is_side_program(unit))


def _compiled(
    bench: Bench, files: Mapping[str, bytes], unit: str, instances: tuple[str, ...], standard: int
) -> tuple[Compiled, ...]:
    seconds = max(1.0, min(_EACH, bench.left - 2))
    if nvcc := find_nvcc():
        made = by_nvcc(nvcc, files, unit, seconds=seconds, instances=instances, standard=standard)
        return (_by_our_lines(made, files),)
    nvrtc = find_nvrtc()
    if nvrtc is None:
        remedy = "install CUDA's toolkit, or judge-tui[gpu]"
        raise Skipped(f"no CUDA compiler is installed, neither nvcc nor NVRTC: {remedy}")
    every = (
        by_nvrtc(nvrtc, files, unit, seconds=seconds, arch=arch, instances=instances, standard=standard)
        for arch in ARCHES
    )
    return tuple(_by_our_lines(made, files) for made in every)


def _by_our_lines(made: Compiled, files: Mapping[str, bytes]) -> Compiled:
    """The same with lines as they are counted here: compilers know line feeds alone."""
    told = (replace(d, line=from_feeds(files.get(d.file, b""), d.line)) for d in made.diagnostics)
    return replace(made, diagnostics=tuple(told))


def subject_of(bench: Bench) -> Subject:
    """The subject of a bench, made once.

    Raises:
        Skipped: There is no CUDA source.
    """
    with _LOCK:
        known = _KNOWN.get(bench)
        if known is None:
            if nothing := unjudgeable(bench.submission):
                raise Skipped(nothing)
            known = _KNOWN[bench] = Subject(bench.submission)
    if not known.mended.files:
        names = ", ".join(bench.submission.files[:4])
        raise Skipped(f"no CUDA source (.cu, .cuh, or a fence with a kernel) among {names}")
    return known
