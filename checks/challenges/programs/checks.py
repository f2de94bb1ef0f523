"""The checks that a folder ``cases/`` makes: one for each group, all its cases run."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import msgspec

from judge_tui.checks.bench import Bench
from judge_tui.checks.challenges.author import Authors
from judge_tui.checks.challenges.challenge import CASES, OPEN, Challenge, Limits
from judge_tui.checks.challenges.programs import telling
from judge_tui.checks.challenges.programs.building import BUILD_SECONDS, Built, NotBuilt, kept
from judge_tui.checks.challenges.programs.cases import Case, Group, groups_of
from judge_tui.checks.challenges.programs.choosing import chosen
from judge_tui.checks.challenges.programs.judges import Finding, Judge, judge_of
from judge_tui.checks.challenges.programs.recipes import PYTHON, recipes_of
from judge_tui.checks.challenges.programs.running import Ended, run
from judge_tui.checks.check import Check, Findings
from judge_tui.checks.cuda.emulator import Event
from judge_tui.checks.faults import Died, Skipped
from judge_tui.checks.generic import GENERIC
from judge_tui.checks.missing import lacking_framework
from judge_tui.checks.submission import Submission

__all__ = ["checks_of"]

_MOST_TIME_OUTS = 3
_MOST_EVENTS = 10


def checks_of(challenge: Challenge, authors: Authors, *, taken: Collection[str] = ()) -> tuple[Check, ...]:
    """The checks of a challenge of programs.

    Args:
        challenge: The challenge.
        authors: Its author's processes.
        taken: Ids that other checks of the challenge have.
    """
    ids = {check.id for check in GENERIC} | {*taken}
    made: list[Check] = []
    for group in groups_of(challenge.folder.files):
        name = f"{CASES}/{group.name}" if group.name in ids else group.name
        made.append(_check(challenge, authors, group, name))
        ids.add(name)
    return tuple(made)


def _check(challenge: Challenge, authors: Authors, group: Group, name: str) -> Check:
    def body(bench: Bench, found: Findings) -> str:
        return _judged(challenge, authors, group, bench, found)

    seconds = limits_of(challenge, group.name).seconds
    return Check(
        name,
        f"right in the cases of {group.name}" if group.name != CASES else "right in every case",
        "The program prints the right answer to every case of the group, within its limits.",
        body,
        budget=BUILD_SECONDS + 2 * seconds * max(1, len(group.cases)),
        host=True,
        apart=True,
    )


def limits_of(challenge: Challenge, group: str) -> Limits:
    """The limits of a group: its own, else those of the folder around it, else the challenge's.

    Args:
        challenge: The challenge.
        group: The group's name.
    """
    settings, name = challenge.settings, group
    while name:
        if name in settings.group_limits:
            return settings.group_limits[name]
        name = name.rpartition("/")[0]
    return settings.limits


@dataclass(slots=True)
class _Count:
    """How the cases of a group came out.

    Attributes:
        group: The group.
        rows: What is told of each case.
        wrong: What is told of each that is not right: name, reason.
        slowest: Seconds.
        largest: Bytes.
        time_outs: How many took too long.
        stopped: Whether it ended after those.
        absent: Of each that is not right, that it needs a framework which is not here, where it does.
        seen: Of CUDA, which of its rules the program broke.
    """

    group: Group
    rows: list[tuple[str, ...]] = field(default_factory=list)
    wrong: list[tuple[str, str]] = field(default_factory=list)
    slowest: float = 0.0
    largest: int = 0
    time_outs: int = 0
    stopped: bool = False
    absent: list[Skipped | None] = field(default_factory=list)
    seen: dict[tuple[str, str, int], Event] = field(default_factory=dict)


def _judged(challenge: Challenge, authors: Authors, group: Group, bench: Bench, found: Findings) -> str:
    judge = judge_of(challenge, authors, group)
    submission = bench.submission
    recipes = recipes_of(challenge)
    program = chosen(submission, recipes, challenge.settings.entry)
    bench.progress("building", 0.0)
    try:
        built = kept(submission.digest, program, _files(submission), mode=bench.mode)
    except NotBuilt as fault:
        found.claim(
            f"built as {program.recipe.title}", False, measured=fault.message, limit="a program",
            file=fault.file, line=fault.line, output=fault.output,
        )  # fmt: skip
        return fault.placed
    limits = limits_of(challenge, group.name)
    limits = msgspec.structs.replace(limits, seconds=limits.seconds * program.recipe.factor)
    count = _Count(group)
    for index, case in enumerate(group.cases):
        bench.progress(f"case {case.name}", index / len(group.cases))
        _held(case, built, limits, judge, bench, found, count)
        if count.time_outs >= _MOST_TIME_OUTS and index + 1 < len(group.cases):
            count.stopped = True
            break
    if count.absent and all(count.absent):
        raise next(filter(None, count.absent))
    _points(found, count, challenge)
    _rules(found, count)
    return _told(built, limits, judge, found, count)


def _files(submission: Submission) -> dict[str, bytes]:
    return {name: submission.read_bytes(name) for name in submission.files}


def _held(
    case: Case, built: Built, limits: Limits, judge: Judge, bench: Bench, found: Findings, count: _Count
) -> None:
    """Run one case, and hold what came out against the answer."""
    if bench.stopped:
        raise Died("was stopped")
    given = judge.given(case)
    ended = run(built, given, limits, mode=bench.mode, hashes=bench.hashes)
    ran = ended.ran
    count.slowest, count.largest = max(count.slowest, ran.own_seconds), max(count.largest, ran.peak_bytes)
    count.time_outs += ran.timed_out
    for event in ended.seen:
        count.seen.setdefault((event.kind, event.file, event.line), event)
    finding = Finding(ended.trouble) if ended.trouble else judge.held(case, given, ran.printed)
    count.rows.append(telling.row(case, ran, finding.reason))
    if finding.reason:
        count.wrong.append((case.name, finding.reason))
        count.absent.append(_absent(bench.submission, built, ended))
        if len(count.wrong) <= telling.MOST_DETAILS:
            found.claim(
                f"case {case.name}", False, measured=finding.reason, limit="the right answer",
                file=ended.file or built.program.main, line=ended.line, note=finding.note,
                table=telling.details(given, judge.expected(case), ran.printed, finding), output=ran.output,
            )  # fmt: skip


def _absent(submission: Submission, built: Built, ended: Ended) -> Skipped | None:
    """The framework that a Python program needs and that is not here, where that ended it."""
    if built.program.recipe.name != PYTHON or not ended.ran.status:
        return None
    kind, _, said = ended.ran.output.rstrip().rpartition("\n")[2].partition(": ")
    return lacking_framework(submission, kind, said, OPEN)


def _rules(found: Findings, count: _Count) -> None:
    """Which of CUDA's rules the program broke; evidence that decides nothing, since the output does."""
    for event in list(count.seen.values())[:_MOST_EVENTS]:
        found.note(
            f"the emulator saw: {event.kind}", event.count, file=event.file or None, line=event.line or None,
            note=event.text,
        )  # fmt: skip


