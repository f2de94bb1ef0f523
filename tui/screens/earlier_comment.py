"""What the judge once wrote of a dimension, offered again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from textual.screen import Screen

from judge_tui.judging.comment_bank import Earlier, earlier_comments
from judge_tui.judging.rubric import Dimension
from judge_tui.tui.screens.picker import Choice, Picker
from judge_tui.tui.session import Session
from judge_tui.tui.widgets.code_pane import CodePane

__all__ = ["offer_earlier"]


def offer_earlier(
    screen: Screen[None], session: Session, pane: CodePane, changed: Callable[[], None]
) -> None:
    """Offer the comments of earlier on the dimension in focus; one that is picked goes behind what stands.

    Args:
        screen: Where it is asked.
        session: The comparison.
        pane: Reads beside the event loop.
        changed: Called when one was taken.
    """
    index, row = session.scored, session.focus
    if session.refuses(index):
        return
    if not isinstance(row, Dimension):
        screen.notify("Comments of earlier are offered for a dimension.", markup=False, timeout=3)
        return

    def picked(text: Hashable | None) -> None:
        if isinstance(text, str):
            stands = session.changes[index].comment(row.id).rstrip()
            session.seal()
            session.set_text(f"{stands}\n\n{text}" if stands else text, index=index, row=row)
            session.seal()
            changed()

    def offered(found: Sequence[Earlier]) -> None:
        stands = session.changes[index].comment(row.id)
        choices = [
            Choice(session.hide(" ".join(one.text.split())), _aside(one, session.hide), one.text)
            for one in found
            if one.text not in stands
        ]
        if not choices:
            told = f"No comment on {row.title} was written before."
            screen.notify(told, markup=False, timeout=3)
            return
        title = f"{row.title}, written before"
        screen.app.push_screen(Picker(title, choices, does="puts it into the comment"), picked)

    here = session.task, session.submissions[index].model
    pane.submit(lambda: earlier_comments(session.workspace, session.judge, row.id, but=here), offered)


def _aside(one: Earlier, hide: Callable[[str], str]) -> str:
    score = "" if one.score is None else f"{one.score} · "
    return f"{score}{hide(one.model)} {one.task}"
