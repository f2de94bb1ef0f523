"""Matchups: one judge's word on two or three submissions, criterion by criterion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge_tui.judging.document import Inline, Table, parse_toml, read_document, render_toml, storable
from judge_tui.judging.scorecard import SCHEMA, FileStamp, write_atomically

__all__ = [
    "TIE",
    "Criterion",
    "Matchup",
    "Matchups",
    "load_matchups",
    "parse_matchups",
    "render_matchups",
    "save_matchups",
]

#: Edge or winner when nobody is ahead.
TIE = "tie"


@dataclass(frozen=True, slots=True)
class Criterion:
    """One line of a comparison.

    Attributes:
        name: What is compared.
        cells: Model → what it shows.
        edge: The model that is ahead, ``"tie"``, or ``None``.
        extra: Keys of the file that this version does not know.
        note: What the judge added to the edge: by how much, or in which respect.
    """

    name: str
    cells: Mapping[str, str] = field(default_factory=dict, hash=False)
    edge: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Matchup:
    """One comparison.

    Attributes:
        models: Folder names, in the order of the columns.
        winner: A model, ``"tie"``, another word of the judge (``"split"``), or ``None``.
        margin: Points between the winner and the next.
        key_differentiator: What decided.
        criteria: In the order of the file.
        source: Where it was published.
        extra: Keys of the file that this version does not know.
    """

    models: tuple[str, ...]
    winner: str | None = None
    margin: int | None = None
    key_differentiator: str = ""
    criteria: tuple[Criterion, ...] = ()
    source: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def edges(self) -> dict[str, int]:
        """Model → criteria in which it is ahead; ties under ``"tie"``."""
        tally = dict.fromkeys((*self.models, TIE), 0)
        for criterion in self.criteria:
            if criterion.edge in tally:
                tally[criterion.edge] += 1
        return tally


@dataclass(frozen=True, slots=True)
class Matchups:
    """A judge's matchups on one task."""

    task: str
    judge: str
    matchups: tuple[Matchup, ...] = ()
    schema: int = SCHEMA
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)


def load_matchups(path: Path) -> Matchups:
    """Read a judge's matchups.

    Raises:
        WorkspaceError: The file is missing, unreadable or malformed; with file and line.
    """
    return _matchups(read_document(path))


def parse_matchups(data: bytes, file: Path) -> Matchups:
    """Read the bytes of a matchup file.

    Raises:
        WorkspaceError: They are malformed; with the line.
    """
    return _matchups(parse_toml(data, file))


def _matchups(table: Table) -> Matchups:
    schema = table.integer("schema", SCHEMA)
    if schema != SCHEMA:
        raise table.fault(f"has schema {schema}, and this judge-tui reads schema {SCHEMA}", "schema")
    return Matchups(
        table.string("task"),
        table.string("judge"),
        tuple(_matchup(item) for item in table.tables("matchups")),
        schema,
        table.extra("schema", "task", "judge", "matchups"),
    )


def _matchup(table: Table) -> Matchup:
    models = table.strings("models")
    if len(models) < 2 or len(set(models)) != len(models):
        raise table.fault("'models' must name two or more different models", "models")
    return Matchup(
        models,
        table.optional_string("winner"),
        table.points("margin"),
        table.string("key_differentiator", ""),
        tuple(_criterion(item, models) for item in table.tables("criteria")),
        table.string("source", ""),
        table.extra("models", "winner", "margin", "key_differentiator", "criteria", "source"),
    )


def _criterion(table: Table, models: tuple[str, ...]) -> Criterion:
    cells = table.table("cells")
    edge = table.optional_string("edge")
    if edge is not None and edge not in (*models, TIE):
        raise table.fault(f"'edge' must be one of the models or '{TIE}', not '{edge}'", "edge")
    return Criterion(
        table.string("name"),
        {model: cells.string(model) for model in cells.raw},
        edge,
        table.extra("name", "cells", "edge", "note"),
        table.string("note", ""),
    )


def render_matchups(matchups: Matchups) -> str:
    """The matchups as TOML text, in stable order; what is absent is left out."""
    raw = {"schema": matchups.schema, "task": matchups.task, "judge": matchups.judge, **matchups.extra}
    return render_toml(raw | {"matchups": [_rendered(matchup) for matchup in matchups.matchups]})


def _rendered(matchup: Matchup) -> dict[str, Any]:
    raw = {
        "models": list(matchup.models), "winner": matchup.winner, "margin": matchup.margin,
        "key_differentiator": storable(matchup.key_differentiator) or None,
        "source": storable(matchup.source) or None,
    }  # fmt: skip
    criteria = [
        {"name": storable(criterion.name), "cells": Inline(criterion.cells)}
        | ({"edge": criterion.edge} if criterion.edge is not None else {})
        | ({"note": storable(criterion.note)} if criterion.note else {})
        | dict(criterion.extra)
        for criterion in matchup.criteria
    ]
    kept = {key: value for key, value in raw.items() if value is not None}
    return kept | dict(matchup.extra) | ({"criteria": criteria} if criteria else {})


def save_matchups(path: Path, matchups: Matchups, expected: FileStamp | None) -> FileStamp:
    """Write a judge's matchups, as :func:`judge_tui.judging.scorecard.save_scorecard` does.

    Raises:
        Conflict: Something else than ``expected`` is on disk.
        WorkspaceError: The folder or file cannot be written.
    """
    data = render_matchups(matchups).encode()
    write_atomically(path, data, expected)
    return FileStamp.of(data)
