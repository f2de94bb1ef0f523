"""Where the notes on a submission are now: in their files, or in those that these have become."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.sources import is_binary
from judge_tui.checks.submission import Submission
from judge_tui.judging.anchor import Found, Standing, find
from judge_tui.judging.card import Scorecard
from judge_tui.judging.context import UNKNOWN, Context, context_of
from judge_tui.judging.followed import Followed
from judge_tui.judging.note import Note, quote_of
from judge_tui.judging.quoted import Anchor, among_blank, equal_places, gaps
from judge_tui.judging.text_index import TextIndex, indexed, said
from judge_tui.judging.way_of_lines import Earlier

__all__ = [
    "Files",
    "Placed",
    "Spot",
    "files_of",
    "place",
    "placed_notes",
    "restated",
    "settled",
    "settled_note",
]

#: Larger files are not searched for what stood in others.
_SEARCHED = 1_000_000
_MOST_FILES = 400
#: So much of a context has to speak for a place in a file of another name.
_WEIGHTY = 4


class Spot(Struct, frozen=True):
    """A place that a note may have: file, and first and last line, 1-based."""

    file: str
    lines: tuple[int, int]


class Placed(Struct, frozen=True):
    """A note with where it is now.

    Attributes:
        note: The note; its file and lines are the present ones, or the likeliest.
        standing: ``there``; ``changed``, other lines standing in its place; ``doubt``, where it may be in
            several places; ``gone``.
        spots: The places that its judge is asked about.
    """

    note: Note
    standing: Standing = "there"
    spots: tuple[Spot, ...] = ()

    @property
    def told(self) -> str:
        """What is to be known of its place; empty where it is there."""
        told = {"changed": "lines changed since", "gone": "no longer there", "doubt": "place in doubt"}
        return told.get(self.standing, "")

    @property
    def where(self) -> str:
        """File and lines for a reader, with what is to be known of them: ``a.py:3, place in doubt``."""
        return f"{self.note.where}, {self.told}" if self.told else self.note.where


class Files(Struct, frozen=True):
    """The files that notes are looked for in.

    Attributes:
        names: All of the submission.
        text: The text of one; ``None`` where it is none, or not to be had.
        earlier: Of a fingerprint and a present text: the text of that fingerprint, and what has become of it.
    """

    names: Sequence[str]
    text: Callable[[str], str | None]
    earlier: Callable[[str, TextIndex], Earlier | None] = lambda _, __: None

    def index(self, name: str) -> TextIndex | None:
        """One of them, to be looked in."""
        text = self.text(name)
        return None if text is None else indexed(text)


def files_of(submission: Submission) -> Files:
    """The files of a submission as they are on disk; each is read once."""
    known: dict[str, str | None] = {}

    def text(name: str) -> str | None:
        if name not in known:
            data = submission.read_bytes(name)
            known[name] = None if is_binary(data) else data.decode("utf-8", "replace")
        return known[name]

    names: Sequence[str] = ()
    with suppress(JudgeError):
        names = submission.files
    return Files(names, text)


def place(note: Note, files: Files, *, sure: bool = False) -> Placed:
    """Where a note is now.

    Args:
        note: The note.
        files: Where it is looked for.
        sure: Whether the files are known to be those that it was written on.
    """
    found = _placed_by_quote(note, files, sure=sure)
    followed = note.as_followed
    return found if followed is None else _where_followed(note, found, _placed_by_quote(followed, files))


def _where_followed(note: Note, found: Placed, last: Placed) -> Placed:
    """Where a note is whose lines were seen to become others: where those are that took their place.

    Args:
        note: The note.
        found: Where its own lines are.
        last: Where those are that they had become.
    """
    here, there = (Spot(one.note.file or "", one.note.lines or (1, 1)) for one in (found, last))
    gone = note.followed is not None and note.followed.gone
    if found.standing == "there" and (gone or last.standing != "there" or here == there):
        return found
    placed = replace(note, file=last.note.file, lines=last.note.lines)
    if gone:
        return Placed(placed, "gone") if (last.standing, found.standing) == ("there", "gone") else found
    spots = (there, *((here,) if found.standing == "there" else ()), *last.spots, *found.spots)
    asked = tuple(dict.fromkeys(spots))
    if found.standing == "there":
        return Placed(placed, "doubt", asked)
    if last.standing in ("there", "changed"):
        return Placed(placed, "changed", asked)
    return Placed(placed, "doubt", asked) if (last.standing, found.standing) == ("doubt", "gone") else found


def _placed_by_quote(note: Note, files: Files, *, sure: bool = False) -> Placed:
    if note.file is None:
        return Placed(note)
    anchor = note.anchor
    own = files.index(note.file) if note.file in files.names else None
    if anchor is None:
        return _of_a_file(note, files)
    found = Found("gone", anchor.lines)
    if own is not None:
        found = find(anchor, own, _earlier(files, note.context, own), sure=sure)
        if found.standing in ("there", "changed") and found.weight >= _full(note.context):
            return _placed(note, note.file, found)
    others = _elsewhere(anchor, note, files)
    if found.standing in ("there", "changed"):
        # a new file of the old name may have lines of the old one
        others = [(name, there) for name, there in others if there.weight > found.weight + 1]
        if not others:
            return _placed(note, note.file, found)
    spots = [Spot(note.file, _one_based(lines)) for lines in found.places]
    if len(others) == 1 and not (own is not None and note.context and _kept(note.context, own)):
        return _placed(note, *others[0])
    if others:
        spots += [Spot(name, _one_based(there.lines)) for name, there in others]
        if own is None:
            return Placed(_moved(note, *others[0]), "doubt", tuple(spots))
    standing: Standing = "doubt" if spots else found.standing
    return replace(_placed(note, note.file, found), standing=standing, spots=tuple(spots))


def _of_a_file(note: Note, files: Files) -> Placed:
    """A note on a file, or one that quotes nothing: it has nothing but the file to be known by."""
    assert note.file is not None
    if note.file in files.names:
        return Placed(note)
    if note.context is not None and note.context.text:
        same = [name for name, index in _searched(files) if index.fingerprint == note.context.text]
        if len(same) == 1:
            return Placed(replace(note, file=same[0]))
    return Placed(note, "gone")


def _elsewhere(anchor: Anchor, note: Note, files: Files) -> list[tuple[str, Found]]:
    """Other files in which a note is for certain; those that are just what its own was, where there are."""
    context = note.context
    if context is None or context.text == UNKNOWN:
        return []
    found: list[tuple[str, Found]] = []
    for name, index in _searched(files):
        if name == note.file:
            continue
        there = find(anchor, index, _earlier(files, context, index))
        if there.standing == "there" and there.weight >= _WEIGHTY:
            found.append((name, there))
    exact = [(name, there) for name, there in found if there.weight == max(t.weight for _, t in found) >= 99]
    return exact or found


def _searched(files: Files) -> Iterable[tuple[str, TextIndex]]:
    for name in files.names[:_MOST_FILES]:
        text = files.text(name)
        if text is not None and len(text) <= _SEARCHED:
            yield name, indexed(text)


def _earlier(files: Files, context: Context | None, index: TextIndex) -> Earlier | None:
    return files.earlier(context.text, index) if context is not None and context.text else None


def _full(context: Context | None) -> int:
    """The weight of a place that most of a context speaks for: no other file is looked into."""
    return 0 if context is None else 2 + (len(context.before) + len(context.after)) // 2


def _kept(context: Context, own: TextIndex) -> bool:
    """Whether a file of the old name has enough of what stood around a note to be the old file."""
    kept = [told for line in (*context.before, *context.after) if len(told := said(line)) > 8]
    return bool(kept) and 2 * sum(bool(own.at(told)) for told in kept) >= len(kept)


def _one_based(lines: tuple[int, int]) -> tuple[int, int]:
    return lines[0] + 1, lines[1] + 1


def _moved(note: Note, file: str, found: Found) -> Note:
    lines = _one_based(found.lines)
    return note if (note.file, note.lines) == (file, lines) else replace(note, file=file, lines=lines)


def _placed(note: Note, file: str, found: Found) -> Placed:
    spots = tuple(Spot(file, _one_based(lines)) for lines in found.places)
    return Placed(_moved(note, file, found), found.standing, spots)


def restated(note: Note, index: TextIndex) -> Note:
    """A note whose place is certain, with the quote and the context that it has there.

    Args:
        note: The note, its lines being those of the text.
        index: The text.
    """
    note = replace(note, followed=None)
    if note.lines is None or not 1 <= note.lines[0] <= note.lines[1] <= len(index):
        return replace(note, context=Context(text=index.fingerprint)) if note.lines is None else note
    first, last = note.lines[0] - 1, note.lines[1] - 1
    quoted = replace(note, quote=quote_of(index.lines, note.lines))
    anchor = Anchor((first, last), tuple(quoted.quote.split("\n")))
    equal = list(equal_places(anchor, index)) or [first]
    context = context_of(index, first, last, equal, quoted=anchor.whole)
    if anchor.blank:
        nth, room = among_blank((first, last), index)
        alike = sum(1 for _ in gaps(replace(anchor, context=context), index))
        context = replace(context, equal=(nth, room, max(alike, 1)), twins=None)
    if note.context is not None:
        context = replace(context, extra=note.context.extra)
    return replace(quoted, context=context)


def placed_notes(card: Scorecard, submission: Submission, files: Files | None = None) -> dict[str, Placed]:
    """Where the notes of a card are in a submission: id → place.

    Args:
        card: The card.
        submission: What it is on.
        files: Its files, where several cards are looked through.
    """
    if not card.notes:
        return {}
    files, sure = files or files_of(submission), _on_these_files(card, submission)
    return {note.id: place(note, files, sure=sure and note.context is None) for note in card.notes}


def _on_these_files(card: Scorecard | None, submission: Submission) -> bool:
    """Whether a card is of just the files that are here: its notes stand where they say."""
    with suppress(JudgeError):
        return card is not None and card.submission is not None and card.submission == submission.digest
    return False


def settled(card: Scorecard, submission: Submission, before: Scorecard | None = None) -> Scorecard:
    """A card that is to be saved: its notes say where they are now, as far as that is certain.

    Args:
        card: The card.
        submission: What it is on.
        before: The card as it was read; what is not in it was written on the files as they are.
    """
    if not any(note.file for note in card.notes):
        return card
    files, same = files_of(submission), _on_these_files(before, submission)
    old = {note.id for note in before.notes} if before is not None else set()

    def now(note: Note) -> Note:
        sure = note.context is None and (same or note.id not in old)
        return settled_note(note, place(note, files, sure=sure), files)

    return replace(card, notes=tuple(map(now, card.notes)))


def settled_note(note: Note, placed: Placed, files: Files, *, watched: bool = False) -> Note:
    """A note as it is written down: stated anew where its place is certain, else left in doubt.

    Args:
        note: The note.
        placed: Where it is.
        files: In which files.
        watched: Whether its file was seen to change: then what its lines have become is written down too.
    """
    now = placed.note
    if note.file is None:
        return note
    if placed.standing == "there" and now.file in files.names:
        index = files.index(str(now.file))
        return note if index is None else restated(now, index)
    # once the card is of the files of now, its lines must not count as theirs
    note = note if note.context is not None else replace(note, context=Context(text=UNKNOWN))
    if placed.standing in ("changed", "gone") and (watched or note.followed is not None):
        there = _followed(note, now, files, gone=placed.standing == "gone")
        return replace(note, followed=there or note.followed)
    return note


def _followed(note: Note, now: Note, files: Files, *, gone: bool) -> Followed | None:
    """The place of now, with what stands in it and around it."""
    index = files.index(str(now.file)) if now.file in files.names else None
    if index is None or now.lines is None or now.lines[1] > len(index):
        return None
    there = restated(replace(now, context=None), index)
    extra = {} if note.followed is None else note.followed.extra
    return Followed(str(there.file), now.lines, there.quote, there.context, gone, extra)
