"""What is told of a search for one edit: while it goes on, and in the outcomes that it was about."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterator, Mapping

import msgspec

from judge_tui.checks.events import Event, Finished, Progress, Started
from judge_tui.checks.lines import split_lines
from judge_tui.checks.repair.search import Repair, Tried, failing, repaired
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Evidence, Outcome

__all__ = ["MENDS", "NONE", "search"]

#: Quantities of the evidence: what was found, and that nothing was.
MENDS, NONE = "one edit that mends it", "edits that mend it"
#: Characters of a piece of code in a sentence, and lines around an edit.
_MOST_TOLD, _CONTEXT = 60, 2


def search(
    task: Task,
    submission: Submission,
    outcomes: Mapping[str, Outcome],
    *,
    seconds: float,
    stopped: Callable[[], bool],
) -> Iterator[Event]:
    """Look for one edit that mends a submission, and tell of it.

    Args:
        task: The task.
        submission: What failed, or did not, or is no Python: then nothing is told.
        outcomes: Check id → what was found, all under one seed.
        seconds: How long it may take.
        stopped: Whether the run was cancelled: nothing is told any more then.

    Yields:
        Started and Progress of the check that it is tried by; then the outcomes that say more now.
    """
    fails = failing(outcomes)
    if not fails or not any(file.endswith(".py") for file in submission.held.files):
        return
    began, last = time.monotonic(), Tried(0, 0, 0)
    yield Started(submission.model, task.id, fails[0])
    for step in repaired(task, submission, outcomes, seconds=seconds, stop=stopped):
        spent = min((time.monotonic() - began) / seconds, 1.0)
        if isinstance(step, Tried):
            last = step
            yield Progress(
                submission.model, task.id, fails[0], f"one edit that mends it: {_far(step)}", spent
            )
            continue
        for check in step.checks:
            yield Finished(_with(outcomes[check], step, submission), again=True)
        if fails[0] not in step.checks:
            yield Finished(outcomes[fails[0]], again=True)
        return
    if not stopped():
        yield Finished(_without(outcomes[fails[0]], last, seconds), again=True)


def _far(tried: Tried) -> str:
    return f"{tried.edits} of {tried.of} tried, {tried.judged} judged"


def _with(outcome: Outcome, repair: Repair, submission: Submission) -> Outcome:
    """An outcome that says which edit mends it, in its summary and at the end of its evidence."""
    edit, bare = repair.edit, _bare(outcome)
    after, before = _short(edit.after) or "nothing", _short(edit.before)
    told = Evidence(
        MENDS,
        1,
        file=repair.file,
        line=edit.line,
        note=f"With it no check fails that did not, and of those that did these pass: "
        f"{', '.join(repair.checks)}. Other edits may do as well.",
        output=_diff(submission, repair),
    )
    summary = f"{bare.summary}; {repair.file}:{edit.line}: passes with {after} in place of {before}"
    return msgspec.structs.replace(bare, summary=summary, evidence=(*bare.evidence, told))


def _without(outcome: Outcome, tried: Tried, seconds: float) -> Outcome:
    """An outcome that says that nothing was found."""
    note = (
        f"{_far(tried)} in {seconds:.0f} s."
        if tried.of
        else "It asks nothing that an edit could be tried by."
    )
    told = Evidence(NONE, 0, note=note)
    bare = _bare(outcome)
    return msgspec.structs.replace(bare, evidence=(*bare.evidence, told))


def _bare(outcome: Outcome) -> Outcome:
    """An outcome without what an earlier search has added to it."""
    found = next((one for one in outcome.evidence if one.quantity == MENDS), None)
    evidence = tuple(one for one in outcome.evidence if one.quantity not in (MENDS, NONE))
    summary = outcome.summary
    if found is not None and found.file:
        summary = summary.rpartition(f"; {found.file}:{found.line}: passes with ")[0] or summary
    return msgspec.structs.replace(outcome, summary=summary, evidence=evidence)


def _diff(submission: Submission, repair: Repair) -> str:
    """The edit as a unified diff."""
    before = submission.held.path.joinpath(repair.file).read_text("utf-8", "replace")
    lines = difflib.unified_diff(
        split_lines(before),
        split_lines(repair.edit.source),
        repair.file,
        repair.file,
        n=_CONTEXT,
        lineterm="",
    )
    return "\n".join(lines)


def _short(text: str) -> str:
    """A piece of code on one line, its end cut off where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _MOST_TOLD else f"{line[: _MOST_TOLD - 1]}…"
