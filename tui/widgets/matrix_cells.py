"""What stands in a row of Home: a cell per task, and figures of all of them beside the name."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style

from judge_tui.checks.verdict import SIGNS as SIGN_OF
from judge_tui.checks.verdict import Verdict
from judge_tui.judging.rubric import half_up
from judge_tui.judging.standing import Standing
from judge_tui.tui.home_rows import LEFT, MEAN, OTHERS, WON, RowSaid
from judge_tui.tui.look.bars import bar, level, score_tone
from judge_tui.tui.look.fitting import fit
from judge_tui.tui.look.tones import Tones
from judge_tui.tui.widgets.rows import Span

__all__ = ["FAR", "HEADS", "SIGNS", "abbreviated", "cell_spans", "joined", "row_spans"]

#: Columns of a cell that score and verdicts take, what is over being the bar's; a bar has so many at most.
_SAID, _BAR = 20, 12
#: A bar of less columns says less than the figure.
_LEAST = 4
#: Judges this far apart, in points, have read something otherwise.
FAR = 10
#: Column beside the tasks → its head.
HEADS = {MEAN: "mean", LEFT: "left", WON: "matchups", OTHERS: "others"}


def abbreviated(name: str, width: int) -> str:
    """A name cut in its middle, since names of tasks differ at both ends."""
    if len(name) <= width:
        return fit(name, width)
    tail = max(width // 2 - 1, 0)
    return fit(name[: width - 1 - tail] + "…" + name[len(name) - tail :], width)


SIGNS = (
    ("○", "a submission without a score"),
    ("·", "no submission"),
    ("✎", "words without a score"),
    ("1/7", "scored dimensions, and how many there are"),
    ("85 B", "judged: points and their letter"),
    ("~", "its files changed since it was scored"),
    ("*", "scored where these files are not"),
    ("✗2 !1 ✓9", "verdicts of its checks, the worst first"),
    ("●", "marked"),
    ("left", "answers of the model that you have not judged; ✓ for none"),
    ("matchups", "won–lost–tied, by your word"),
    ("others", "mean of other judges' points where you gave some too, and how far above yours"),
    ("▲ ▼", "sorted by this column, the lowest or the highest first; a click sorts"),
)


def cell_spans(
    said: Standing | None, width: int, tones: Tones, *, there: bool = True, marked: bool = False
) -> Sequence[Span]:
    """One cell: a mark, score or progress, verdicts, and what is off.

    Args:
        said: What is known; ``None`` while it is being read.
        width: Columns of the cell.
        tones: The theme.
        there: Whether there is a submission.
        marked: Whether it is marked.
    """
    # where the cursor is what is reversed, a blank has the ink of its neighbours
    mark = ("●", tones.by_name["accent"]) if marked else (" ", tones.text)
    if said is None:
        return [mark, (fit("  …", width - 1), tones.faint)]
    if said.fault:
        return [mark, (fit("  ! see below", width - 1), tones.by_name["error"])]
    score, style = _score(said, tones, there=there)
    sign = "~" if said.stale else "*" if said.elsewhere else " "
    room = min(width - _SAID, _BAR)
    drawn = [_bar(said.points, room, tones)] if room >= _LEAST else []
    checks = _checks(said, width - 8 - (room if drawn else 0), tones)
    used = sum(len(text) for text, _ in (*checks, *drawn))
    return [
        mark,
        (f"{score:<6}", style),
        (sign, tones.by_name["warning" if said.stale else "muted"]),
        *drawn,
        *checks,
        (" " * (width - 8 - used), tones.text),
    ]


def joined(spans: Sequence[Span]) -> list[Span]:
    """The same to the eye in as few pieces as can be: each is told the terminal with both of its colours.

    What is blank has no ink, and goes with what stands before it on the same ground.
    """
    found: list[Span] = []
    for text, style in spans:
        before = found[-1] if found else None
        same = before is not None and (
            before[1] == style or (text.isspace() and _ground(before[1]) == _ground(style))
        )
        if before is not None and same:
            found[-1] = (before[0] + text, before[1])
        elif text:
            found.append((text, style))
    return found


def _ground(style: Style) -> tuple[object, ...]:
    """What of a style is seen where nothing is written."""
    return style.bgcolor, style.reverse, style.underline, style.strike


def row_spans(said: RowSaid, columns: Sequence[tuple[str, int]], tones: Tones) -> list[Span]:
    """The figures of a row, each in its column.

    Args:
        said: They.
        columns: Ids and widths.
        tones: The theme.
    """
    spans: list[Span] = []
    for column, width in columns:
        drawn = list(_figure(said, column, width, tones))
        used = sum(len(text) for text, _ in drawn)
        spans += [*drawn, (" " * (width - used), tones.text)]
    return spans


def _figure(said: RowSaid, column: str, width: int, tones: Tones) -> Sequence[Span]:
    if column == MEAN:
        if said.mean is None:
            return [("   –", tones.faint)]
        figure, share = half_up(said.mean), said.mean / 100
        room = width - 6
        drawn = bar(share, room) if room >= _LEAST else level(share)
        return [(f"{figure:>4} ", tones.strong), (drawn, tones.by_name[score_tone(said.mean)])]
    if column == LEFT:
        left = str(said.left or ("✓" if said.there else ""))
        return [(f"{left:>4}", tones.by_name["primary"] if said.left else tones.muted)]
    if column == WON:
        if not said.won + said.lost + said.tied:
            return [("   –", tones.faint)]
        return [(f" {said.won}–{said.lost}{f'–{said.tied}' if said.tied else ''}"[: width - 1], tones.text)]
    if said.others is None:
        return [("   –", tones.faint)]
    by = half_up(said.above)
    sign = f"{'+' if by > 0 else '−' if by < 0 else '±'}{abs(by)}"
    far = "warning" if abs(by) >= FAR else "muted"
    return [(f"{half_up(said.others):>4} ", tones.text), (f"{sign:<4}", tones.by_name[far])]


def _bar(points: int | None, width: int, tones: Tones) -> Span:
    """A score as a bar, and a column free behind it."""
    if points is None:
        return " " * width, tones.text
    return f"{bar(points / 100, width - 1)} ", tones.by_name[score_tone(points)]


def _score(said: Standing, tones: Tones, *, there: bool) -> Span:
    if said.blind:
        return " blind", tones.by_name["accent"]
    if said.judged:
        points = f"{said.points:>3}" if said.points is not None else "  –"
        return f"{points} {said.letter}", tones.text if said.stale else tones.strong
    if said.scored:
        return f" {said.scored}/{said.dimensions}", tones.by_name["primary"]
    if said.begun:
        return "  ✎", tones.by_name["primary"]
    return ("  ○", tones.muted) if there else ("  ·", tones.faint)


def _checks(said: Standing, width: int, tones: Tones) -> list[Span]:
    """Verdicts with their counts, the worst first; where room is short, the worst, then the passes, stay."""
    texts = {verdict: f" {SIGN_OF[verdict]}{count}" for verdict, count in said.tally}
    worst = next(iter(texts), None)
    if worst is not None and len(texts[worst]) > width:
        texts[worst] = texts[worst][:2]
    room, kept = width, set()
    for verdict in sorted(texts, key=lambda verdict: (verdict != worst, verdict is not Verdict.PASS)):
        if len(texts[verdict]) <= room:
            kept.add(verdict)
            room -= len(texts[verdict])
    return [(text, tones.verdict(str(verdict))) for verdict, text in texts.items() if verdict in kept]
