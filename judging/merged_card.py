"""What a judge says in a scorecard, part by part: a score, a comment, a note, where that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from judge_tui.judging.card import Scorecard
from judge_tui.judging.merging import Key, Merged, Parts, Side, merged
from judge_tui.judging.note import Note
from judge_tui.judging.rubric import Rubric
from judge_tui.judging.versions import Differing, card_differences

__all__ = ["CARD", "card_clash", "merged_cards"]

_WORDS = ("overall", "overall_reason", "grade", "summary", "verdict")
_TEXTS = ("overall_reason", "summary")


def _keys(cards: Iterable[Scorecard]) -> Iterable[Key]:
    cards = list(cards)
    for name in dict.fromkeys(name for card in cards for name in card.dimensions):
        yield from (("score", name), ("comment", name))
    yield from ((name,) for name in _WORDS)
    for name in dict.fromkeys(note.id for card in cards for note in card.notes):
        # what it says comes first: one that is not there is nowhere
        yield from (("note", name), ("place", name))


def _note(card: Scorecard, name: str) -> Note | None:
    return next((note for note in card.notes if note.id == name), None)


def _said(card: Scorecard, key: Key) -> Any:
    kind, name = key[0], key[-1]
    if kind == "score":
        return card.score(name)
    if kind == "comment":
        return card.comment(name) or None
    if kind in ("note", "place"):
        return _note(card, name)
    said = getattr(card, kind)
    # 0 is a score
    return None if said == "" else said


def _put(card: Scorecard, key: Key, said: Any) -> Scorecard:
    kind, name = key[0], key[-1]
    if kind == "score":
        return card.with_score(name, said)
    if kind == "comment":
        return card.with_comment(name, said or "")
    if kind not in ("note", "place"):
        words: dict[str, Any] = {kind: "" if said is None and kind in _TEXTS else said}
        return replace(card, **words)
    there = _note(card, name)
    if kind == "place":
        return card if there is None or said is None else card.with_note(there.placed_as(said))
    if said is None:
        return card.without_note(name)
    return card.with_note(said if there is None else said.placed_as(there))


def _same(key: Key, one: Any, other: Any) -> bool:
    if key[0] == "note" and None not in (one, other):
        return bool(one.unanchored == other.unanchored)
    if key[0] == "place":
        # that of a note which is on one side alone goes with it
        return None in (one, other) or (one.file, one.lines) == (other.file, other.lines)
    return bool(one == other)


#: How a scorecard is taken apart.
CARD: Parts[Scorecard] = Parts(_keys, _said, _put, _same)


def merged_cards(
    base: Scorecard | None, ours: Scorecard, theirs: Scorecard, chosen: Mapping[Key, Side] | None = None
) -> Merged[Scorecard]:
    """Two versions of a card in one; the arguments are those of :func:`merged`."""
    found = merged(CARD, base, ours, theirs, chosen)
    card = replace(found.value, created=theirs.created or ours.created)
    if base is None or (ours.given, ours.grade) != (base.given, base.grade):
        # what was scored here last was scored on what is here
        card = replace(card, rubric=ours.rubric, submission=ours.submission, checks=ours.checks)
    return Merged(card, found.clashes)


def card_clash(key: Key, ours: Scorecard, theirs: Scorecard, rubric: Rubric) -> Differing:
    """What two cards say of what both have changed.

    Args:
        key: What that is.
        ours: The version that is called *here*.
        theirs: The version that is called *there*.
        rubric: What the cards are scored by.
    """
    if key[0] == "place":
        here, there = _said(ours, key), _said(theirs, key)
        return Differing(f"place of the note “{here.text[:40]}”", here.where, there.where)
    return next(card_differences(_put(theirs, key, _said(ours, key)), theirs, rubric))
