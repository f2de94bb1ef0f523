"""What judges noted, as bullets, and the lines that they noted it on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.lines import split_lines
from judge_tui.judging.note import KINDS, Note
from judge_tui.judging.placing import Placed
from judge_tui.judging.summaries.gathered import Judged
from judge_tui.judging.summaries.openings import Over, opening_at, over_lines
from judge_tui.judging.summaries.parts import Bullet, Code, Notes

__all__ = ["CRITICAL", "anchor_of", "excerpts", "notes_on"]

#: Stands for the kind of weaknesses and bugs that are critical, where a report sets them apart.
CRITICAL = "critical"

#: Lines that are shown around those of a note.
_AROUND = 3
#: A longer range is shown up to here.
_MOST = 40


def anchor_of(*words: str) -> str:
    """An anchor that is the same for the same words, and of plain letters."""
    return "-".join(filter(None, map(_plain_letters, words)))


def _plain_letters(word: str) -> str:
    """A word in plain letters; others are told apart by a digest."""
    plain = re.sub(r"[^a-z0-9._]+", "-", word.lower()).strip("-")
    if all(character.isascii() for character in word if character.isalnum()):
        return plain
    return "-".join(filter(None, (plain, hashlib.sha256(word.encode()).hexdigest()[:8])))


def notes_on(one: Judged, shown: Collection[str], kinds: Sequence[str] = KINDS) -> Iterator[Notes]:
    """The notes of all judges on a submission, a part per kind, in the order of the cards.

    Args:
        one: The submission, and what was said of it.
        shown: Anchors of the lines that stand in the report.
        kinds: Which notes, in this order; with :data:`CRITICAL` among them, critical ones stand there alone.
    """
    several = len(one.cards) > 1

    def kind_of(note: Note) -> str:
        grave = note.severity == "critical" and note.kind in ("weakness", "bug")
        return CRITICAL if grave and CRITICAL in kinds else note.kind

    for kind in kinds:
        bullets = tuple(
            Bullet(
                placed.note.text,
                placed.note.kind,
                placed.note.severity,
                placed.where,
                card.judge if several else "",
                anchor if (anchor := _anchor(one, placed)) in shown else "",
            )
            for card, places in zip(one.cards, one.placed, strict=True)
            for placed in places
            if kind_of(placed.note) == kind and placed.note.text.strip()
        )
        if bullets:
            yield Notes(one.title, kind, bullets)


def excerpts(one: Judged) -> list[Code]:
    """The lines of notes that are where they were, each range once, by file and line."""
    found: dict[str, Code] = {}
    texts: dict[str, list[str]] = {}
    over: dict[str, list[Over]] = {}
    for placed in sorted(_standing(one), key=lambda each: (each.note.file or "", each.note.lines or (0, 0))):
        name, lines = placed.note.file, placed.note.lines
        assert name is not None
        assert lines is not None
        if name not in texts:
            texts[name] = []
            with suppress(JudgeError):
                texts[name] = split_lines(one.submission.read_text(name))
            over[name] = over_lines(name, texts[name])
        first, last = max(1, lines[0] - _AROUND), min(len(texts[name]), lines[1] + _AROUND, lines[0] + _MOST)
        if lines[0] <= last:
            anchor = _anchor(one, placed)
            marked = frozenset(range(lines[0], min(lines[1], last) + 1))
            shown = tuple(texts[name][first - 1 : last])
            opening = opening_at(over[name], first)
            found[anchor] = Code(one.title, name, first, shown, marked, anchor, opening)
    return list(found.values())


def _standing(one: Judged) -> Iterator[Placed]:
    machines = one.by_machines
    for places in (*one.placed, *(() if machines is None else machines.placed)):
        for placed in places:
            if (
                placed.standing == "there"
                and placed.note.file
                and placed.note.lines
                and placed.note.text.strip()
            ):
                yield placed


def _anchor(one: Judged, placed: Placed) -> str:
    note = placed.note
    return anchor_of("code", one.submission.task, one.model, note.file or "", *map(str, note.lines or ()))
