"""A scorecard as ``judge-tui score`` shows it."""

from __future__ import annotations

from collections.abc import Iterator

from judge_tui.checks.submission import Submission
from judge_tui.judging.card import Scorecard
from judge_tui.judging.note import Note
from judge_tui.judging.placing import placed_notes
from judge_tui.judging.rubric import Rubric

__all__ = ["anchor", "card_lines"]


def card_lines(card: Scorecard, rubric: Rubric, submission: Submission) -> list[str]:
    """Every score with its comment, then what is said on the whole, then the notes; texts line by line.

    Notes stand where they are now, with what is to be known of that place.
    """
    names = list(dict.fromkeys((*(one.id for one in rubric.dimensions), *card.dimensions)))
    width = max(map(len, (*names, "overall")))
    lines: list[str] = []
    for name in names:
        score = card.score(name)
        lines += _texts(f"{name:<{width}}  {'–' if score is None else score:>3}", card.comment(name))
    if card.overall is not None or card.overall_reason:
        total = "–" if card.overall is None else card.overall
        lines += _texts(f"{'overall':<{width}}  {total:>3}", card.overall_reason)
    if card.grade is not None:
        lines.append(f"{'grade':<{width}}  {card.grade:>3}")
    if card.verdict is not None:
        shown = card.verdict_note
        lines.append(
            f"{'verdict':<{width}}       {card.verdict.kind}{f' – {anchor(shown)}' if shown else ''}"
        )
    if card.summary:
        lines += _texts(f"{'summary':<{width}}     ", card.summary)
    for placed in placed_notes(card, submission).values():
        told = f" ({placed.told})" if placed.told else ""
        lines += _texts(f"{anchor(placed.note)}{told}", placed.note.text)
    return lines


def _texts(head: str, text: str) -> Iterator[str]:
    first, *others = text.split("\n")
    yield f"{head}  {first}".rstrip()
    yield from (f"{' ' * (len(head) + 2)}{line}".rstrip() for line in others)


def anchor(note: Note) -> str:
    """Kind and place of a note."""
    where = f" {note.file}" if note.file else ""
    where += f":{note.lines[0]}-{note.lines[1]}" if note.lines else ""
    return f"{note.kind}{f'/{note.weight}' if note.weight else ''}{where}"
