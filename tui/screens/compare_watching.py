"""What changes on disk: files are read and checked again, cards that another window saves are taken in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from judge_tui.checks.errors import JudgeError
from judge_tui.tui.engine.check_runner import CheckRunner, EngineOptions
from judge_tui.tui.engine.file_watch import FileWatch, is_source
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.checks_pane import ChecksPane
from judge_tui.tui.widgets.code_pane import CodePane
from judge_tui.tui.widgets.key_hints import key_for
from textual.screen import Screen

__all__ = ["CompareWatching"]


class CompareWatching(Screen[None]):
    """The part of the comparison that follows changes on disk.

    Attributes:
        reruns: Whether checks run again by themselves when a submission has changed.
    """

    session: Session
    options: EngineOptions
    panes: list[CodePane]
    checks_pane: ChecksPane
    runner: CheckRunner
    reruns = True
    _watch: FileWatch | None = None
    _stale: bool
    #: Submissions whose cards were written and not looked at yet.
    _written: frozenset[int] = frozenset()

    if TYPE_CHECKING:
        # what the other parts of the screen bring
        def remark(self) -> None: ...
        def changed(self) -> None: ...
        def show_names(self) -> None: ...
        def forget_definitions(self, pane: CodePane) -> None: ...

    def begin_watching(self) -> None:
        """Watch the submissions' folders and the scores, where that works."""
        # from above: a folder that is moved away, and another one in its place, are told there alone
        folders = sorted({s.path.parent for s in self.session.submissions if s.path.is_dir()})
        if self.options.watch and folders:
            scores = self.session.workspace.root / "scores"
            folders += [scores] if scores.is_dir() else []
            self._watch = FileWatch(folders, self.disk_changed, self._cannot_watch)

    def on_unmount(self) -> None:
        if self._watch is not None:
            self._watch.stop()

    @property
    def _rerun_key(self) -> str:
        return key_for(self.checks_pane.rows, "rerun_all")

    def _cannot_watch(self, reason: str) -> None:
        self._watch = None
        why = self.session.hide(reason)
        self.notify(
            f"Changes on disk are not followed ({why}); {self._rerun_key} runs the checks again.",
            markup=False,
            timeout=6,
        )

    def disk_changed(self, paths: frozenset[Path]) -> None:
        """Read files that have changed again, check their submissions again, and take in their cards."""
        cards = self.session.paths[: len(self.panes)]
        self._written |= {index for index, path in enumerate(cards) if path in paths}
        self.take_in_cards()
        changed: list[CodePane] = []
        for pane in self.panes:
            folder = pane.submission.path
            names = {p.relative_to(folder).as_posix() for p in paths if is_source(folder, p)}
            names |= set(pane.submission.files) if folder in paths else set()
            if names or folder in paths:
                try:
                    pane.submission.refresh()
                except JudgeError as error:
                    self.notify(self.session.hide(str(error)), severity="error", markup=False, timeout=8)
                    continue
                names |= set(pane.submission.files) if folder in paths else set()
                changed.append(pane)
                pane.files_changed(names)
                self.forget_definitions(pane)
        if changed:
            self.run_worker(self._check_again(changed), group="changed", exclusive=True)

    def take_in_cards(self) -> None:
        """Show cards as another window has saved them; not while another screen is in front."""
        written, session = sorted(self._written), self.session
        if not written or self.app.screen is not self:
            return
        self._written, hidden = frozenset(), session.blindfold.active
        before = len(session.changes)
        taken = [letter_of(index) for index in written if session.take_in(index)]
        # what is joined with a change that was told needs no word of its own
        if len(session.changes) > before:
            who, undo = ", ".join(taken), key_for(self, "undo")
            told = f"{who}: changed by another window, and taken in; {undo} takes that back."
            self.notify(told, markup=False, timeout=6)
        if taken:
            self.changed()
        if hidden and not session.blindfold.active:
            # the other window has revealed them
            self.show_names()

    async def _check_again(self, changed: list[CodePane]) -> None:
        # what runs has read a part of the old files
        await self.runner.cancel()
        for pane in self.panes:
            if pane in changed:
                self.session.forget(pane.submission.model)
                self.checks_pane.forget(pane.submission.model)
        who = ", ".join(letter_of(pane.index) for pane in changed)
        does = "checks run again" if self.reruns else f"{self._rerun_key} runs the checks again"
        self.notify(f"{who} changed on disk; {does}.", markup=False, timeout=4)
        if self.reruns:
            # what has not changed is answered from its stored outcomes
            self.runner.start()
        self._stale = True
        self.remark()

    def switch_reruns(self) -> None:
        """Run checks by themselves on a change, or only when told."""
        self.reruns = not self.reruns
        if self._watch is None:
            self.notify("Changes on disk are not followed here.", markup=False, timeout=3)
            return
        told = "run again by themselves" if self.reruns else f"wait for {self._rerun_key}"
        self.notify(f"When a submission changes on disk, its checks {told}.", markup=False, timeout=3)
