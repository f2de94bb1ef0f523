"""Running a submission: built once per bench, for the emulator or a GPU, and asked for answers."""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.solver import Search
from judge_tui.checks.calling.binding import parse_binding
from judge_tui.checks.cuda import card, emulator
from judge_tui.checks.cuda.definitions import named
from judge_tui.checks.cuda.device_code import device_only
from judge_tui.checks.cuda.emulator import Failure
from judge_tui.checks.cuda.toolchains import find_nvcc
from judge_tui.checks.errors import JudgeError, WorkspaceError
from judge_tui.checks.faults import Fault, Skipped, Unbound
from judge_tui.checks.submission import META, Submission
from judge_tui.checks.tasks.fuse.launcher import Launcher, launcher_of
from judge_tui.checks.tasks.fuse.launchers import alternatives, candidates, typed
from judge_tui.checks.tasks.fuse.subject import Subject, subject_of
from judge_tui.checks.tasks.fuse.trial import Builder, BuildFailed, Settled, settle

__all__ = ["find", "launches", "others"]

_BUILD_SECONDS = 180.0
_KNOWN: weakref.WeakKeyDictionary[Bench, Settled | Exception] = weakref.WeakKeyDictionary()
_OTHERS: weakref.WeakKeyDictionary[Bench, list[Settled]] = weakref.WeakKeyDictionary()
_LOCK = threading.Lock()
#: Share of a trial's rows that another kernel answers rightly where it is a whole of its own.
_WHOLE = 0.5
_MOST_OTHERS = 2


def launches(bench: Bench) -> Settled:
    """How the bench's submission is launched, found and built once.

    Raises:
        Unbound: Nothing that could be launched was found.
        Skipped: It cannot be run here, or does not compile.
    """
    known = _KNOWN.get(bench)
    if known is None:
        subject = subject_of(bench)
        try:
            where = bench.place.device.name if bench.backend == "gpu" else "the emulator"
            known = _settled(subject, bench.submission, _builder(bench, subject), bench.seed, where)
        except (Fault, JudgeError) as error:
            known = error
        with _LOCK:
            _KNOWN[bench] = known
    if isinstance(known, Exception):
        raise known
    return known


def others(bench: Bench) -> list[Settled]:
    """Further launchers that the submission offers whole, such as a second version in a file of its own.

    What cannot be built or confirmed is left out: it is not what was bound.

    Args:
        bench: Whose submission.
    """
    settled = launches(bench)
    if settled.launcher.origin != "found":
        return []
    known = _OTHERS.get(bench)
    if known is None:
        subject = subject_of(bench)
        build = _builder(bench, subject)
        known = []
        for each in alternatives(settled.launcher, candidates(subject.reading))[:_MOST_OTHERS]:
            with contextlib.suppress(BuildFailed, Unbound):
                other = settle(subject.reading, build, np.random.default_rng([bench.seed, 21]), each)
                # a kernel that takes the same may be a part of the whole
                known += [other] if not each.kernel or other.score >= _WHOLE else []
        with _LOCK:
            _OTHERS[bench] = known
    return known


def _builder(bench: Bench, subject: Subject) -> Builder:
    if bench.backend == "gpu":
        return _on_card(subject, bench)
    if bench.backend != "emulator":
        raise Skipped("needs a GPU, or the emulator: say --backend emulator")
    if why := emulator.available():
        raise Skipped(f"needs a GPU, or the emulator: {why}")
    return _emulated(subject, lambda: bench.left)


def _device_part(subject: Subject, failure: Failure, build: Builder, seed: int, where: str) -> Settled:
    """The kernels by themselves, where the host's part does not compile and they are right on something.

    Raises:
        Skipped: They are not to be had without it either.
    """
    if failure.kind != "diagnostics":
        raise _not_built(failure, where)
    whole = dict(subject.mended.files)
    try:
        subject.launched = {name: device_only(data) for name, data in whole.items()}
        settled = settle(subject.reading, build, np.random.default_rng([seed, 22]), kernels=True)
    except (BuildFailed, Unbound) as error:
        raise _not_built(failure, where) from error
    if not settled.score:
        raise _not_built(failure, where)
    bound = settled.launcher
    told = f"{bound.why}; the host's part is set aside, it does not compile: {failure.reason}"
    settled.launchers = (replace(bound, why=told), *settled.launchers[1:])
    return settled


