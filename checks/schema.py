"""Versions of the files that people and programs write: ``schema = 2`` at their top; absent says 1.

A :class:`Format` names its migrations, from each version to the next; its present version is what they lead
to. A file is brought to that version as it is read, and keeps its own on disk until it is written anyway.
One of a newer version may mean anything by its keys: it is read as far as it can be and never written.
docs/formats.md tells users so, and how a version is added.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from judge_tui.checks.errors import NewerSchema, WorkspaceError

__all__ = ["KEY", "MATCHUPS", "ROUND", "SCORECARD", "SUBMISSION", "Format", "Versioned"]

#: What a file calls its version.
KEY = "schema"
#: A version beyond this is a slip of the hand.
_LAST = 9999
_ASSIGNMENT = re.compile(rf"\s*(?:{KEY}|\"{KEY}\"|'{KEY}')\s*=")
_TABLE = re.compile(r"\s*\[")

#: Makes the table of a version from that of the one before. It changes what the new version says otherwise,
#: leaves every other key as it is, and may change the table in place, which is a copy.
Migration = Callable[[dict[str, Any]], dict[str, Any]]


class Versioned(Struct, frozen=True):
    """What a file says, in the present version.

    Attributes:
        raw: Its keys and values, brought to the present version; those of a newer one as they stand.
        version: The present version, or the newer one.
        migrated: Whether the file is of an older version.
    """

    raw: Mapping[str, Any]
    version: int
    migrated: bool = False


class Format(Struct, frozen=True):
    """A format and its versions.

    Attributes:
        name: What a file of it is.
        newer: What becomes of a file of a newer version, as a clause.
        migrations: From version 1 to 2, from 2 to 3, and so on.
    """

    name: str
    newer: str
    migrations: tuple[Migration, ...] = ()

    @property
    def version(self) -> int:
        """The version that is written."""
        return 1 + len(self.migrations)

    def stated(self, raw: Mapping[str, Any], text: str, file: Path) -> int:
        """The version that a file states.

        Args:
            raw: Its parsed keys and values.
            text: Its text, to find the line in.
            file: Its path.

        Raises:
            WorkspaceError: It is none; with the line.
        """
        version = raw.get(KEY, 1)
        if type(version) is not int or not 1 <= version <= _LAST:
            raise WorkspaceError(
                f"'{KEY}' must be a whole number from 1 on: the version of the format.",
                hint="Mend the file by hand; without the key it is version 1.",
                file=file,
                line=_line(text),
            )
        return version

    def read(self, raw: Mapping[str, Any], text: str, file: Path) -> Versioned:
        """What a file says, in the present version; one of a newer version as it stands.

        Args:
            raw: Its parsed keys and values; never changed.
            text: Its text, to find the line in.
            file: Its path.

        Raises:
            WorkspaceError: Its version is none; with the line.
        """
        version = self.stated(raw, text, file)
        if version >= self.version:
            return Versioned(raw, version)
        brought = copy.deepcopy(dict(raw))
        for migration in self.migrations[version - 1 :]:
            brought = migration(brought)
        return Versioned(brought | {KEY: self.version}, self.version, migrated=True)

    def refusal(self, version: int, file: Path, text: str = "") -> NewerSchema | None:
        """What is told to whoever would change a file of a version; ``None`` where it may be changed.

        Args:
            version: The file's.
            file: Its path.
            text: Its text, to find the line in, where it is at hand.
        """
        if version <= self.version:
            return None
        return NewerSchema(
            f"is a {self.name} of schema {version}, and this judge-tui knows schema {self.version}: "
            f"{self.newer} until judge-tui is updated.",
            file=file,
            line=_line(text),
        )


def _line(text: str) -> int | None:
    """The 1-based line where a text states its version."""
    for number, line in enumerate(text.split("\n"), 1):
        if _ASSIGNMENT.match(line):
            return number
        if _TABLE.match(line):
            break
    return None


SCORECARD = Format("scorecard", "it is shown as far as it can be read and stays as it is")
MATCHUPS = Format("matchup file", "it is shown as far as it can be read and stays as it is")
SUBMISSION = Format("submission.toml", "no check goes by it and it stays as it is")
ROUND = Format("round", "no report goes by it")
