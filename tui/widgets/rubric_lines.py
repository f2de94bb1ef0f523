"""What the rubric pane says, as lines of spans: a table of scores, and the line in focus in full."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style

from judge_tui.judging.rubric import Dimension
from judge_tui.tui.look.fitting import fit, wrapped
from judge_tui.tui.look.palette import VERDICTS
from judge_tui.tui.look.tones import Tones
from judge_tui.tui.session import OVERALL, Row, Session, letter_of
from judge_tui.tui.widgets.rows import Span

__all__ = ["detail_lines", "table_lines"]

Line = tuple[Span, ...]
_COLUMN = 5
#: Columns of a key, of a weight, and of a title at least; where a title has no more, weights are left out.
_KEY, _WEIGHT, _TITLE = 4, 6, 12


def table_lines(session: Session, width: int, tones: Tones) -> list[tuple[Line, int | None]]:
    """The table of scores: lines, each with the index of the rubric's line that it shows."""
    count = len(session.submissions)
    room = max(width - _KEY - _COLUMN * count, 1)
    weight = _WEIGHT if room >= _TITLE + _WEIGHT else 0
    name = room - weight
    head: list[Span] = [(" " * (_KEY + room), tones.faint)]
    for index in range(count):
        style = tones.by_name["primary"] + Style(bold=True) if index == session.scored else tones.faint
        head.append((f"{letter_of(index):>{_COLUMN - 1}} ", style))
    lines: list[tuple[Line, int | None]] = [(tuple(head), None)]
    marks = [session.conflicts(index) for index in range(count)]
    for number, row in enumerate(session.rows):
        if row == OVERALL:
            lines.append((_mean(session, name, weight, tones), None))
        lines.append((_row(session, row, (name, weight), marks, tones), number))
    return lines


def _row(
    session: Session, row: Row, columns: tuple[int, int], marks: Sequence[dict[str, str]], tones: Tones
) -> Line:
    name, weight = columns
    if isinstance(row, Dimension):
        spans: list[Span] = [
            (f" {row.key or ' '} ", tones.by_name["accent"]),
            (fit(row.title, name), tones.text),
            (f" ×{row.weight:<4g}"[:weight], tones.muted),
        ]
    else:
        overall = "Overall, your own" if name > len("Overall, your own") else "Overall"
        key, title = ("O", overall) if row == OVERALL else ("S", "Summary")
        spans = [
            (f" {key} ", tones.by_name["accent"]),
            (fit(title, name), tones.text),
            (" " * weight, tones.faint),
        ]
    for index, card in enumerate(session.cards):
        if isinstance(row, Dimension):
            score, flag, said = card.score(row.id), row.id in marks[index], bool(card.comment(row.id))
        elif row == OVERALL:
            score, flag, said = card.overall, OVERALL in marks[index], bool(card.overall_reason)
        else:
            score, flag, said = None, False, bool(card.summary)
        here = index == session.scored
        shown = "–" if score is None else str(score)
        over = here and row == session.focus and session.asks_over
        if over:
            flag, shown = False, f"→{session.typed_over}"
        if row not in (OVERALL,) and not isinstance(row, Dimension):
            shown = "✎" if said else "–"
            said = False
        style = (
            tones.by_name["warning"]
            if over
            else tones.by_name["error"]
            if flag
            else tones.faint
            if score is None and shown == "–"
            else tones.strong
            if here
            else tones.muted
        )
        spans += [
            (f"{'!' * flag + shown:>{_COLUMN - 1}}", style),
            ("✎" if said else " ", tones.muted),
        ]
    return tuple(spans)


def _mean(session: Session, name: int, weight: int, tones: Tones) -> Line:
    spans: list[Span] = [
        (" Σ ", tones.faint),
        (fit("Weighted mean", name), tones.muted),
        (" " * weight, tones.faint),
    ]
    for index in range(len(session.submissions)):
        mean = session.mean(index)
        complete = all(session.cards[index].score(d.id) is not None for d in session.rubric.dimensions)
        style = tones.by_name["primary"] if complete else tones.muted
        spans.append((f"{'–' if mean is None else mean:>{_COLUMN - 1}} ", style))
    return tuple(spans)


