"""Requests that run beside each other, as on a cluster: their events are told one request after another."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Sequence

from judge_tui.checks.events import Event
from judge_tui.checks.jobs.job import Executor
from judge_tui.checks.request import Request

__all__ = ["beside_each_other"]

#: Seconds that a run which was cancelled has to let go of its jobs.
_LAST_S = 5.0

_Queue = queue.SimpleQueue[Event | BaseException | None]


def beside_each_other(
    asked: Sequence[Request],
    cancel: threading.Event,
    executor: Executor,
    heard: Callable[[Event], None],
) -> Generator[Event, None, None]:
    """The events of requests in the order of the requests, all of which run at once.

    Args:
        asked: The requests.
        cancel: Set where nobody wants them any more.
        executor: Who runs their checks.
        heard: Told of every event as it happens, by the threads of the requests.
    """
    queues: list[_Queue] = [queue.SimpleQueue() for _ in asked]
    threads = [
        threading.Thread(target=_fill, args=(each, request, cancel, executor, heard), daemon=True)
        for each, request in zip(queues, asked, strict=True)
    ]
    for thread in threads:
        thread.start()
    done = False
    try:
        for each in queues:
            while (event := each.get()) is not None:
                if isinstance(event, BaseException):
                    raise event
                yield event
        done = True
    finally:
        if not done:
            cancel.set()
        for thread in threads:
            thread.join(_LAST_S)


def _fill(
    events: _Queue,
    request: Request,
    cancel: threading.Event,
    executor: Executor,
    heard: Callable[[Event], None],
) -> None:
    from judge_tui.checks.runner import run

    try:
        for event in run(request, cancel=cancel, executor=executor):
            heard(event)
            events.put(event)
    except BaseException as error:
        events.put(error)
    finally:
        events.put(None)
