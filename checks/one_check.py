"""Running one check on a bench: what it found, or what stopped it, becomes an outcome.

A fault of the submission is a verdict; a fault of the engine is the verdict ``error`` and
never looks like one of the submission's.
"""

from __future__ import annotations

import time
import traceback

import numpy as np

from judge_tui.checks import portability
from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.calls import NotGiven
from judge_tui.checks.check import Check, Findings
from judge_tui.checks.errors import ChallengeFault, EngineError, JudgeError, WorkspaceError
from judge_tui.checks.faults import Fault, Raised, Skipped, Unbound
from judge_tui.checks.hosts import host
from judge_tui.checks.own_adapter import told_of
from judge_tui.checks.rivals import ONE_IS_ENOUGH, worse
from judge_tui.checks.sources import unjudgeable
from judge_tui.checks.task import Task
from judge_tui.checks.trimming import trimmed
from judge_tui.checks.verdict import BROKE, CHALLENGE, Outcome, Verdict

__all__ = ["TRACEBACK", "run_check", "run_placed"]

#: Evidence that the engine broke.
TRACEBACK = "engine traceback"


def run_placed(
    task: Task, check: Check, bench: Bench, beside: Bench | None, *, sandbox_level: str = ""
) -> Outcome:
    """Run one check where it belongs, and hold what a GPU says against the CPU.

    Args:
        task: The task.
        check: The check.
        bench: Where the request runs.
        beside: A bench on the CPU for the same submission, where ``bench`` is on a GPU.
        sandbox_level: The measured level.
    """
    if beside is None:
        return run_check(task, check, bench, sandbox_level=sandbox_level)
    if check.host:
        return run_check(task, check, beside, sandbox_level=sandbox_level)
    outcome = run_check(task, check, bench, sandbox_level=sandbox_level)
    if not portability.needs_the_cpu(outcome, bench):
        return outcome
    return portability.held_against_cpu(outcome, bench, run_check(task, check, beside))


def run_check(task: Task, check: Check, bench: Bench, *, sandbox_level: str = "") -> Outcome:
    """Run one check on a bench and say what it found; never raises for what a submission does.

    Where two complete solutions stand side by side both are judged, and the worse one counts.
    """
    outcome = _ran(task, check, bench, sandbox_level)
    if check.host or check.id in ONE_IS_ENOUGH or (rival := bench.rival) is None:
        return outcome
    return worse(outcome, bench, _ran(task, check, rival, sandbox_level), rival)


def _ran(task: Task, check: Check, bench: Bench, sandbox_level: str) -> Outcome:
    found, whose = Findings(), ""
    started = time.monotonic()
    bench.begin(check.id, check.budget)
    try:
        if bench.trouble is not None:
            raise bench.trouble
        if nothing := unjudgeable(bench.submission):
            raise Skipped(nothing)
        _require(bench, check)
        # A wrong answer may hold NaN or infinities; judging it is no occasion for warnings.
        with np.errstate(all="ignore"):
            summary = check.body(bench, found)
        if not check.host and (beyond := told_of(bench, found)):
            summary = f"{summary}; {beyond}" if found.wrong else f"{beyond}; {summary}"
        if (verdict := found.verdict) is None:
            raise EngineError(f"check '{check.id}' decided nothing")
        summary = _with_path(check, bench, found, summary, time.monotonic() - started)
    except Unbound as fault:
        verdict, summary = Verdict.UNBOUND, fault.message
        found.note("candidates", len(fault.candidates), unit="callables", output="\n".join(fault.candidates))
    except Skipped as fault:
        verdict, summary = Verdict.SKIP, fault.message
    except Fault as fault:
        verdict, summary = Verdict.FAIL, _told(fault)
        file, line = (fault.file, fault.line) if fault.file else _place(bench, check)
        found.claim(
            type(fault).__name__, False, measured=fault.message, file=file, line=line, output=fault.output
        )
    except ChallengeFault as error:
        verdict, summary, whose = Verdict.ERROR, _told_of_challenge(found, error), CHALLENGE
    except WorkspaceError as error:
        # What tells how the submission is called is malformed: nobody's fault but the binding's.
        verdict, summary = Verdict.UNBOUND, str(error)
        found.note("binding", error.message, file=error.file, line=error.line, note=error.hint)
    except NotGiven as error:
        verdict, summary = Verdict.UNBOUND, f"its binding does not fit: {error.args[0]}"
        found.note("binding", error.args[0])
    except JudgeError as error:
        verdict, summary = Verdict.ERROR, str(error)
    except Exception as error:
        verdict, summary = _broken(found, error)
    outcome = Outcome(
        bench.submission.model, task.id, check.id, verdict, summary, round(time.monotonic() - started, 3),
        tuple(found.evidence), bench.seed, check.version, bench.backend, bench.place.device.name,
        sandbox_level, whose, host(),
    )  # fmt: skip
    return trimmed(outcome)


def _with_path(check: Check, bench: Bench, found: Findings, summary: str, seconds: float) -> str:
    """A summary with the path that wrong answers alone take, where there is one."""
    if found.verdict is not Verdict.FAIL or not bench.answers.wrong:
        return summary
    # what passing checks do not need costs them nothing
    from judge_tui.checks.paths.localizing import told

    return "; ".join(filter(None, (summary, told(check, bench, found, seconds))))


def _require(bench: Bench, check: Check) -> None:
    """The roles of a check, all of them but those that it can do without.

    Raises:
        Unbound: One is open; the first one is told, whether or not it could be done without.
        Fault: One is open because of what the submission did.
    """
    open_: Unbound | None = None
    for role in check.roles:
        try:
            bench.binding(role)
        except Unbound as fault:
            open_ = open_ or fault
            if role not in check.spared:
                raise open_ from None


def _broken(found: Findings, error: Exception) -> tuple[Verdict, str]:
    """What a fault of the engine leaves of a check: an error, but where a breach was measured before it.

    A cause is looked for behind what was measured; where the looking breaks, that stands.
    """
    said = f"the engine broke: {type(error).__name__}: {error}"
    found.note(TRACEBACK, output=traceback.format_exc())
    breach = found.wrong
    if found.verdict is not Verdict.FAIL or breach is None:
        return Verdict.ERROR, said
    return Verdict.FAIL, f"{breach.quantity}: beyond what is right; {said} (as it looked for the cause)"


def _told_of_challenge(found: Findings, error: ChallengeFault) -> str:
    """What is off with the challenge itself; its files are none of the submission's."""
    place = f"{error.file}:{error.line}" if error.file and error.line else error.file or ""
    found.note("the challenge's own code", error.message, note=place, output=error.output)
    return f"the challenge itself: {error}"


def _place(bench: Bench, check: Check) -> tuple[str | None, int | None]:
    """Where the callable stands that a check is about, for a fault that has no line of its own."""
    try:
        binding = bench.binding(check.roles[0])
    except (Fault, JudgeError, IndexError):
        return None, None
    return binding.file, binding.line or None


def _told(fault: Fault) -> str:
    where = f" at {fault.place}" if isinstance(fault, Raised) and fault.place else ""
    return f"{BROKE}{fault.message}{where}"
