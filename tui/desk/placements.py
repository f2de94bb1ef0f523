"""Where the notes on one submission are while it is looked at: by what is on the card, and by what went by.

Plain Python. Files are read and compared in a thread (:meth:`Placements.find`); what was found is taken in
the event loop (:meth:`Placements.take`), and asking costs nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.sources import is_binary
from judge_tui.checks.submission import Submission
from judge_tui.judging.card import Scorecard
from judge_tui.judging.note import Note
from judge_tui.judging.placing import Files, Placed, place, restated, settled_note
from judge_tui.judging.text_index import TextIndex, indexed
from judge_tui.judging.way_of_lines import Earlier
from judge_tui.tui.code.equal_lines import equal_lines

__all__ = ["Placements", "Search"]

#: States of files that are remembered, to tell what has become of their lines.
_MOST_TEXTS = 24

#: What a note says of its place, whatever its text is.
_Anchor = tuple[object, ...]


class Search(Struct, frozen=True):
    """What a search has found.

    Attributes:
        placed: Where each note is.
        stated: Of those whose place is certain, how they say it now; of others, how they are written down.
        texts: The states of the files that were looked at, by fingerprint.
    """

    placed: Mapping[_Anchor, Placed]
    stated: Mapping[_Anchor, Note]
    texts: Mapping[str, TextIndex]


class Placements:
    """The places of the notes on one submission.

    Args:
        submission: Whose files they are on.
        card: The card as it was read: notes that are not on it are written on the files as they are.
    """

    def __init__(self, submission: Submission, card: Scorecard) -> None:
        self._submission, self._card = submission, card
        self._old = {note.id for note in card.notes}
        self._placed: dict[_Anchor, Placed] = {}
        self._stated: dict[_Anchor, Note] = {}
        self._texts: dict[str, TextIndex] = {}
        #: What new notes were begun on: id → text, and those texts by their fingerprints.
        self._begun: dict[str, str] = {}
        self._begun_on: dict[str, TextIndex] = {}
        self._ways: dict[tuple[str, str], Earlier] = {}
        self._same: bool | None = None

    def begin(self, note: Note, text: str) -> None:
        """Know what a new note is written on: its file may be another one before there is a word of it."""
        self._begun[note.id] = text

    def placed(self, note: Note) -> Placed:
        """Where a note is, as far as that was looked for."""
        found = self._placed.get(_anchor(note))
        if found is None:
            return Placed(note)
        return replace(found, note=replace(note, file=found.note.file, lines=found.note.lines))

    def stated(self, note: Note) -> Note:
        """A note as it is written down, with its present lines where these are certain."""
        known = self._stated.get(_anchor(note))
        if known is None:
            return note
        return note.placed_as(known)

    def find(self, notes: Sequence[Note], shown: Mapping[str, str]) -> Search:
        """Look for notes; run it in a thread.

        Args:
            notes: The notes.
            shown: Texts of those files that are in view; the others are read.
        """
        files, placed, stated = self._files(shown), dict[_Anchor, Placed](), dict[_Anchor, Note]()
        if self._same is None:
            self._same = self._on_these_files()
        for note in notes:
            # other threads get their turn
            time.sleep(0)
            key = _anchor(note)
            known = self._as_begun(self.stated(note))
            sure = known.context is None and (self._same or note.id not in self._old)
            found = place(known, files, sure=sure)
            placed[key] = found
            stated[key] = known
            watched = known.context is not None and self._text(known.context.text) is not None
            bare = known.context is None or known.followed is not None
            if found.standing == "there" or watched or bare:
                stated[key] = settled_note(known, found, files, watched=watched)
        named = {one.note.file for one in placed.values()} & set(files.names)
        indices = (files.index(str(name)) for name in named)
        texts = {index.fingerprint: index for index in indices if index is not None}
        # what follows is not on the files of the card any more, unless it is found to be so again
        self._same = False
        return Search(placed, stated, texts)

    def take(self, search: Search) -> None:
        """Take in what was found."""
        self._placed |= search.placed
        self._stated |= search.stated
        self._texts |= search.texts
        while len(self._texts) > _MOST_TEXTS:
            del self._texts[next(iter(self._texts))]
            self._ways.clear()

    def _as_begun(self, note: Note) -> Note:
        """A new note with what stood around its lines when it was begun."""
        text = self._begun.get(note.id)
        if text is None or note.context is not None or note.file is None:
            return note
        index = indexed(text)
        self._begun_on[index.fingerprint] = index
        return restated(note, index)

    def _text(self, fingerprint: str) -> TextIndex | None:
        """A text that went by."""
        return self._texts.get(fingerprint) or self._begun_on.get(fingerprint)

    def _on_these_files(self) -> bool:
        with suppress(JudgeError):
            return self._card.submission is not None and self._card.submission == self._submission.digest
        return False

    def _files(self, shown: Mapping[str, str]) -> Files:
        read: dict[str, str | None] = {**shown}

        def text(name: str) -> str | None:
            if name not in read:
                data = self._submission.read_bytes(name)
                read[name] = None if is_binary(data) else data.decode("utf-8", "surrogateescape")
            return read[name]

        names: Iterable[str] = ()
        with suppress(JudgeError):
            names = self._submission.files
        return Files(tuple(names), text, self._earlier)

    def _earlier(self, fingerprint: str, index: TextIndex) -> Earlier | None:
        old = self._text(fingerprint)
        if old is None or old.fingerprint == index.fingerprint:
            return None
        key = fingerprint, index.fingerprint
        if key not in self._ways:
            self._ways[key] = Earlier(old, index, equal_lines)
        return self._ways[key]


def _anchor(note: Note) -> _Anchor:
    # of two without context, one may be on lines that another had at its time
    own = note.id if note.context is None else ""
    return note.file, note.lines, note.quote, note.context, note.followed, own
