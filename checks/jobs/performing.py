"""Doing a job: the one way in which checks of a submission run, on whichever machine, whoever asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

from judge_tui.checks.backends import Place, find
from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Check
from judge_tui.checks.events import Event, Finished, Progress, Started
from judge_tui.checks.one_check import run_placed
from judge_tui.checks.sandbox import Mode
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task

__all__ = ["Performance", "beside"]


def beside(task: Task, submission: Submission, seed: int, mode: Mode, place: Place) -> Bench | None:
    """A bench on the CPU, beside one on a GPU, where the task runs on both."""
    if not place.gpu or "cpu" not in task.backends:
        return None
    return Bench(submission, task.contract, seed=seed, mode=mode, place=find("cpu").places[0])


class Performance:
    """Checks of one submission that are under way in this thread.

    Args:
        task: Its task.
        checks: Which, in their order.
        submission: What is judged; a snapshot of it is taken here, where it is none yet.
        seed: Replays the inputs.
        place: Where they compute.
        level: Measured level of the sandbox.
        progress: Told of each step as it happens.
        mode: How workers are confined.

    Attributes:
        submission: The snapshot that is judged.
    """

    def __init__(
        self,
        task: Task,
        checks: Sequence[Check],
        submission: Submission,
        *,
        seed: int,
        place: Place,
        level: str,
        progress: Callable[[Event], None],
        mode: Mode = "auto",
    ) -> None:
        self._task, self._checks, self._level, self._place = task, checks, level, place
        self._stopped = threading.Event()
        self._beside = beside(task, submission, seed, mode, place)

        def tell(note: str, fraction: float | None) -> None:
            progress(Progress(submission.model, task.id, self._bench.check, note, fraction))

        self._bench = Bench(
            submission, task.contract, seed=seed, mode=mode, progress=tell, place=place, binds=self._beside
        )
        self.submission = self._bench.submission

    @property
    def _benches(self) -> tuple[Bench, ...]:
        return (self._bench,) if self._beside is None else (self._bench, self._beside)

    def events(self) -> Iterator[Event]:
        """What happens, one check after another; ends early, and without a word, where it is stopped."""
        try:
            for check in self._checks:
                if self._stopped.is_set():
                    return
                yield Started(self.submission.model, self._task.id, check.id)
                outcome = run_placed(self._task, check, self._bench, self._beside, sandbox_level=self._level)
                # what was killed on the way has found nothing
                if not self._stopped.is_set():
                    yield Finished(outcome)
        finally:
            for bench in self._benches:
                bench.close()

    def stop(self) -> None:
        """End it; for another thread than the one that does it."""
        self._stopped.set()
        for bench in self._benches:
            bench.stop()
