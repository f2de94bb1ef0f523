"""Keys of packets: which submission each letter is, kept where no judge reads it by chance.

A key beside its packet would tell a program that is given the folder, and a person who has yet to judge
blind, what the packet hides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.folders import user_folder
from judge_tui.judging.storage import read_bytes, write_atomically

__all__ = ["Key", "Seat", "as_table", "keep", "kept", "keys_in", "write"]

_ID = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Seat:
    """A submission under its letter.

    Attributes:
        model: Folder name.
        digest: Of the files that are shown.
        files: Name as it is shown → name as it is.
    """

    model: str
    digest: str
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Key:
    """What a packet does not say.

    Attributes:
        id: Of the packet.
        task: Task id.
        seats: Letter → submission.
        rubric: Digest of the rubric that it shows.
        dimensions: Ids of those that it asks for; empty where that is not known.
    """

    id: str
    task: str
    seats: Mapping[str, Seat]
    rubric: str
    dimensions: tuple[str, ...] = ()


def as_table(key: Key) -> dict[str, Any]:
    """A key as values that JSON holds."""
    seats = {
        letter: {"model": seat.model, "digest": seat.digest, "files": dict(seat.files)}
        for letter, seat in key.seats.items()
    }
    return {
        "schema": 1, "packet": key.id, "task": key.task, "rubric": key.rubric,
        "dimensions": list(key.dimensions), "seats": seats,
    }  # fmt: skip


def keys_in(data: bytes, file: Path) -> dict[str, Key]:
    """The keys that a key file holds, by packet.

    Args:
        data: What it says.
        file: Where it is from, for messages.

    Raises:
        WorkspaceError: It is none.
    """
    try:
        return {one["packet"]: _key(one) for one in json.loads(data)["packets"]}
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        raise WorkspaceError(
            "is no key of a packet.", hint="judge-tui packet --key FILE writes one.", file=file
        ) from None


def _key(raw: Mapping[str, Any]) -> Key:
    seats = {
        letter: Seat(seat["model"], seat["digest"], dict(seat["files"]))
        for letter, seat in raw["seats"].items()
    }
    return Key(raw["packet"], raw["task"], seats, raw["rubric"], tuple(raw.get("dimensions", ())))


def write(keys: Sequence[Key], file: Path) -> None:
    """Write some keys into one file.

    Raises:
        WorkspaceError: It cannot be written.
    """
    told = {"schema": 1, "packets": [as_table(key) for key in keys]}
    write_atomically(file, f"{json.dumps(told, indent=1, ensure_ascii=False)}\n".encode())


def keep(keys: Sequence[Key]) -> None:
    """Keep some keys in the user's state folder, each under its packet.

    Raises:
        WorkspaceError: They cannot be written there.
    """
    for key in keys:
        try:
            write([key], _place(key.id))
        except WorkspaceError as error:
            error.hint = "Say where the key goes: --key FILE"
            raise


def kept(packet: str) -> Key | None:
    """The key that is kept of a packet; ``None`` where none is that can be read."""
    if _ID.fullmatch(packet):
        with suppress(WorkspaceError):
            if (data := read_bytes(file := _place(packet))) is not None:
                return keys_in(data, file).get(packet)
    return None


def _place(packet: str) -> Path:
    return user_folder("STATE") / "judge-tui" / "keys" / f"{packet}.json"
