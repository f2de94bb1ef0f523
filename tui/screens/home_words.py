"""What Home says in words of the cell under the cursor, and of moments."""

from __future__ import annotations

import time
from collections.abc import Iterable

from judge_tui.judging import attempt_figures
from judge_tui.judging.attempt_figures import Attempts
from judge_tui.judging.fellow_judges import Fellow
from judge_tui.judging.matchup import TIE, Matchup
from judge_tui.judging.standing import Standing
from judge_tui.tui.home_board import HomeBoard
from judge_tui.tui.look.bars import levels
from judge_tui.tui.look.palette import VERDICTS
from judge_tui.tui.widgets.bar import Part

__all__ = ["attempted", "checked", "compared", "left_by", "moment", "scored"]

#: What is left is told of so many submissions.
_TOLD = 4


def scored(said: Standing) -> list[Part]:
    """What the judge has said, in words."""
    parts: list[Part] = []
    if said.blind:
        return [(" judged blind: scores are told once the names are revealed", "accent", 0)]
    if said.judged:
        total = f"{said.points} points" if said.points is not None else "no points"
        parts.append((f" {total}{f', {said.letter}' if said.letter else ''}", "text", 0))
    elif not said.files:
        return [(" no submission", "muted", 0)]
    elif not said.begun:
        parts.append((" not scored yet", "muted", 0))
    if said.scored or said.judged:
        share = f"{said.scored} of {said.dimensions} dimensions"
        parts.append((f"{' ·' if parts else ''} {share} scored", "muted", 1))
    if said.mean is not None and not said.judged:
        parts.append((f", mean {said.mean}", "muted", 2))
    if said.notes:
        parts.append((f" · {said.notes} note{'s' * (said.notes > 1)}", "muted", 3))
    if said.newer:
        parts.append((" · read-only: written by a newer judge-tui", "warning", 0))
    if said.stale:
        parts.append((" · ~ files changed since they were scored", "warning", 0))
    if said.elsewhere:
        parts.append((" · * scored on files elsewhere", "muted", 0))
    return parts


def compared(board: HomeBoard, said: Standing) -> list[Part]:
    """What other people have given, and who won over whom, as far as either may be told."""
    parts: list[Part] = []
    if said.others and not said.blind:
        words = board.others.get((said.model, said.task), {})
        given = {name: word.points for name, word in words.items() if word.points is not None}
        if said.points is not None and given:
            # before the judge's own score they would be an anchor, and where names are hidden tell who is who
            apart = (f"{name} {points} ({_above(points - said.points)})" for name, points in given.items())
            parts.append((f" · {', '.join(apart)}", "muted", 4))
        else:
            parts.append((f" · also scored by {', '.join(said.others)}", "muted", 4))
    met = [one for one in board.told(said.task) if said.model in one.models]
    parts += [(f" · {words}", "muted", 5) for words in _met(board, said.model, met)]
    return parts


def _above(points: int) -> str:
    return f"{points:+d}" if points else "±0"


def _met(board: HomeBoard, model: str, matchups: Iterable[Matchup]) -> Iterable[str]:
    over: dict[str, list[str]] = {}
    for one in matchups:
        won = one.winner == model
        what = "won over" if won else "tied with" if one.winner == TIE else "lost to"
        whom = [other for other in one.models if other != model]
        if one.winner in one.models and not won:
            whom = [one.winner]
        elif not won and one.winner != TIE:
            continue
        over.setdefault(what, []).extend(map(board.name, whom))
    return (f"{what} {', '.join(dict.fromkeys(names))}" for what, names in over.items())


def checked(said: Standing) -> list[Part]:
    """What the stored verdicts are, in words."""
    if not said.files:
        return []
    if said.blind or said.withheld:
        # which of them there are would tell who is who
        return [("verdicts are told once the names are revealed", "muted", 1)]
    if not said.verdicts:
        return [("no verdicts of these files yet", "muted", 1)]
    return [
        (f"{VERDICTS[str(verdict)][0]} {count} {verdict}  ", VERDICTS[str(verdict)][1], 1)
        for verdict, count in said.tally
    ]


def attempted(found: Attempts | None) -> list[Part]:
    """What all attempts come to that a cell's is one of, their points as levels first."""
    if found is None:
        return []
    points = [one.points for one in found.attempts]
    drawn = f"{levels(points)} " if any(each is not None for each in points) else ""
    parts: list[Part] = [(drawn, "primary", 2)]
    told = attempt_figures.told(found)
    return parts + [(f"{' · ' if rank else ''}{part}", "accent", 3 + rank) for rank, part in enumerate(told)]


def left_by(board: HomeBoard, fellow: Fellow) -> str:
    """What a judge has still to judge, one sentence."""

    def judged(said: Standing) -> bool:
        if fellow.name == board.judge:
            return said.judged
        word = board.others.get((said.model, said.task), {}).get(fellow.name)
        return word is not None and word.judged

    left = [
        f"{board.name(said.model)} · {said.task}"
        for said in map(board.standings.get, board.cells)
        if said is not None and said.files and not judged(said)
    ]
    if not left:
        return f"{fellow.name} has judged all."
    more = f" and {len(left) - _TOLD} more" if len(left) > _TOLD else ""
    return f"{fellow.name} has left: {', '.join(left[:_TOLD])}{more}."


def moment(at: float) -> str:
    """A moment: the time of today, the day of this year, or the date."""
    try:
        then, now = time.localtime(at), time.localtime()
    except (OverflowError, ValueError, OSError):
        # no moment that a calendar has
        return ""
    today = (then.tm_year, then.tm_yday) == (now.tm_year, now.tm_yday)
    return time.strftime("%H:%M" if today else "%d %b" if then.tm_year == now.tm_year else "%Y-%m-%d", then)