def _seen(count: _Count) -> str:
    """The first of these, with its place."""
    (kind, file, line), *more = count.seen
    return f"{kind} at {file}:{line}" + (f" and {len(more)} more" if more else "")


def _told(built: Built, limits: Limits, judge: Judge, found: Findings, count: _Count) -> str:
    """Evidence of all cases, and the sentence about them."""
    total, right = len(count.group.cases), len(count.rows) - len(count.wrong)
    program = built.program
    found.claim(
        f"right answers, {judge.how}", not count.wrong, measured=right, limit=total, unit="cases",
        file=program.main if count.wrong else None, table=(telling.HEAD, *count.rows),
        note=f"{total - len(count.rows)} were not run: three took too long." if count.stopped else "",
    )  # fmt: skip
    seconds = f"{limits.seconds:.3g}"
    found.note(
        "slowest case", round(count.slowest, 3), limit=limits.seconds, unit="s",
        note=f"{program.recipe.title}{', emulated' if built.emulation else ''}: {program.main}"
        + (f", built in {built.seconds:.1f} s" if built.seconds else ""),
    )  # fmt: skip
    found.note(
        "most memory of a case", round(count.largest / 2**20, 1), limit=limits.memory >> 20, unit="MiB",
        note="Resident, of the largest process; about 10 MiB are the jail's.",
    )  # fmt: skip
    if not count.wrong:
        cases = "the case is" if total == 1 else f"all {total} cases are"
        seen = "; the emulator saw " + _seen(count) if count.seen else ""
        return f"{cases} right, in at most {count.slowest:.2g} s of {seconds} s{seen}"
    name, reason = count.wrong[0]
    more = f", and {len(count.wrong) - 1} more" if len(count.wrong) > 1 else ""
    rest = f"; ended after three that took more than {seconds} s" if count.stopped else ""
    return f"{right} of {total} cases are right; {name}: {reason}{more}{rest}"


def _points(found: Findings, count: _Count, challenge: Challenge) -> None:
    """The group's points, where the challenge gives any."""
    points = challenge.settings.group_points.get(count.group.name)
    if points is not None:
        found.note(
            "points",
            0.0 if count.wrong else points,
            limit=points,
            note="All of them, where every case is right.",
        )
