"""The header of a comparison: what is compared by whom, what with, and whether it is saved."""

from __future__ import annotations

from judge_tui.checks.events import Ready
from judge_tui.tui.screens.comparing.blind import Blind
from judge_tui.tui.screens.comparing.checks import Checks
from judge_tui.tui.screens.comparing.saving import Saving
from judge_tui.tui.session import Session, letter_of
from judge_tui.tui.widgets.bar import Bar, Part, judge_parts, told_origins

__all__ = ["Header"]

_LEVELS = {"full": "success", "partial": "warning", "none": "error"}


class Header:
    """Fills the header.

    Args:
        bar: Where it stands.
        session: What is compared.
        checks: Knows what the engine has measured of itself.
        blind: Says how the names are hidden.
        saving: Says what is saved.
    """

    def __init__(self, bar: Bar, session: Session, checks: Checks, blind: Blind, saving: Saving) -> None:
        self._bar, self._session = bar, session
        self._checks, self._blind, self._saving = checks, blind, saving

    def tell(self) -> None:
        """Refresh it."""
        self._saving.untold = False
        session, ready = self._session, self._checks.ready or self._ready_before()
        names: list[Part] = []
        for index, title in enumerate(session.titles):
            names += [(f" {letter_of(index)} ", "primary", 0), (f"{title} ", "text", 1)]
        origin = session.hide(told_origins(s.meta.origin for s in session.submissions))
        sandbox = f"sandbox {ready.sandbox} · " if ready is not None else ""
        right: list[Part] = [
            *self._blind.parts(),
            (f"{origin} · " if origin else "", "accent", 3),
            *judge_parts(session.judge),
        ]
        if ready is not None:
            right += [
                (f"{ready.backend} {ready.device} · ", "muted", 6),
                # what does not hold is said at any width
                (sandbox, _LEVELS.get(ready.sandbox, "warning"), 4 if ready.sandbox == "full" else 0),
            ]
        right += self._saving.parts()
        self._bar.tell([(f" {session.task} ", "strong", 0), *names], right)

    def _ready_before(self) -> Ready | None:
        """What the stored verdicts were measured with, until the engine measures itself."""
        last = next(iter(self._session.outcomes.values()), None)
        return Ready(last.backend, last.device, last.sandbox, last.seed) if last and last.sandbox else None
