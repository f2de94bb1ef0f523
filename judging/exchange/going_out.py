"""Scorecards, matchups and stored outcomes of a workspace, as records."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from judge_tui.checks.attempts import attempt_of
from judge_tui.checks.errors import JudgeError
from judge_tui.checks.store import last_outcomes
from judge_tui.judging.exchange.records import OUTCOME, card_record, matchups_record
from judge_tui.judging.folders import documents_in
from judge_tui.judging.hiding.withheld import withheld
from judge_tui.judging.matchup import Matchups
from judge_tui.judging.workspace import MATCHUPS, Workspace

__all__ = ["records"]


def records(
    workspace: Workspace,
    models: Collection[str],
    tasks: Sequence[str],
    judges: Collection[str],
    faults: list[str],
    *,
    outcomes: bool,
) -> Iterator[dict[str, Any]]:
    """Every scorecard, then every matchup file, then every stored outcome, task by task.

    What is judged blind and not revealed yet stays here: its figures would tell who is who.

    Args:
        workspace: Where they are.
        models: Folder names; all when empty.
        tasks: Ids.
        judges: Whose words; everybody's when empty.
        faults: Takes what cannot be read, and what is left out.
        outcomes: Whether the outcomes of checks that are stored on this machine come too.
    """
    sealed: set[tuple[str, str, str]] = set()
    for task in tasks:
        troubles: dict[tuple[str, str], str] = {}
        for card in workspace.scorecards(task, troubles):
            if not _wanted(card.model, card.judge, models, judges):
                continue
            if card.sealed:
                sealed.add((task, card.judge, card.model))
            else:
                yield card_record(card)
        faults += troubles.values()
    if sealed:
        some = f"{len(sealed)} scorecard{'s' if len(sealed) > 1 else ''}"
        faults.append(f"{some} judged blind, with names that are not revealed yet, stay here.")
    for task in tasks:
        for found in _matchups(workspace, task, judges, faults):
            named = {model for one in found.matchups for model in one.models}
            if any((task, found.judge, model) in sealed for model in named):
                faults.append(f"the matchups of {found.judge} on {task} stay here as well.")
            elif not models or named & set(models):
                yield matchups_record(found)
    for task in tasks if outcomes else ():
        for model in models or workspace.contestants():
            if (own := list(_outcomes(workspace, model, task))) and withheld(workspace, model, task):
                faults.append(f"the outcomes of {model} on {task} stay here until it is judged and revealed.")
                continue
            yield from own


def _matchups(
    workspace: Workspace, task: str, judges: Collection[str], faults: list[str]
) -> Iterator[Matchups]:
    for path in documents_in(workspace.root / "scores" / task / MATCHUPS):
        if not judges or path.stem in judges:
            try:
                yield workspace.matchups(task, path.stem)
            except JudgeError as error:
                faults.append(str(error))


def _wanted(model: str, judge: str, models: Collection[str], judges: Collection[str]) -> bool:
    return (not models or model in models) and (not judges or judge in judges)


def _outcomes(workspace: Workspace, model: str, task: str) -> Iterator[dict[str, Any]]:
    import msgspec

    submission = workspace.submission(model, task)
    if not submission.files:
        return
    name, attempt = attempt_of(model)
    for outcome in last_outcomes(submission).values():
        own = {"attempt": attempt, "submission": submission.digest}
        yield {"record": OUTCOME} | msgspec.to_builtins(outcome) | {"model": name} | own
