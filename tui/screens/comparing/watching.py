"""What changes on disk: files are read and checked again, cards that another window saves are taken in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from textual.screen import Screen

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.submission import ADAPTER, META, Submission
from judge_tui.tui.engine.check_runner import EngineOptions
from judge_tui.tui.engine.file_watch import FileWatch, is_source
from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.screens.comparing.blind import Blind
from judge_tui.tui.screens.comparing.checks import Checks
from judge_tui.tui.screens.comparing.definitions import Definitions
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.checks_pane import ChecksPane
from judge_tui.tui.widgets.code_pane import CodePane

__all__ = ["Watching"]

#: Seconds in which a program that replaces a file by deleting it has written the new one.
_REPLACED_S = 1.0


class Watching:
    """Follows changes on disk.

    Args:
        screen: Where it is told.
        session: Whose cards they are.
        options: Whether changes are followed.
        panes: The code.
        pane: The checks' pane.
        checks: Runs checks again.
        definitions: Forgets those of files that have changed.
        blind: Shows the names where another window has revealed them.
        remark: Marks the lines anew.
        changed: Shows what the session holds now.

    Attributes:
        reruns: Whether checks run again by themselves when a submission has changed.
        watch: What watches the disk; ``None`` where nothing does.
    """

    def __init__(
        self,
        screen: Screen[None],
        session: Session,
        options: EngineOptions,
        panes: Panes,
        pane: ChecksPane,
        *,
        checks: Checks,
        definitions: Definitions,
        blind: Blind,
        remark: Callable[[], None],
        changed: Callable[[], None],
    ) -> None:
        self._screen, self._session, self._options, self._panes = screen, session, options, panes
        self._pane, self._checks, self._definitions, self._blind = pane, checks, definitions, blind
        self._remark, self._changed = remark, changed
        self.reruns = True
        self.watch: FileWatch | None = None
        #: Submissions whose cards were written and not looked at yet.
        self._written: frozenset[int] = frozenset()
        #: Submissions whose files have changed, and whose checks were not started again yet.
        self._outdated: frozenset[int] = frozenset()
        #: Whether the challenge has changed since checks were started.
        self._anew = False

    def begin(self) -> None:
        """Watch the submissions' folders and the scores, where that works."""
        # from above: a folder that is moved away, and another one in its place, are told there alone
        folders = sorted({s.path.parent for s in self._session.submissions if s.path.is_dir()})
        if self._options.watch and folders:
            workspace = self._session.workspace
            kept = (workspace.root / "scores", *workspace.binding_trees, *self._challenges())
            folders += [folder for folder in kept if folder.is_dir()]
            self.watch = FileWatch(folders, self.disk_changed, self._cannot_watch)

    def end(self) -> None:
        """Watch no more."""
        if self.watch is not None:
            self.watch.stop()

    @property
    def _rerun_key(self) -> str:
        return key_for(self._pane.rows, "rerun_all")

    def _cannot_watch(self, reason: str) -> None:
        self.watch = None
        why = self._session.hide(reason)
        self._screen.notify(
            f"Changes on disk are not followed ({why}); {self._rerun_key} runs the checks again.",
            markup=False,
            timeout=6,
        )

    def disk_changed(self, paths: frozenset[Path]) -> None:
        """Read files that have changed again, check their submissions again, and take in their cards."""
        cards = self._session.paths[: len(self._panes)]
        self._written |= {index for index, path in enumerate(cards) if path in paths}
        self.take_in_cards()
        if self._read_again(paths):
            self._checks.beside(self._check_again, group="changed", exclusive=True)

    def _challenges(self) -> tuple[Path, ...]:
        """The folder of the challenge that all are judged by, where that is the user's own."""
        folders = {s.judged_by.path for s in self._session.submissions if s.judged_by is not None}
        return tuple(folders)

    def _is_judged_anew(self, paths: frozenset[Path]) -> bool:
        """Take in what has changed of the challenge; whether anything has."""
        judged_by = [s.judged_by for s in self._session.submissions if s.judged_by is not None]
        if not any(path.is_relative_to(each.path) for each in judged_by for path in paths):
            return False
        for each in judged_by:
            with suppress(JudgeError):
                each.refresh()
        return True

    def _read_again(self, paths: frozenset[Path]) -> bool:
        """Show what has changed as it is, and forget what was found of it before; whether anything has."""
        anew = self._is_judged_anew(paths)
        self._anew = self._anew or anew
        changed = [pane for pane in self._panes if self._is_touched(pane, paths) or anew]
        if changed:
            # what runs has read a part of the old files
            self._checks.runner.silence()
        for pane in changed:
            self._outdated |= {pane.index}
            self._checks.forget(pane.submission.model)
        self._checks.stale = self._checks.stale or bool(changed)
        return bool(changed)

    def _is_touched(self, pane: CodePane, paths: frozenset[Path]) -> bool:
        """Take in what has changed of one submission; whether anything has."""
        submission = pane.submission
        names = {p.relative_to(submission.path).as_posix() for p in paths if is_source(submission.path, p)}
        whole = submission.path in paths
        names |= set(submission.files) if whole else set()
        if not names and not whole and not paths & _bindings_of(submission):
            return False
        try:
            submission.refresh()
        except JudgeError as error:
            self._screen.notify(self._session.hide(str(error)), severity="error", markup=False, timeout=8)
            return True
        pane.files_changed(names | (set(submission.files) if whole else set()))
        self._definitions.forget(pane)
        return True

    async def read_what_differs(self) -> None:
        """Read again what has changed on disk without a word, as files on network disks do."""
        known = [pane.submission for pane in self._panes]
        differs = await asyncio.to_thread(lambda: frozenset(one.path for one in known if _differs(one)))
        if self._read_again(differs):
            self._tell_changed("checks run again")
            await self._checks.runner.cancel()

    async def take_in_written(self, path: Path) -> None:
        """Take in a file that was written from here, and check anew what it is about."""
        if self._read_again(frozenset({path})):
            await self._check_again()

    def take_in_cards(self) -> None:
        """Show cards as another window has saved them; not while another screen is in front."""
        written, session = sorted(self._written), self._session
        if not written or self._screen.app.screen is not self._screen:
            return
        self._written, hidden = frozenset(), session.blindfold.active
        before = len(session.changes)
        taken = [letter_of(index) for index in written if session.take_in(index)]
        if any(map(session.is_gone, written)):
            self._screen.set_timer(_REPLACED_S, self._ask_for_what_is_gone)
        # what is joined with a change that was told needs no word of its own
        if len(session.changes) > before:
            who, undo = ", ".join(taken), key_for(self._screen, "undo")
            told = f"{who}: changed by another window, and taken in; {undo} undoes what you changed here."
            self._screen.notify(told, markup=False, timeout=6)
        if taken:
            self._changed()
        if hidden and not session.blindfold.active:
            # the other window has revealed them
            self._blind.show_names()

    def _ask_for_what_is_gone(self) -> None:
        """Have the judge asked about cards that somebody has deleted: what they said is here alone."""
        for index in filter(self._session.is_gone, range(len(self._panes))):
            # it finds what was there no more, which is a conflict
            self._session.save(index)

    async def _check_again(self) -> None:
        if not self._outdated:
            # whoever asked for checks meanwhile has them on the new files
            return
        await self._checks.runner.cancel()
        self._tell_changed("checks run again" if self.reruns else f"{self._rerun_key} runs the checks again")
        if self.reruns:
            # what has not changed is answered from its stored outcomes
            self._checks.runner.start()
        self._checks.stale = True
        self._remark()

    def _tell_changed(self, does: str) -> None:
        changed, self._outdated = sorted(self._outdated), frozenset()
        what = "The challenge" if self._anew else ", ".join(map(letter_of, changed))
        self._anew = False
        self._screen.notify(f"{what} changed on disk; {does}.", markup=False, timeout=4)

    def switch_reruns(self) -> None:
        """Run checks by themselves on a change, or only when told."""
        self.reruns = not self.reruns
        if self.watch is None:
            self._screen.notify("Changes on disk are not followed here.", markup=False, timeout=3)
            return
        told = "run again by themselves" if self.reruns else f"wait for {self._rerun_key}"
        self._screen.notify(f"When a submission changes on disk, its checks {told}.", markup=False, timeout=3)


def _bindings_of(submission: Submission) -> set[Path]:
    """Files beside a submission that tell how it is called."""
    return {folder / name for folder in submission.overlays for name in (META, ADAPTER)}


def _differs(submission: Submission) -> bool:
    """Whether the files on disk are others than those that were read; what is off with them, checks tell."""
    with suppress(JudgeError):
        return replace(submission).digest != submission.digest
    return False
