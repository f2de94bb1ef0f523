"""Reading documents in whatever version they are: of one of a newer schema, what can be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from judge_tui.checks.errors import NewerSchema, WorkspaceError
from judge_tui.checks.schema import Format
from judge_tui.judging.document import Table, parse_toml
from judge_tui.judging.storage import read_bytes

__all__ = ["newer_on_disk", "readable", "versioned"]

Parse = Callable[[Table], object]


def versioned(
    table: Table, format: Format, parse: Parse, stand_in: Mapping[str, Any], *, newer: bool
) -> tuple[Table, int]:
    """A document in the present version, and that version; of a newer one what can be read of it, and that.

    Args:
        table: The whole document.
        format: What it is.
        parse: Reads it, and raises ``WorkspaceError`` for what is not as it should be.
        stand_in: What it cannot do without.
        newer: Whether one of a newer schema is read; else it is refused.

    Raises:
        NewerSchema: It is of a newer schema, and that is not asked for.
        WorkspaceError: Its version is none.
    """
    found = format.read(table.raw, table.text, table.file)
    refusal = format.refusal(found.version, table.file, table.text)
    if refusal is None:
        return replace(table, raw=found.raw), found.version
    if not newer:
        raise refusal
    return readable(table, parse, stand_in), found.version


def readable(table: Table, parse: Parse, stand_in: Mapping[str, Any]) -> Table:
    """A document without what cannot be read in it: keys, entries of its tables, tables of its lists."""

    def fits(piece: Mapping[str, Any]) -> bool:
        try:
            # no text: a line is looked for at every fault, and nobody is told it
            parse(replace(table, raw={**stand_in, **piece}, text=""))
        except WorkspaceError:
            return False
        return True

    kept = dict(stand_in)
    for key, value in table.raw.items():
        part = value
        if isinstance(value, dict):
            part = {name: entry for name, entry in value.items() if fits({key: {name: entry}})}
        elif isinstance(value, list):
            part = [item for item in value if fits({key: [item]})]
        if fits({key: part}):
            kept[key] = part
    return replace(table, raw=kept)


def newer_on_disk(path: Path, format: Format) -> NewerSchema | None:
    """Why what is on disk cannot be written over; what else is wrong with it, reading tells."""
    with suppress(WorkspaceError):
        data = read_bytes(path)
        if data is not None:
            table = parse_toml(data, path)
            version = format.stated(table.raw, table.text, path)
            return format.refusal(version, path, table.text)
    return None
