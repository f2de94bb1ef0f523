"""The app: themes, the command palette, and the comparison as its first screen."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from judge_tui.checks.request import Backend
from judge_tui.checks.submission import Submission
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.autosave import SaveReport
from judge_tui.tui.check_runner import EngineOptions
from judge_tui.tui.engine_link import EngineProcess
from judge_tui.tui.escape_key import heed_pauses
from judge_tui.tui.palette import THEMES
from judge_tui.tui.screens.compare import CompareScreen
from judge_tui.tui.screens.compare_saving import SaveReported
from judge_tui.tui.session import Session
from judge_tui.tui.type_ahead import TypeAhead
from judge_tui.tui.widgets.key_hints import key_name, own_bindings
from textual.app import SystemCommand
from textual.screen import Screen

__all__ = ["JudgeApp", "run_compare"]


class JudgeApp(TypeAhead[int]):
    """Compares submissions of one task.

    Args:
        workspace: Where rubric and scores are.
        submissions: Two or three.
        judge: Who judges.
        options: How the engine is asked.
        clock: Formats moments; tests pin it.
    """

    TITLE = "judge-tui"
    ENABLE_COMMAND_PALETTE = True
    # not ctrl+b, which is tmux's own
    COMMAND_PALETTE_BINDING = "ctrl+p"

    def __init__(
        self,
        workspace: Workspace,
        submissions: Sequence[Submission],
        judge: str,
        options: EngineOptions | None = None,
        clock: Callable[[float], str] | None = None,
    ) -> None:
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = "judge-dark"
        # opened before the screen is: what is off in the workspace is told on a plain terminal
        for submission in submissions:
            _ = submission.title, submission.files
        self._session = Session(workspace, submissions, judge, self._tell_saved)
        self._options = options or EngineOptions()
        self._clock = clock
        self.compare: CompareScreen | None = None

    def get_default_screen(self) -> Screen[None]:
        self.compare = CompareScreen(self._session, self._options, self._clock)
        return self.compare

    def _tell_saved(self, report: SaveReport) -> None:
        if self.compare is not None:
            self.compare.post_message(SaveReported(report))

    def on_mount(self) -> None:
        self.theme_changed_signal.subscribe(self, lambda _: self._recolor())
        # the shell has written over everything
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(repaint=True, layout=True))

    def _recolor(self) -> None:
        if self.compare is not None:
            for pane in self.compare.panes:
                pane.recolor()
            self.compare.rubric_pane.update_lines()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        yield from super().get_system_commands(screen)
        if isinstance(screen, CompareScreen):
            nodes = [node for node in (screen.focused, screen) if node is not None]
            for node in nodes:
                actions = {binding.action: binding for binding in reversed(own_bindings(node))}
                for action, binding in reversed(actions.items()):
                    yield SystemCommand(
                        binding.description.capitalize(),
                        f"key: {key_name(binding.key)}",
                        partial(self.call_later, self.run_action, action, node),
                    )

    def close_session(self) -> None:
        """End checks and bring everything to disk."""
        if self.compare is not None:
            self.compare.runner.kill()
        self._session.close()


def run_compare(
    *,
    workspace: Workspace,
    submissions: list[Submission],
    judge: str,
    backend: Backend = "auto",
    seed: int | None = None,
    trust: bool = False,
    bindings: Path | None = None,
    ahead: EngineProcess | None = None,
) -> int:
    """Open the comparison and stay until the judge quits.

    Args:
        workspace: Where rubric and scores are.
        submissions: Two or three submissions of one task.
        judge: Name of the judge.
        backend: Where the checks' arrays live.
        seed: Replays the checks' inputs.
        trust: Run checks although the sandbox does not hold.
        bindings: Tree of binding overlays; the workspace's by default.
        ahead: An engine that was started ahead of time.

    Returns:
        Exit code: 0, or 1 when something could not be saved.
    """
    options = EngineOptions(backend, seed, trust=trust, bindings=bindings or workspace.bindings, ahead=ahead)
    heed_pauses()
    try:
        app = JudgeApp(workspace, submissions, judge, options)
        try:
            app.run()
        finally:
            app.close_session()
    finally:
        if ahead is not None:
            ahead.kill()
    unsaved = app.compare.session.unsaved() if app.compare is not None else ()
    if unsaved and app.compare is not None:
        lost = app.compare.session.lost()
        for index in unsaved:
            rest = "" if index in lost else " The next start brings it back."
            print(f"judge-tui: not saved: {app.compare.session.paths[index]}.{rest}", file=sys.stderr)
        return 1
    return app.return_code or 0
