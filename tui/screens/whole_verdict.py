"""What a judge calls a submission as a whole, chosen from a list, and the note that shows it."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from msgspec.structs import replace
from textual.screen import Screen

from judge_tui.judging.card import CLEAN, VERDICTS, CellVerdict
from judge_tui.tui.desk.card_desk import letter_of
from judge_tui.tui.screens.picker import Choice, Picker
from judge_tui.tui.session import Session

__all__ = ["ask_verdict"]

#: What is picked where nothing is to be said, or shown.
_NOTHING = ""
#: What each means, as a board's reader takes it.
_MEANING = {
    CLEAN: "it is what it says that it is",
    "rubric leak": "it was written to the rubric, not to the task",
    "reward hack": "it gets its points without doing the work",
    "interesting": "worth reading, whatever its points",
    "bug": "one fault decides",
}


def ask_verdict(screen: Screen[None], session: Session, changed: Callable[[], None]) -> None:
    """Ask what the submission in focus is as a whole, then which of its notes shows that.

    Args:
        screen: Where it is asked.
        session: The comparison.
        changed: Called when something else is said than before.
    """
    index = session.scored
    if session.refuses(index):
        return

    def said(verdict: CellVerdict | None) -> None:
        session.seal()
        label = "no verdict as a whole" if verdict is None else f"{verdict.kind}, as a whole"
        session.change(index, label, replace(session.cards[index], verdict=verdict))
        session.seal()
        changed()

    def kind_picked(kind: Hashable | None) -> None:
        if not isinstance(kind, str):
            return
        if kind == _NOTHING:
            said(None)
            return
        stands = session.cards[index].verdict
        given = CellVerdict(kind) if stands is None else replace(stands, kind=kind)
        notes = [
            Choice(session.hide(" ".join(note.text.split()) or note.kind), note.where, note.id)
            for note in session.cards[index].notes
        ]
        if kind == CLEAN or not notes:
            said(replace(given, note=""))
            return

        def note_picked(note: Hashable | None) -> None:
            if isinstance(note, str):
                said(replace(given, note=note))

        title = f"The note that shows it: {kind}"
        shown = [Choice("none of them", "", _NOTHING), *notes]
        screen.app.push_screen(Picker(title, shown, given.note, does="says so"), note_picked)

    stands = session.cards[index].verdict
    choices = [Choice(kind, _MEANING[kind], kind) for kind in VERDICTS]
    if stands is not None:
        choices.append(Choice("say nothing", "takes it away", _NOTHING))
    title = f"What {letter_of(index)} {session.titles[index]} is, as a whole"
    chosen = stands.kind if stands is not None else None
    screen.app.push_screen(Picker(title, choices, chosen, does="says so"), kind_picked)
