"""Running the requests of a ``check`` one after another and handing their events to a printer."""

from __future__ import annotations

import secrets
import signal
import threading
from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from types import FrameType
from typing import Any

import click
import msgspec

from judge_tui.checks.errors import EngineError, UsageError
from judge_tui.checks.events import Event, Failed, Finished
from judge_tui.checks.jobs.job import Executor
from judge_tui.checks.request import Request, RequestedSubmission
from judge_tui.checks.verdict import CHALLENGE, Evidence, Outcome, Verdict
from judge_tui.cli.beside import beside_each_other
from judge_tui.cli.results import Printer
from judge_tui.cli.selection import Selection
from judge_tui.cli.tally import Tally

__all__ = ["exit_code", "not_judged", "requests", "stream"]


def requests(selection: Selection, checks: Sequence[str], settings: dict[str, Any]) -> list[Request]:
    """One request per task.

    Args:
        selection: What to check.
        checks: Check ids; empty for all. A task that has none of them is left out.
        settings: Further fields of :class:`Request`.

    Raises:
        UsageError: No task has one of the checks.
    """
    wanted = _checks_by_task(selection, checks)
    if settings.get("fresh") and settings.get("seed") is None:
        # one seed for the whole run, so that one number replays it
        settings = {**settings, "seed": secrets.randbelow(2**31)}
    return [
        Request(
            task,
            tuple(map(RequestedSubmission.of, submissions)),
            wanted[task],
            challenge=selection.challenges.get(task),
            **settings,
        )
        for task, submissions in selection.tasks.items()
        if not checks or wanted[task]
    ]


def _checks_by_task(selection: Selection, checks: Sequence[str]) -> dict[str, tuple[str, ...]]:
    if not checks:
        return dict.fromkeys(selection.tasks, ())
    known = {task: tuple(selection.task(task).by_id) for task in selection.tasks}
    every = list(dict.fromkeys(check for ids in known.values() for check in ids))
    for check in checks:
        if check not in every:
            import difflib

            near = difflib.get_close_matches(check, every, n=3)
            hint = f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(every)}."
            raise UsageError(f"there is no check '{check}' for {', '.join(selection.tasks)}.", hint=hint)
    return {task: tuple(check for check in checks if check in ids) for task, ids in known.items()}


def _events(
    asked: Sequence[Request], cancel: threading.Event, tally: Tally, executor: Executor | None
) -> Generator[Event, None, None]:
    """The events of requests, one request after another; on a cluster they run beside each other."""
    if executor is not None:
        yield from beside_each_other(asked, cancel, executor, tally.heard)
        return
    from judge_tui.checks.runner import run

    for request in asked:
        with closing(run(request, cancel=cancel)) as events:
            for event in events:
                tally.heard(event)
                yield event
        if cancel.is_set():
            return


def _interruptible() -> threading.Event:
    """Set by Ctrl-C, which raises too; one that lands where Python ignores it still ends the run."""
    cancel = threading.Event()

    def stop(_: int, __: FrameType | None) -> None:
        cancel.set()
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, stop)
    return cancel


def stream(
    asked: Sequence[Request], printer: Printer, tally: Tally, executor: Executor | None = None
) -> list[Outcome]:
    """Run the requests and print what they give.

    Args:
        asked: The requests.
        printer: Shows what happens.
        tally: Counts what happens.
        executor: Who runs the checks; this machine where it is left out.

    Returns:
        The outcomes as they came, without what is large of their evidence: there may be a hundred thousand.

    Raises:
        EngineError: The engine could not go on.
    """
    outcomes: list[Outcome] = []
    cancel = _interruptible()
    try:
        with closing(_events(asked, cancel, tally, executor)) as events:
            for event in events:
                printer.show(event)
                if isinstance(event, Finished) and not event.again:
                    outcomes.append(_light(event.outcome))
                elif isinstance(event, Failed):
                    raise EngineError(event.message, hint=event.hint)
        if cancel.is_set():
            raise KeyboardInterrupt
    except BaseException as error:
        printer.pause()
        # a document is closed whole, with what there is, and says that it ended early
        printer.close(_ended(error))
        if isinstance(error, KeyboardInterrupt):
            click.echo("interrupted: what was found is kept.", err=True)
        raise
    finally:
        tally.close()
    printer.pause()
    printer.close()
    return outcomes


def _light(outcome: Outcome) -> Outcome:
    """What tells an exit status, and whether all was judged."""
    told = tuple(Evidence(item.quantity, ok=item.ok) for item in outcome.evidence)
    return msgspec.structs.replace(outcome, evidence=told)


def _ended(error: BaseException) -> str:
    """Why a run ended before its end, in a few words."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return "terminated" if isinstance(error, SystemExit) else "the engine broke"


def not_judged(selection: Selection, outcomes: Iterable[Outcome]) -> list[str]:
    """What was required of the submissions and judged by none of the checks that ran, a clause for each."""
    from judge_tui.checks.judged import unjudged

    by_submission: defaultdict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_submission[outcome.task, outcome.model].append(outcome)
    return [
        f"{task}/{model}: {name} was not judged"
        for (task, model), found in by_submission.items()
        for name in unjudged(selection.task(task), found)
    ]


def exit_code(outcomes: Iterable[Outcome], *, judged: bool = True) -> int:
    """What a run exits with.

    Returns:
        3 when the engine broke in some check, 2 when a challenge itself did, 1 when some verdict is fail, 4
        when not all was judged.
    """
    found = {(outcome.verdict, outcome.fault) for outcome in outcomes}
    if (Verdict.ERROR, "") in found:
        return 3
    if (Verdict.ERROR, CHALLENGE) in found:
        return 2
    if (Verdict.FAIL, "") in found:
        return 1
    return 0 if judged else 4
