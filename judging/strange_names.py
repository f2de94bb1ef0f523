"""Folders whose names hold the sign of attempts and are those of none: told, and used as they are."""

from __future__ import annotations

from collections.abc import Iterator

from judge_tui.checks.attempts import SIGN, attempt_of
from judge_tui.checks.unlisted import escaped
from judge_tui.judging.folders import readable_in
from judge_tui.judging.workspace import Workspace

__all__ = ["strange_model", "strange_names"]


def strange_names(workspace: Workspace) -> tuple[str, ...]:
    """A sentence for each folder of a model, and of a task, that is called as only an attempt can be.

    Args:
        workspace: Where the submissions are.
    """
    return tuple(_told(workspace))


def strange_model(model: str) -> str:
    """The sentence for a model whose name holds the sign of attempts."""
    return f"{escaped(model)} counts as a model of its own: rename its folder, {SIGN} is for attempts."


def _told(workspace: Workspace) -> Iterator[str]:
    tree = workspace.submissions
    for model in readable_in(tree, tree):
        if SIGN in model:
            yield strange_model(model)
        for folder in readable_in(tree / model, tree):
            if SIGN in folder and attempt_of(folder)[1] == 1:
                yield (
                    f"{escaped(model)}/{escaped(folder)} is no attempt: the first is called as its task is, "
                    f"and those behind it {SIGN}2, {SIGN}3 and so on."
                )
