"""The matchup of a comparison while it is decided: its history, its file, and what was proposed for it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress

from msgspec.structs import replace

from judge_tui.checks.errors import JudgeError, UsageError
from judge_tui.judging.matchup import TIE, Criterion, Matchup, Matchups
from judge_tui.judging.naming import judge_name, recordable
from judge_tui.judging.proposals import Proposal
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.desk.autosave import SaveReport
from judge_tui.tui.desk.document_desk import DocumentDesk, Kind
from judge_tui.tui.desk.keypad import Keypad
from judge_tui.tui.desk.matchup_conflicts import MatchupConflicts, Who, merging, with_what_is_older
from judge_tui.tui.desk.matchup_document import as_it_lies, matchup_document, name_of
from judge_tui.tui.desk.step_words import WRITTEN, described_matchup

__all__ = ["KEY", "MARGIN", "WINNER", "MatchupDesk"]

#: The lines that every matchup has.
WINNER, MARGIN, KEY = "winner", "margin", "key"
_NOTHING = Proposal(None, None, "", ())


def _named(edge: str | None) -> str:
    return edge or "–"


class MatchupDesk(MatchupConflicts):
    """One matchup of one judge; every change is on disk within a moment, and can be undone.

    Args:
        workspace: Where the file is.
        task: Task id.
        models: Folder names of two or three models.
        judge: Who judges.
        report: Told about saves, in the saving thread.
        digests: Says which files are compared: model → digest.
        begun: Called before anything is saved.

    Attributes:
        path: The file, which holds the judge's other matchups on the task as well.
        proposal: What scores and measurements say.
        published: What the judge has published elsewhere on these models, which stays as it is.
        restored: Whether unsaved work of earlier runs was taken up.
        earlier_runs: Of how many runs that is.
        behind: Whether the matchup on disk has been changed since: saving is a conflict to settle.
        damaged: Files of unsaved work that cannot be read and were set aside.
        newer: Files of unsaved work that a newer judge-tui has kept.
        closed: Why nothing can be changed, one sentence, where the file is of a newer schema.
        refused: Told why, whenever a change is refused.

    Raises:
        WorkspaceError: The file is malformed; nothing of it is touched.
        UsageError: A model's name cannot stand in it, or would be read as a tie.
    """

    def __init__(
        self,
        workspace: Workspace,
        task: str,
        models: Sequence[str],
        judge: str,
        report: Callable[[SaveReport], None] = lambda _: None,
        digests: Callable[[], Mapping[str, str]] = dict,
        begun: Callable[[], None] = lambda: None,
    ) -> None:
        recordable(models)
        if TIE in models:
            raise UsageError(
                f"a model that is called '{TIE}' can win no matchup: it would be stored as a tie.",
                hint="Rename its folder.",
            )
        self._workspace, self._task, self._judge = workspace, task, judge
        self._digests, self._begun = digests, begun
        # an order that says nothing of the seats of a blind comparison
        self.models = tuple(sorted(models))
        self.path = workspace.matchups_path(task, judge)
        self.proposal = _NOTHING
        self._keypad = Keypad()
        self._looked_at = as_it_lies(self.path)
        whole = workspace.matchups(task, judge)
        self.published = whole.published(self.models)
        self.refused: Callable[[str], None] = lambda _: None
        document = matchup_document(self.path, Matchups(task, judge_name(judge)), self.models)
        kind = Kind(document, self._on_disk, operator.eq, with_what_is_older, merging, operator.eq)
        names = [name_of(self.path, self.models)]
        self._documents = DocumentDesk(kind, names, [self.path], [self._among(whole)], report)
        self.changes = self._documents.changes
        self.closed = self._documents.closed.get(0, "")
        self.restored = bool(self._documents.restored)
        self.earlier_runs = self._documents.earlier_runs.get(0, 0)
        self.damaged = tuple(place for _, place in self._documents.damaged)
        self.newer = tuple(place for _, place in self._documents.newer)
        self.behind = bool(self._documents.behind)
        if self.restored:
            self.save()

    @property
    def matchup(self) -> Matchup:
        """What the judge says now."""
        return self.changes[0]

    @property
    def stale(self) -> bool:
        """Whether files have changed since the winner was decided."""
        return self.matchup.stale(self._digests())

    # lines

    @property
    def open_proposals(self) -> tuple[Criterion, ...]:
        """Proposed lines that the judge has neither accepted nor turned down."""
        settled = {criterion.basis for criterion in self.matchup.criteria} | set(self.matchup.declined)
        return tuple(line for line in self.proposal.criteria if line.basis not in settled)

    def lines(self) -> list[Hashable]:
        """Keys of all lines: winner, margin, key differentiator, criteria by number, proposals by basis."""
        criteria = [("criterion", number) for number in range(len(self.matchup.criteria))]
        return [WINNER, MARGIN, KEY, *criteria, *(("proposal", line.basis) for line in self.open_proposals)]

    def criterion(self, line: Hashable) -> Criterion | None:
        """The criterion of a line, accepted or proposed."""
        if not isinstance(line, tuple):
            return None
        kind, which = line
        if kind == "criterion":
            criteria = self.matchup.criteria
            return criteria[which] if which < len(criteria) else None
        return next((one for one in self.open_proposals if one.basis == which), None)

    @property
    def proposed_margin(self) -> int | None:
        """The margin that the scores say, where the judge does not see another ahead."""
        proposal = self.proposal
        return proposal.margin if self.matchup.winner in (None, proposal.winner) else None

    @property
    def proposed_key(self) -> str:
        """What the figures say sets the winner apart, where the judge does not see another ahead."""
        proposal = self.proposal
        return proposal.key_differentiator if self.matchup.winner in (None, proposal.winner) else ""

    def measured_anew(self, criterion: Criterion) -> Criterion | None:
        """What the figures say now of an accepted criterion, when that is something else."""
        for line in self.proposal.criteria:
            if line.basis == criterion.basis and dict(line.cells) != dict(criterion.cells):
                return line
        return None

    # deciding

    def edge(self, line: Hashable, who: str | None) -> None:
        """Give a line to a model, to nobody (``"tie"``), or leave it open; on the first line, the win.

        A proposed line is so accepted.
        """
        matchup = self.matchup
        if line == WINNER:
            same = matchup.winner in (who, None) and who not in (TIE, None)
            margin = matchup.margin if same else None
            self._decide("winner", replace(matchup, winner=who, margin=margin))
        elif isinstance(line, tuple):
            criterion = self.criterion(line)
            if criterion is not None:
                note = criterion.note if criterion.edge == who else ""
                note = criterion.note if line[0] == "criterion" else note
                self._put(line, replace(criterion, edge=who, note=note), f"edge of {criterion.name}")

    def accept(self, line: Hashable) -> bool:
        """Take what is proposed for a line; whether anything is."""
        matchup, proposal = self.matchup, self.proposal
        if line == WINNER and proposal.winner is not None:
            margin = proposal.margin if matchup.margin is None else matchup.margin
            margin = None if proposal.winner == TIE else margin
            self._decide("winner as proposed", replace(matchup, winner=proposal.winner, margin=margin))
        elif line == MARGIN and self.proposed_margin is not None:
            self.change("margin as proposed", replace(matchup, margin=self.proposed_margin))
        elif line == KEY and self.proposed_key:
            after = replace(matchup, key_differentiator=self.proposed_key)
            self.change("key differentiator as proposed", after)
        elif isinstance(line, tuple) and line[0] == "proposal" and (found := self.criterion(line)):
            self._put(line, found, f"accept {found.name}")
        elif (found := self.criterion(line)) and (new := self.measured_anew(found)):
            self._put(line, replace(found, cells=new.cells), f"{found.name} as measured now")
        else:
            return False
        return True

    def accept_all(self) -> int:
        """Take every proposed line; how many there were."""
        found = self.open_proposals
        if found:
            after = replace(self.matchup, criteria=(*self.matchup.criteria, *found))
            self.change("accept all proposals", after)
        return len(found)

    def reconsider(self) -> int:
        """Propose again what was turned down; how many lines that were."""
        count = len(self.matchup.declined)
        self.change("reconsider what was declined", replace(self.matchup, declined=()))
        return count

    def remove(self, line: Hashable) -> bool:
        """Take a line away (undo brings it back); a proposal that is turned down does not come again."""
        matchup = self.matchup
        if line == WINNER:
            self._decide("no winner", replace(matchup, winner=None, margin=None))
        elif line == MARGIN:
            self._keypad.reset()
            self.change("no margin", replace(matchup, margin=None))
        elif line == KEY:
            self.change("no key differentiator", replace(matchup, key_differentiator=""))
        elif isinstance(line, tuple) and (found := self.criterion(line)):
            criteria = matchup.criteria
            if line[0] == "criterion":
                criteria = (*criteria[: line[1]], *criteria[line[1] + 1 :])
            declined = matchup.declined
            if found.basis and found.basis not in declined:
                declined = (*declined, found.basis)
            label = f"remove {found.name}" if line[0] == "criterion" else f"decline {found.name}"
            self.change(label, replace(matchup, criteria=criteria, declined=declined))
        else:
            return False
        return True

    def digit(self, digit: str) -> bool:
        """Type a digit of the margin; whether it was taken."""
        continued = self._keypad.typed != ""
        value = self._keypad.press(digit)
        merge = continued and self._keypad.typed != digit
        if value is not None:
            self.change("margin", replace(self.matchup, margin=value), merge=merge)
        return value is not None

    def leave_line(self) -> None:
        """The next digit begins a number anew."""
        self._keypad.reset()

    def write_key(self, text: str) -> None:
        """Say what decided, as it is typed."""
        after = replace(self.matchup, key_differentiator=text)
        self.change("key differentiator", after, merge=True, typing=True)

    def write(self, line: Hashable, criterion: Criterion) -> Hashable:
        """Change a criterion as it is typed, or add one; the key of its line.

        Args:
            line: Its line; any other key adds a new one at the end.
            criterion: Its new state; one that says nothing is taken away.
        """
        if not (criterion.name.strip() or any(criterion.cells.values()) or criterion.note.strip()):
            if isinstance(line, tuple) and line[0] == "criterion" and self.criterion(line):
                criteria = self.matchup.criteria
                after = replace(self.matchup, criteria=(*criteria[: line[1]], *criteria[line[1] + 1 :]))
                self.change(WRITTEN, after, merge=True, typing=True)
            return ("new", 0)
        return self._put(line, criterion, WRITTEN, merge=True, typing=True)

    def move(self, line: Hashable, step: int) -> Hashable:
        """Move a criterion up or down; the key of its line."""
        if isinstance(line, tuple) and line[0] == "criterion":
            at, to = line[1], line[1] + step
            criteria = list(self.matchup.criteria)
            if 0 <= to < len(criteria):
                criteria[at], criteria[to] = criteria[to], criteria[at]
                self.change(
                    f"order of {criteria[to].name}",
                    replace(self.matchup, criteria=tuple(criteria)),
                    merge=True,
                )
                return ("criterion", to)
        return line

    def _put(
        self, line: Hashable, criterion: Criterion, label: str, *, merge: bool = False, typing: bool = False
    ) -> Hashable:
        criteria = list(self.matchup.criteria)
        at = line[1] if isinstance(line, tuple) and line[0] == "criterion" else len(criteria)
        criteria[at : at + 1] = [criterion]
        after = replace(self.matchup, criteria=tuple(criteria))
        self.change(label, after, merge=merge, typing=typing)
        return ("criterion", at)

    # history and disk

    def _decide(self, label: str, after: Matchup) -> None:
        """Change the winner: it is decided on the files that are there now."""
        seen = {} if after.winner is None else {model: d for model, d in self._digests().items() if d}
        self.change(label, replace(after, submissions=seen))

    def change(self, label: str, after: Matchup, *, merge: bool = False, typing: bool = False) -> None:
        """Make a change: it enters the history and goes to disk, where the file can be changed."""
        if self.closed:
            self.refused(self.closed)
        elif self.changes.make(0, label, after, merge=merge):
            self.save(typing=typing)

    def undo(self, who: Who = _named, *, theirs: bool = False) -> str | None:
        """Take back the last change that was made here; what it was, or ``None``.

        Args:
            who: Says who is ahead.
            theirs: Take back what was written elsewhere instead, where that stands in the way.
        """
        before = self.matchup
        return self._stepped(self.changes.undo_foreign() if theirs else self.changes.undo(), before, who)

    def redo(self, who: Who = _named) -> str | None:
        """Bring the last undone change back; what it was, or ``None``. ``who`` says who is ahead."""
        before = self.matchup
        return self._stepped(self.changes.redo(), before, who)

    def _stepped(self, step: tuple[int, str] | None, before: Matchup, who: Who) -> str | None:
        self._keypad.reset()
        if step is None:
            return None
        self.save()
        return described_matchup(step[1], before, self.matchup, who)

    def save(self, *, typing: bool = False) -> None:
        """Write it, or try again to, as after a fault of the disk."""
        if self.closed:
            return
        self._begun()
        self._documents.autosave.submit(0, self.matchup, typing=typing)

    def take_in(self) -> bool:
        """Take it as another window has saved it, where nothing here is unsaved; an undo away.

        Where the file is the one that was looked at last, nothing is read.

        Returns:
            Whether it says something else now.
        """
        if self.closed or self.unsaved:
            return False
        before, self._looked_at = self._looked_at, as_it_lies(self.path)
        if before == self._looked_at:
            return False
        with suppress(JudgeError):
            there = self._on_disk()
            if there.stamp not in (None, self._documents.autosave.stamp(0)) and not there.refusal:
                self._keypad.reset()
                return self._documents.take_in(0, there)
        return False

    @property
    def unsaved(self) -> bool:
        """Whether the newest state is not on disk."""
        return bool(self._documents.autosave.unsaved())

    @property
    def lost(self) -> bool:
        """Whether leaving now would lose something."""
        return bool(self._documents.autosave.lost())

    def flush(self) -> None:
        """Wait until everything is on disk."""
        self._documents.autosave.flush()

    def close(self) -> None:
        """Save everything and stop."""
        self._documents.close()
