"""What is still to be judged blind: a figure beside the name of a model would tell who is who."""

from __future__ import annotations

from judge_tui.judging.workspace import Workspace

__all__ = ["withheld"]


def withheld(workspace: Workspace, model: str, task: str) -> bool:
    """Whether nothing that was found out about an answer may stand beside its name yet.

    That is so while one of its scorecards is sealed, and, where blind is the rule of the workspace, until
    somebody has scored it: a language model is nobody, and what was published is about other files.

    Args:
        workspace: Where it is.
        model: Folder name.
        task: Task id.
    """
    cards = [card for card in workspace.scorecards(task, {}) if card.model == model]
    if any(card.sealed for card in cards):
        return True
    said = (card for card in cards if not (card.by_machine or card.scored_elsewhere))
    return workspace.settings.blind and all(card.blank for card in said)