def detail_lines(session: Session, width: int, tones: Tones, edits: str = "enter") -> list[Line]:
    """The line in focus in full: what it asks, its levels, what limits it, its text.

    Args:
        session: The comparison.
        width: Columns.
        tones: Colours.
        edits: The key that writes its text.
    """
    row, index = session.focus, session.scored
    lines: list[Line] = [(("─" * width, tones.faint),)]
    title = row.title if isinstance(row, Dimension) else "Overall" if row == OVERALL else "Summary"
    who = f"{letter_of(index)} {session.titles[index]}"
    lines.append(((f" {title} ", tones.strong), (f"of {who}", tones.by_name["primary"])))
    conflict = session.conflicts(index).get(row.id if isinstance(row, Dimension) else row)
    if isinstance(row, Dimension):
        # what limits the score comes first: it must be in view on a small screen
        limits = [conflict] if conflict else list(session.caps(index, row.id))
        for text in limits:
            lines += _paragraph(f"! {text}", width, tones.by_name["error" if conflict else "warning"], hang=2)
        # the first digit of a score says no level yet
        stands = session.card.score(row.id)
        typed = stands if session.typed_over is None else session.typed_over
        score = None if session.keypad.unfinished else typed
        lines += _levels(row, score, width, tones, only_reached=True)
        lines += _comment(session.hide(session.text()), "comment", width, tones, edits)
        lines += _machines(session, row, width, tones)
        lines += _levels(row, score, width, tones)
        lines += _checks(session, row, index, width, tones)
        lines.append((("", tones.muted),))
        lines += _paragraph(row.description, width, tones.muted)
    elif row == OVERALL:
        lines += _paragraph(_total(session, index), width, tones.text)
        lines += _paragraph(f"! {conflict}", width, tones.by_name["error"], hang=2) if conflict else []
        lines += _as_a_whole(session, width, tones)
        lines += _comment(session.hide(session.text()), "reason", width, tones, edits)
    else:
        lines += _as_a_whole(session, width, tones)
        lines += _comment(session.hide(session.text()), "summary", width, tones, edits)
    return lines


def _as_a_whole(session: Session, width: int, tones: Tones) -> list[Line]:
    """What the judge calls the submission, and the lines that show it; nothing where nothing is said."""
    verdict, note = session.card.verdict, session.card.verdict_note
    if verdict is None:
        return []
    shown = f" · {session.hide(note.where or note.text)}" if note is not None else ""
    return _paragraph(f"⚑ {verdict.kind}{shown}", width, tones.by_name["warning"], hang=2)


def _machines(session: Session, row: Dimension, width: int, tones: Tones) -> list[Line]:
    """What language models gave for a dimension that the judge has scored; nothing while names are hidden."""
    if session.blindfold.active:
        return []
    lines: list[Line] = []
    own = None if session.keypad.unfinished else session.card.score(row.id)
    for judge, score, comment in session.machines.on(session.scored, row.id, own):
        said = f"{judge}, a language model: {score}" + (f" – {comment}" if comment.strip() else "")
        lines += _paragraph(" ".join(said.split()), width, tones.muted)
    return lines


def _total(session: Session, index: int) -> str:
    mean, points = session.mean(index), session.points(index)
    if mean is None:
        return "Nothing is scored yet."
    scored = sum(session.cards[index].score(d.id) is not None for d in session.rubric.dimensions)
    parts = [
        f"Weighted mean {mean} ({session.rubric.letter(mean)}) over {scored} of "
        f"{len(session.rubric.dimensions)} dimensions."
    ]
    if points is not None:
        parts.append(f"Counts as {points} ({session.rubric.letter(points)}).")
    return " ".join(parts)


def _levels(
    row: Dimension, score: int | None, width: int, tones: Tones, *, only_reached: bool = False
) -> list[Line]:
    """What the score says, or the other levels: the first stands at the top, in view on any screen."""
    reached = row.level(score)
    levels = sorted(row.levels.items(), reverse=True)
    shown = [(f"{at:>3}", text) for at, text in levels if ((at, text) == reached) == only_reached]
    if only_reached and reached is None and score is not None and levels:
        shown = [("   ", f"below {levels[-1][0]}, the lowest level")]
    lines: list[Line] = []
    for at, text in shown:
        for number, part in enumerate(wrapped(text, max(width - 8, 8))):
            head = f" {'▸' if only_reached else ' '} {at} " if not number else " " * 7
            tone = tones.by_name["primary"] if only_reached else tones.muted
            lines.append(((head, tone), (part, tones.text if only_reached else tones.muted)))
    return lines


def _checks(session: Session, row: Dimension, index: int, width: int, tones: Tones) -> list[Line]:
    verdicts = session.verdicts(index)
    lines: list[Line] = []
    for check in row.checks:
        verdict = verdicts.get(check, "")
        glyph = VERDICTS.get(verdict, ("·", "muted"))[0]
        lines.append(
            (
                (f"   {glyph} ", tones.verdict(verdict)),
                (fit(check, max(width - 16, 8)), tones.muted),
                (f" {verdict or 'not run'}", tones.verdict(verdict)),
            )
        )
    return [(("", tones.muted),), *lines] if lines else []


def _comment(text: str, what: str, width: int, tones: Tones, edits: str) -> list[Line]:
    if not text:
        return [((f" ✎ no {what}: {edits} writes one", tones.muted),)]
    shown = wrapped(text, max(width - 4, 8))
    return [
        ((" ✎ " if not number else "   ", tones.by_name["accent"]), (part, tones.text))
        for number, part in enumerate(shown)
    ]


def _paragraph(text: str, width: int, style: Style, *, hang: int = 0) -> list[Line]:
    parts = wrapped(text, max(width - 2 - hang, 8))
    return [
        ((" " + (" " * hang if number else ""), style), (part, style)) for number, part in enumerate(parts)
    ]
