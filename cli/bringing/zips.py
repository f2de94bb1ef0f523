"""Zip archives: nothing that their headers say is believed but the names, and those are looked at."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Iterator

from judge_tui.cli.bringing.brought import Brought, Refused
from judge_tui.cli.bringing.gathering import Gathering

__all__ = ["from_zip"]

_PIECE = 1 << 16
_ENTRY = b"PK\x01\x02"
#: Entries that are looked at, those that are left out included.
_MOST_ENTRIES = 100_000
_ENCRYPTED, _UTF8 = 0x1, 0x800


def from_zip(data: bytes) -> Brought:
    """The files of a zip archive.

    Args:
        data: The archive.

    Raises:
        Refused: It is damaged, or holds too much.
    """
    # the directory is made whole before anything can be counted in it
    if data.count(_ENTRY) > _MOST_ENTRIES:
        raise Refused(f"is a zip archive of more than {_MOST_ENTRIES:,} entries.")
    try:
        return _unpacked(data)
    except Refused:
        raise
    # what zipfile and the decompressors below it raise of damaged bytes is in no list
    except Exception as error:
        raise Refused(f"is a zip archive that cannot be unpacked: {_reason(error)}.") from error


def _unpacked(data: bytes) -> Brought:
    gathered = Gathering(unpacks=True)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for entry in archive.infolist():
            if not entry.filename.endswith("/") and (name := _wanted(gathered, entry)):
                gathered.take(name, _pieces(archive, entry))
    return gathered.brought()


def _wanted(gathered: Gathering, entry: zipfile.ZipInfo) -> str:
    # zipfile cuts a name at a zero, and turns the separators of the system that it runs on
    name = gathered.wants(_name(entry))
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if name and stat.S_ISLNK(kind):
        return gathered.leave(name, "a link")
    if name and kind not in (0, stat.S_IFREG):
        return gathered.leave(name, "no file")
    if name and entry.flag_bits & _ENCRYPTED:
        return gathered.leave(name, "encrypted")
    return name


def _name(entry: zipfile.ZipInfo) -> str:
    """The name as it was written: on macOS in UTF-8, without the flag that says so."""
    name = entry.orig_filename
    if entry.flag_bits & _UTF8 or name.isascii():
        return name
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name


def _pieces(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(entry) as file:
        while piece := file.read(_PIECE):
            yield piece


def _reason(error: Exception) -> str:
    return (str(error) or type(error).__name__).rstrip(".")
