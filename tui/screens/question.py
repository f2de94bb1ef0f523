"""Questions with a few answers, one key each; Escape puts them off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.harmless import box_title
from judge_tui.tui.screens.dialog import Dialog
from judge_tui.tui.widgets.key_hints import key_for, own_bindings
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.widgets import Static

__all__ = ["ConflictQuestion", "LeaveQuestion", "Question", "RevealQuestion"]


class Question(Dialog[str]):
    """Gives the name of the answer; empty when put off.

    Args:
        text: What is asked.
        details: Lines below the answers; the last ones are left out where there is no room.

    Attributes:
        heading: What it is about.
    """

    BINDINGS: ClassVar = named("question", [Binding("escape", "answer('')", "later")])

    heading: ClassVar = ""

    def __init__(self, text: str, details: Sequence[str] = ()) -> None:
        super().__init__()
        self._text, self._details = text, details

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = box_title(self.heading)
            yield Static(self._text, markup=False)
            yield Static("")
            later = key_for(self, "answer('')")
            answers: dict[str, tuple[str, str]] = {}
            for binding in own_bindings(self):
                if binding.action != "answer('')":
                    answers.setdefault(binding.action, (key_for(self, binding.action), binding.description))
            for key, answer in answers.values():
                yield Static(f"  {key:<5}{answer}", markup=False)
            yield Static(f"  {later:<5}later", classes="hint", markup=False)
            if self._details:
                yield Static("\n".join(["", *self._details]), classes="hint", markup=False)

    def action_answer(self, answer: str) -> None:
        self.dismiss(answer)


#: Lines on what differs that a question shows.
_MOST = 8


class ConflictQuestion(Question):
    """Another window has changed the same: gives ``mine`` or ``theirs``.

    Args:
        what: What was changed.
        undo: The key that brings the version back that is not chosen.
        differences: What the two versions say differently, a line each.
    """

    BINDINGS: ClassVar = named(
        "conflict",
        [
            Binding("o", "answer('mine')", "keep what is on this screen"),
            Binding("r", "answer('theirs')", "load what the other window saved"),
        ],
    )
    heading = "Changed by another window"

    def __init__(self, what: str, undo: str, differences: Sequence[str] = ()) -> None:
        more = [f"and {len(differences) - _MOST} more"] if len(differences) > _MOST else []
        super().__init__(
            f"{what} was changed by another window or program. "
            f"Either answer keeps both: undo ({undo}) brings the other one back.",
            [*differences[:_MOST], *more],
        )


class LeaveQuestion(Question):
    """What was said is not where it belongs: gives ``leave``."""

    BINDINGS: ClassVar = named("leave", [Binding("l", "answer('leave')", "leave all the same")])
    heading = "Not saved"


class RevealQuestion(Question):
    """Everything is scored: gives ``reveal``."""

    BINDINGS: ClassVar = named("reveal", [Binding("r", "answer('reveal')", "reveal the names now")])
    heading = "Reveal the names"
