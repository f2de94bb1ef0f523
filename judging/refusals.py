"""Why a scorecard or matchups of a workspace cannot be changed here: they are of a newer schema."""

from __future__ import annotations

from collections.abc import Iterable

from judge_tui.checks.errors import NewerSchema
from judge_tui.checks.schema import MATCHUPS, SCORECARD
from judge_tui.judging.card import Scorecard
from judge_tui.judging.matchup import Matchups
from judge_tui.judging.workspace import Workspace

__all__ = ["card_refusal", "matchups_refusal", "newer_cards"]


def card_refusal(workspace: Workspace, card: Scorecard) -> NewerSchema | None:
    """Why a scorecard of a workspace cannot be changed; ``None`` where it can."""
    return SCORECARD.refusal(card.schema, workspace.scorecard_path(card.task, card.model, card.judge))


def newer_cards(workspace: Workspace, tasks: Iterable[str] | None = None) -> tuple[str, ...]:
    """The scorecards of a workspace that cannot be changed, a sentence each.

    What cannot be read at all is told by others.

    Args:
        workspace: Where they are.
        tasks: Those whose cards are looked at; all by default.
    """
    read = (workspace.scorecards(task, {}) for task in (workspace.tasks() if tasks is None else tasks))
    newer = (card for cards in read for card in cards if card.schema > SCORECARD.version)
    refused = (card_refusal(workspace, card) for card in newer)
    return tuple(str(why) for why in refused if why)


def matchups_refusal(workspace: Workspace, matchups: Matchups) -> NewerSchema | None:
    """Why the matchups of a workspace cannot be changed; ``None`` where they can."""
    return MATCHUPS.refusal(matchups.schema, workspace.matchups_path(matchups.task, matchups.judge))
