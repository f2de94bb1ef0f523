"""Runs of the engine for one comparison: started behind the screen, cancelled with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.errors import JudgeError
from judge_tui.checks.events import Event, Failed
from judge_tui.checks.request import Backend, Request, RequestedSubmission
from judge_tui.checks.submission import Submission
from judge_tui.judging.read_only import holds
from judge_tui.tui.engine.engine_link import ENGINE, EngineProcess, EngineRun

__all__ = ["CheckRunner", "EngineOptions"]


class EngineOptions:
    """How the engine is asked.

    Args:
        backend: Where arrays live.
        seed: Replays inputs, of "run all again" too.
        trust: Run without a sandbox.
        bindings: Tree of overlays.
        command: How the engine is started; ``None`` starts none.
        ahead: An engine that was started ahead of time, for the first run.
        watch: Follow changes of the submissions on disk.
        challenge: Tells what a task of the user's own is judged by, as it is now.
    """

    def __init__(
        self,
        backend: Backend = "auto",
        seed: int | None = None,
        *,
        trust: bool = False,
        bindings: Path | None = None,
        command: Sequence[str] | None = ENGINE,
        ahead: EngineProcess | None = None,
        watch: bool = False,
        challenge: Callable[[str], Challenge | None] = lambda task: None,
    ) -> None:
        self.backend, self.seed, self.trust, self.bindings = backend, seed, trust, bindings
        self.command, self.ahead, self.watch, self.challenge = command, ahead, watch, challenge


class CheckRunner:
    """Starts runs and hands their events on, in the event loop.

    Args:
        submissions: What is compared.
        options: How the engine is asked.
        tell: Called with each event.
        ended: Called when no run is under way any more.

    Attributes:
        seed: That of the verdicts in view, which a check that is run again replays; ``None`` without any.
    """

    seed: int | None = None

    def __init__(
        self,
        submissions: Sequence[Submission],
        options: EngineOptions,
        tell: Callable[[Event], None],
        ended: Callable[[], None],
    ) -> None:
        self._submissions, self._options, self._tell, self._ended = submissions, options, tell, ended
        self._runs: dict[EngineRun, asyncio.Task[None]] = {}

    @property
    def active(self) -> bool:
        """Whether a run is under way."""
        return bool(self._runs)

    def start(
        self,
        *,
        model: str | None = None,
        check: str | None = None,
        fresh: bool = False,
        repair: float = 0.0,
    ) -> None:
        """Run all checks, or those of one model, or one check.

        Args:
            model: Whose; those of all by default.
            check: Which; all by default.
            fresh: Run what is stored as well: all of it under a new seed, a part under that of the rest.
            repair: Seconds for which one edit that mends what failed is looked for afterwards.
        """
        options = self._options
        if options.command is None or holds():
            return
        task = self._submissions[0].task
        try:
            challenge = options.challenge(task)
        except JudgeError as error:
            self._tell(Failed(error.message, f"{error.file}:{error.line}" if error.line else str(error.file)))
            return
        part = model is not None or check is not None
        request = Request(
            task=task,
            submissions=tuple(
                RequestedSubmission.of(s) for s in self._submissions if model in (None, s.model)
            ),
            checks=(check,) if check else (),
            backend=options.backend,
            seed=self.seed if options.seed is None and (part or not fresh) else options.seed,
            fresh=fresh,
            trust=options.trust,
            challenge=challenge,
            repair=repair,
        )
        ahead, options.ahead = options.ahead, None
        run = EngineRun(request, options.command, ahead)
        self._runs[run] = asyncio.create_task(self._follow(run))

    async def _follow(self, run: EngineRun) -> None:
        try:
            async for event in run.events():
                if not run.cancelled:
                    self._tell(event)
        finally:
            self._runs.pop(run, None)
            if not self._runs:
                self._ended()

    def silence(self) -> None:
        """Hear what runs no more: what it finds from now on is of files that are others."""
        for run in self._runs:
            run.cancelled = True

    async def cancel(self) -> None:
        """Stop what runs; it is heard no more."""
        runs = list(self._runs.items())
        self.silence()
        await asyncio.gather(*(run.cancel() for run, _ in runs))
        await asyncio.gather(*(task for _, task in runs), return_exceptions=True)

    def kill(self) -> None:
        """End what runs, at once."""
        for run, task in list(self._runs.items()):
            run.cancelled = True
            run.kill()
            task.cancel()
