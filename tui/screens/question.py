"""Questions with a few answers, one key each; Escape puts them off."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from textwrap import wrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.widgets import Static

from judge_tui.judging.versions import Differing
from judge_tui.tui.keys.bound_keys import key_for, own_bindings
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.fitting import fit
from judge_tui.tui.look.harmless import box_title
from judge_tui.tui.screens.dialog import Dialog

__all__ = ["ConflictQuestion", "LeaveQuestion", "Question", "RevealQuestion", "TheirsQuestion"]


#: Columns of the box at most, and of its edges; rows of its edges, and rows that details have at least.
_WIDEST, _EDGES, _RULES, _FEWEST = 120, 4, 2, 4
#: What puts a question off.
_LATER = "answer('')"
#: Columns before a text that say whose it is.
_SAYS = len("  before ")


class Question(Dialog[str]):
    """Gives the name of the answer; empty when put off.

    Args:
        text: What is asked.

    Attributes:
        heading: What it is about.
    """

    BINDINGS: ClassVar = named("question", [Binding("escape", "answer('')", "later")])

    heading: ClassVar = ""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def details(self, width: int, rows: int) -> Sequence[str]:
        """Lines below the answers.

        Args:
            width: Columns that there are for them.
            rows: How many there is room for.
        """
        return ()

    def offers(self, action: str) -> bool:
        """Whether an answer is among those that are shown; what puts it off stands below them."""
        return action != _LATER

    def compose(self) -> ComposeResult:
        width, height = self.app.size
        width, rows = min(width, _WIDEST) - _EDGES, height * 9 // 10 - _RULES
        text, answers = wrap(self._text, width), self._answers()
        later = f"  {key_for(self, _LATER):<5}later"
        # what is asked, the answers with what puts it off, and the details, each with a line between
        left = rows - len(text) - len(answers) - 3
        details = self.details(width, max(left, _FEWEST))
        with Vertical() as box:
            box.border_title = box_title(self.heading)
            if left < (len(details) if details else -1):
                yield from self._tight(text, answers, later, width, rows)
                return
            yield Static(self._text, markup=False)
            yield Static("")
            yield from (Static(answer, markup=False) for answer in answers)
            yield Static(later, classes="hint", markup=False)
            if details:
                yield Static("\n".join(["", *details]), classes="hint", markup=False)

    def _tight(
        self, text: Sequence[str], answers: Sequence[str], later: str, width: int, rows: int
    ) -> ComposeResult:
        """Where there is no room for all: what the answers decide between, and they, come first."""
        left = max(rows - len(answers), 1)
        details = self.details(width, left)
        told = text[: left - len(details)]
        if told and len(told) < len(text):
            told = [
                *told[:-1],
                fit(f"{told[-1]} …", width).rstrip() if len(told[-1]) < width - 1 else told[-1],
            ]
        for line in (*told, *details, *(fit(answer, width).rstrip() for answer in answers)):
            yield Static(line, markup=False)
        if len(told) + len(details) < left:
            yield Static(later, classes="hint", markup=False)

    def _answers(self) -> list[str]:
        """The answers, a line each."""
        found: dict[str, str] = {}
        for binding in own_bindings(self):
            if self.offers(binding.action):
                found.setdefault(binding.action, f"  {key_for(self, binding.action):<5}{binding.description}")
        return list(found.values())

    def action_answer(self, answer: str) -> None:
        self.dismiss(answer)


class _Comparing(Question):
    """A question about two versions, which shows what they say differently.

    Args:
        text: What is asked.
        differences: What the two versions say differently.

    Attributes:
        sides: What they are called.
    """

    sides: ClassVar = ("here", "there")

    def __init__(self, text: str, differences: Sequence[Differing] = ()) -> None:
        super().__init__(text)
        self._differences = differences

    def details(self, width: int, rows: int) -> Sequence[str]:
        lines: list[str] = []
        for told, one in enumerate(self._differences):
            more = _told(one, width, self.sides)
            left = len(self._differences) - told
            if len(lines) + len(more) + (left > 1) > rows and (lines or rows < len(more)):
                return [*lines, f"and {left} more"] if lines else more[:rows]
            lines += more
        return lines


class ConflictQuestion(_Comparing):
    """Another window has changed the same: gives ``mine`` or ``theirs``, or one of them for ``all``.

    Args:
        what: What was changed.
        undo: The key that brings the version back that is not chosen.
        differences: What the two versions say differently.
        left: How many questions are left with this one.
    """

    BINDINGS: ClassVar = named(
        "conflict",
        [
            Binding("o", "answer('mine')", "keep what is on this screen"),
            Binding("r", "answer('theirs')", "load what the other window saved"),
            Binding("O", "answer('mine all')", "keep this screen's, in all that is left"),
            Binding("R", "answer('theirs all')", "load the other's, in all that is left"),
        ],
    )
    heading = "Changed by another window"

    def __init__(self, what: str, undo: str, differences: Sequence[Differing] = (), *, left: int = 1) -> None:
        self._left = left
        super().__init__(
            f"{what} was changed by another window or program{f' in {left} places' if left > 1 else ''}. "
            f"Either answer keeps both: undo ({undo}) brings the other one back.",
            differences,
        )

    def offers(self, action: str) -> bool:
        return super().offers(action) and (self._left > 1 or "all" not in action)


class TheirsQuestion(_Comparing):
    """What undo would take back next was written by another window or program: gives ``take``.

    Args:
        what: What was changed.
        over: Whether it was written over what was changed here; else nothing of that is left.
        differences: What is said now, and what was said before.
    """

    BINDINGS: ClassVar = named("theirs", [Binding("t", "answer('take')", "take their change back")])
    heading = "Not your change"
    sides = ("now", "before")

    def __init__(self, what: str, *, over: bool, differences: Sequence[Differing] = ()) -> None:
        why = (
            "Your last change was written over by another window or program."
            if over
            else "No change of your own is left to undo. The last one is of another window or program."
        )
        super().__init__(f"{what}: {why}", differences)


def _told(one: Differing, width: int, sides: tuple[str, str]) -> list[str]:
    """What differs, in lines of so many columns; of long texts, the part where they begin to differ."""
    if not one.prose:
        return [fit(one.between(*sides), width).rstrip()]
    texts = [" ".join(text.split()) for text in (one.here, one.there)]
    room = width - _SAYS
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False)))
    if same > room // 2 and max(map(len, texts)) > room:
        texts = [f"…{text[same - room // 3 :].lstrip()}" for text in texts]
    says = [f"  {side:<{_SAYS - 2}}{text}" for side, text in zip(sides, texts, strict=True) if text]
    head = f"{one.what}:" if all(texts) else one.between(*sides)
    return [fit(line, width).rstrip() for line in (head, *says)]


class LeaveQuestion(Question):
    """What was said is not where it belongs: gives ``leave``."""

    BINDINGS: ClassVar = named("leave", [Binding("l", "answer('leave')", "leave all the same")])
    heading = "Not saved"


class RevealQuestion(Question):
    """Everything is scored: gives ``reveal``."""

    BINDINGS: ClassVar = named("reveal", [Binding("r", "answer('reveal')", "reveal the names now")])
    heading = "Reveal the names"