def _on_card(subject: Subject, bench: Bench) -> Builder:
    nvcc = find_nvcc()
    if nvcc is None:
        raise Skipped(
            "launching on a card needs nvcc, for the host's part: "
            "install CUDA's toolkit, or say --backend emulator"
        )
    device = bench.place.device

    def made(text: str) -> emulator.Program | Failure:
        return card.build(
            nvcc, text, subject.launched, capability=device.capability or "80", device=device.id,
            standard=subject.standard,
            seconds=max(1.0, min(_BUILD_SECONDS, bench.left)),
        )  # fmt: skip

    return made


def _emulated(subject: Subject, left: Callable[[], float]) -> Builder:
    def build(text: str) -> emulator.Program | Failure:
        seconds = max(1.0, min(_BUILD_SECONDS, left()))
        return emulator.build(text, subject.launched, standard=subject.standard, seconds=seconds)

    return build


def _settled(
    subject: Subject, submission: Submission, build: Builder, seed: int, where: str = "the emulator"
) -> Settled:
    try:
        return settle(
            subject.reading, build, np.random.default_rng([seed, 20]), written_launcher(subject, submission)
        )
    except BuildFailed as failed:
        return _device_part(subject, failed.failure, build, seed, where)


def _not_built(failure: Failure, where: str = "the emulator") -> Skipped:
    first = next((each for each in failure.diagnostics if each.severity == "error"), None)
    told = {
        "diagnostics": f"it does not compile for {where}",
        "refused": f"{where} cannot run it",
        "timed_out": f"it takes too long to compile for {where}",
    }[failure.kind]
    return Skipped(
        f"{told}: {failure.reason}", file=first.file if first else None, line=first.line if first else None,
        output=failure.output[:4000],
    )  # fmt: skip


def written_launcher(subject: Subject, submission: Submission) -> Launcher | None:
    """The launcher that ``submission.toml`` states, if any.

    Raises:
        WorkspaceError: It is malformed, or names what is not there.
    """
    table: Mapping[str, object] | None = submission.meta.binding.get("fuse")
    if table is None:
        return None
    binding = parse_binding("fuse", table, file=str(submission.place / META))
    functions = [each for each in named(subject.reading.functions, binding.name) if each.file == binding.file]
    if not functions:
        raise WorkspaceError(
            f"[binding.fuse] names '{binding.target}', which is not in the submission",
            hint="Write file:name, the name with its namespaces.", file=submission.place / META,
        )  # fmt: skip
    filled = binding.launch.get("template")
    function = typed(functions[0], list(map(str, filled)) if isinstance(filled, list) else ())
    types = tuple(f"{each.type}{'*' * each.pointers}" for each in function.parameters)
    launcher = launcher_of(binding, kernel=function.kind == "kernel", line=function.line, types=types)
    return replace(launcher, name=function.name, structs=function.structs)


def find(search: Search) -> None:
    """Bind the contract's one role, as ``judge-tui bind`` asks for it; the search's worker runs nothing."""
    bound = search.bound
    subject = Subject(search.worker.submission)
    deadline = time.monotonic() + _BUILD_SECONDS
    notes = search.tried("fuse")
    bound.pop("fuse", None)
    if why := emulator.available():
        notes.append(f"nothing can be confirmed by a run here: {why}")
        return
    try:
        build = _emulated(subject, lambda: deadline - time.monotonic())
        settled = _settled(subject, search.worker.submission, build, 0)
    except Unbound as fault:
        notes += fault.candidates
        return
    except Skipped as fault:
        notes.append(fault.message)
        return
    notes += settled.tried
    launcher = settled.launcher
    told = f"{launcher.why}; {settled.score:.0%} of a trial's rows right"
    bound["fuse"] = replace(launcher.binding(), why=told)
