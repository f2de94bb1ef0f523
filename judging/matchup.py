"""Matchups: one judge's word on two or three submissions, criterion by criterion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from judge_tui.checks.schema import KEY, MATCHUPS
from judge_tui.judging.document import Inline, Table, parse_toml, read_document, render_toml, storable
from judge_tui.judging.newer import newer_on_disk, versioned
from judge_tui.judging.storage import Conflict, FileStamp, read_bytes, write_atomically

__all__ = [
    "TIE",
    "Criterion",
    "Matchup",
    "Matchups",
    "load_matchups",
    "parse_matchups",
    "read_matchups",
    "render_matchups",
    "save_matchup",
    "save_matchups",
    "stamp_of",
]

#: Edge or winner when nobody is ahead.
TIE = "tie"
#: How often a save looks again when another window writes at the same moment.
_TRIES = 5


class Criterion(Struct, frozen=True):
    """One line of a comparison.

    Attributes:
        name: What is compared.
        cells: Model → what it shows.
        edge: The model that is ahead, ``"tie"``, or ``None``.
        extra: Keys of the file that this version does not know.
        note: What the judge added to the edge: by how much, or in which respect.
        basis: What it was proposed from (``"check:peak_memory"``); empty for the judge's own.
    """

    name: str
    cells: Mapping[str, str] = field(default_factory=dict)
    edge: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    basis: str = ""


class Matchup(Struct, frozen=True):
    """One comparison.

    Attributes:
        models: Folder names, in the order of the columns.
        winner: A model, ``"tie"``, another word of the judge (``"split"``), or ``None``.
        margin: Points between the winner and the next.
        key_differentiator: What decided.
        criteria: In the order of the file.
        source: Where it was published.
        extra: Keys of the file that this version does not know.
        declined: Bases of proposals that the judge turned down.
        submissions: Model → digest of the files that the winner was decided on; empty when not known.
    """

    models: tuple[str, ...]
    winner: str | None = None
    margin: int | None = None
    key_differentiator: str = ""
    criteria: tuple[Criterion, ...] = ()
    source: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    declined: tuple[str, ...] = ()
    submissions: Mapping[str, str] = field(default_factory=dict)

    def __hash__(self) -> int:
        # tables have no hash; what differs in them alone is told apart by equality
        return hash((self.models, self.source, self.winner))

    @property
    def blank(self) -> bool:
        """Whether it says nothing; on which files is no word of the judge."""
        return replace(self, submissions={}) == Matchup(self.models)

    @property
    def decided(self) -> bool:
        """Whether the judge has named a winner, or a tie."""
        return self.winner is not None

    def stale(self, digests: Mapping[str, str]) -> bool:
        """Whether the winner was decided on other files.

        Args:
            digests: Model → digest of its files now; one that is not known changes nothing.
        """
        seen = self.submissions
        return self.decided and any(
            model in seen and digest != seen[model] for model, digest in digests.items() if digest
        )

    def edges(self) -> dict[str, int]:
        """Model → criteria in which it is ahead; ties under ``"tie"``."""
        tally = dict.fromkeys((*self.models, TIE), 0)
        for criterion in self.criteria:
            if criterion.edge in tally:
                tally[criterion.edge] += 1
        return tally


class Matchups(Struct, frozen=True):
    """A judge's matchups on one task.

    Attributes:
        task: Task id.
        judge: The judge's name.
        matchups: In the order of the file.
        schema: Version of the file format; one that is newer than is known was read as far as it could be.
        extra: Keys of the file that this version does not know.
    """

    task: str
    judge: str
    matchups: tuple[Matchup, ...] = ()
    schema: int = MATCHUPS.version
    extra: Mapping[str, Any] = field(default_factory=dict)

    def between(self, models: Iterable[str], source: str = "") -> Matchup:
        """The judge's matchup of exactly these models, in whatever order; a blank one when there is none.

        Args:
            models: Folder names.
            source: Where it was published; the judge's own by default, which one that was published is not.
        """
        wanted = tuple(models)
        found = (one for one in self._of(wanted) if one.source == source)
        return next(found, Matchup(wanted))

    def published(self, models: Iterable[str]) -> tuple[Matchup, ...]:
        """What the judge has published elsewhere on exactly these models."""
        return tuple(one for one in self._of(models) if one.source)

    def with_matchup(self, matchup: Matchup) -> Matchups:
        """The matchups with one in the place of that of its models and source; a blank one is taken out."""
        old = self.between(matchup.models, matchup.source)
        kept = tuple(matchup if one is old else one for one in self.matchups)
        if not any(one is old for one in self.matchups):
            kept = (*kept, matchup)
        return replace(self, matchups=tuple(one for one in kept if not one.blank))

    def _of(self, models: Iterable[str]) -> list[Matchup]:
        wanted = frozenset(models)
        return [one for one in self.matchups if frozenset(one.models) == wanted]


def load_matchups(path: Path) -> Matchups:
    """Read a judge's matchups.

    Raises:
        WorkspaceError: The file is missing, unreadable or malformed; with file and line.
    """
    return _versioned(read_document(path), newer=True)


def read_matchups(path: Path) -> Matchups | None:
    """Read a judge's matchups; ``None`` when there is no file.

    Those of a newer schema are read as far as they can be.

    Raises:
        WorkspaceError: The file is unreadable or malformed; with file and line.
    """
    data = read_bytes(path)
    return None if data is None else _versioned(parse_toml(data, path), newer=True)


def parse_matchups(data: bytes, file: Path) -> Matchups:
    """Read the bytes of a matchup file, to go on writing it.

    Raises:
        NewerSchema: They are of a newer schema.
        WorkspaceError: They are malformed; with the line.
    """
    return _versioned(parse_toml(data, file), newer=False)


def _versioned(whole: Table, *, newer: bool) -> Matchups:
    table, schema = versioned(whole, MATCHUPS, _matchups, {"task": "", "judge": ""}, newer=newer)
    return replace(_matchups(table), schema=schema)


def _matchups(table: Table) -> Matchups:
    return Matchups(
        table.string("task"),
        table.string("judge"),
        tuple(_matchup(item) for item in table.tables("matchups")),
        extra=table.extra(KEY, "task", "judge", "matchups"),
    )


def _matchup(table: Table) -> Matchup:
    models = table.strings("models")
    seen = table.table("submissions")
    if len(models) < 2 or len(set(models)) != len(models):
        raise table.fault("'models' must name two or more different models", "models")
    return Matchup(
        models,
        table.optional_string("winner"),
        table.points("margin"),
        table.string("key_differentiator", ""),
        tuple(_criterion(item, models) for item in table.tables("criteria")),
        table.string("source", ""),
        table.extra(
            "models",
            "winner",
            "margin",
            "key_differentiator",
            "criteria",
            "source",
            "declined",
            "submissions",
        ),
        table.strings("declined"),
        {model: seen.string(model) for model in seen.raw},
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
        table.extra("name", "cells", "edge", "note", "basis"),
        table.string("note", ""),
        table.string("basis", ""),
    )


def render_matchups(matchups: Matchups) -> str:
    """The matchups as TOML text, in stable order; what is absent is left out."""
    return render_toml(matchups_table(matchups))


def matchups_table(matchups: Matchups) -> dict[str, Any]:
    """The matchups as the keys and values of their file, in stable order; what is absent is left out."""
    raw = {"schema": matchups.schema, "task": matchups.task, "judge": matchups.judge, **matchups.extra}
    return raw | {"matchups": [_rendered(matchup) for matchup in matchups.matchups]}


def matchups_of(table: Table) -> Matchups:
    """The matchups that the keys and values of a file say, from wherever they are.

    Raises:
        NewerSchema: They are of a newer schema.
        WorkspaceError: They are malformed.
    """
    return _versioned(table, newer=False)


def _rendered(matchup: Matchup) -> dict[str, Any]:
    raw = {
        "models": list(matchup.models), "winner": matchup.winner, "margin": matchup.margin,
        "key_differentiator": storable(matchup.key_differentiator) or None,
        "source": storable(matchup.source) or None,
        "declined": [storable(basis) for basis in matchup.declined] or None,
        "submissions": Inline(matchup.submissions) or None,
    }  # fmt: skip
    criteria = [
        {"name": storable(criterion.name), "cells": Inline(criterion.cells)}
        | ({"edge": criterion.edge} if criterion.edge is not None else {})
        | ({"note": storable(criterion.note)} if criterion.note else {})
        | ({"basis": storable(criterion.basis)} if criterion.basis else {})
        | dict(criterion.extra)
        for criterion in matchup.criteria
    ]
    kept = {key: value for key, value in raw.items() if value is not None}
    return kept | dict(matchup.extra) | ({"criteria": criteria} if criteria else {})


def stamp_of(matchups: Matchups, models: Iterable[str], source: str = "") -> FileStamp | None:
    """Identifies what a file says on one matchup, as :meth:`Matchups.between`; ``None`` for nothing."""
    found = matchups.between(models, source)
    said = render_matchups(Matchups("", "", (found,)))
    return None if found.blank else FileStamp.of(said.encode())


def save_matchup(
    path: Path, matchup: Matchup, head: Matchups, expected: FileStamp | None
) -> FileStamp | None:
    """Write one matchup into a judge's file, the others kept as they are on disk by then.

    Two windows may so write different matchups of one file; only the same one is a conflict.

    Args:
        path: The file; made when it is not there.
        matchup: The matchup.
        head: Task and judge, for a new file.
        expected: What is believed to be on disk of this matchup, as :func:`stamp_of` says it.

    Returns:
        The stamp of what is on disk of it now.

    Raises:
        NewerSchema: What is on disk is of a newer schema.
        Conflict: Something else is on disk.
        WorkspaceError: The file cannot be read or written.
    """
    for patience in reversed(range(_TRIES)):
        data = read_bytes(path)
        present = replace(head, matchups=()) if data is None else parse_matchups(data, path)
        if stamp_of(present, matchup.models, matchup.source) != expected:
            raise Conflict(
                "was changed by another window or program since it was read.",
                hint="Load it again, or save over it.",
                file=path,
            )
        whole = present.with_matchup(matchup)
        if data is None and not whole.matchups:
            return None
        try:
            write_atomically(
                path, render_matchups(whole).encode(), None if data is None else FileStamp.of(data)
            )
        except Conflict:
            # another window wrote between our reading and writing: look again what it wrote
            if not patience:
                raise
            continue
        return stamp_of(whole, matchup.models, matchup.source)
    raise AssertionError("the last try returns or raises")


def save_matchups(path: Path, matchups: Matchups, expected: FileStamp | None) -> FileStamp:
    """Write a judge's matchups, as :func:`judge_tui.judging.scorecard.save_scorecard` does.

    Raises:
        NewerSchema: The matchups, or what is on disk, are of a newer schema.
        Conflict: Something else than ``expected`` is on disk.
        WorkspaceError: The folder or file cannot be written.
    """
    if refusal := MATCHUPS.refusal(matchups.schema, path) or newer_on_disk(path, MATCHUPS):
        raise refusal
    data = render_matchups(matchups).encode()
    write_atomically(path, data, expected)
    return FileStamp.of(data)
