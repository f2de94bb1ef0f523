"""Tar archives, read as they come.

The tarfile of Pythons that are in use loops for ever on a negative size, and searches the headers with
expressions that take for ever (CVE-2025-8194, CVE-2024-6232), so that these few lines read them. Source of
the format: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Header Block"; GNU tar, "Basic Tar Format".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from judge_tui.cli.bringing.brought import Brought, Refused
from judge_tui.cli.bringing.gathering import Gathering

__all__ = ["from_tar", "is_tar_header"]

_BLOCK = 512
_PIECE = 1 << 16
#: Bytes that are read past, those of what is left out included.
_MOST_READ = 256_000_000
_MOST_HEADERS = 100_000
_MOST_NAME = 1 << 16
_NOTHING = bytes(_BLOCK)
_SUM = slice(148, 156)
_REGULAR, _LINKS, _FOLDER = b"\0" + b"07", b"12", b"5"
_LONG_NAME, _PAX, _PAX_FOR_ALL = b"L", b"x", b"Xg"
_CUT_OFF = "the archive has no mark at its end: it may have been cut off."
_OTHER_KINDS = {b"S": "a sparse file"}


def from_tar(read: Callable[[int], bytes]) -> Brought:
    """The files of a tar archive.

    Args:
        read: Gives the next bytes of it, at most so many; none at its end.

    Raises:
        Refused: It is damaged, or holds too much.
    """
    gathered, stream = Gathering(unpacks=True), _Stream(read)
    for name, kind, size in _members(stream):
        if kind == _FOLDER or (kind in _REGULAR and name.endswith("/")):
            stream.skip(size)
        elif wanted := _wanted(gathered, name, kind):
            gathered.take(wanted, stream.pieces(size))
        else:
            stream.skip(size)
    found = gathered.brought()
    return found if stream.ended else replace(found, told=(*found.told, _CUT_OFF))


def _wanted(gathered: Gathering, name: str, kind: bytes) -> str:
    wanted = gathered.wants(name)
    if not wanted or kind in _REGULAR:
        return wanted
    return gathered.leave(wanted, "a link" if kind in _LINKS else _OTHER_KINDS.get(kind, "no file"))


class _Stream:
    """What is read of an archive, block by block, and counted."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._count = 0
        #: Whether the mark at the end of an archive has come.
        self.ended = False

    def some(self, most: int) -> bytes:
        """The next bytes; none at the end."""
        piece = self._read(most)
        self._count += len(piece)
        if self._count > _MOST_READ:
            raise Refused(
                f"unpacks to more than {_MOST_READ // 1_000_000} MB, what would be left out included.",
                hint="Leave build products and data sets out.",
            )
        return piece

    def block(self) -> bytes:
        """The next block; shorter only at the end."""
        found = b""
        while len(found) < _BLOCK and (piece := self.some(_BLOCK - len(found))):
            found += piece
        return found

    def pieces(self, size: int) -> Iterator[bytes]:
        """The next bytes, so many, and past what fills their last block."""
        left = size
        while left:
            piece = self.some(min(left, _PIECE))
            if not piece:
                raise _damaged("it ends early")
            left -= len(piece)
            yield piece
        fill = -size % _BLOCK
        while fill and (piece := self.some(fill)):
            fill -= len(piece)

    def skip(self, size: int) -> None:
        """Go past the next bytes, so many."""
        for _ in self.pieces(size):
            pass


@dataclass(slots=True)
class _Further:
    """What headers of their own say of the member behind them."""

    name: str | None = None
    size: int | None = None
    sparse: bool = False


def _members(stream: _Stream) -> Iterator[tuple[str, bytes, int]]:
    """Name, kind and size of each member; whoever takes one goes past its content."""
    further = _Further()
    for _ in range(_MOST_HEADERS):
        block = stream.block()
        if not block or block == _NOTHING:
            stream.ended = bool(block)
            return
        if not is_tar_header(block):
            raise _damaged("a header of it is damaged" if len(block) == _BLOCK else "it ends early")
        kind, size = block[156:157], _number(block[124:136])
        if kind == _LONG_NAME:
            further.name = _text(_content(stream, size).rstrip(b"\0"))
        elif kind == _PAX:
            _say(further, _content(stream, size))
        elif kind in _PAX_FOR_ALL or kind == b"K":
            stream.skip(size)
        else:
            size = size if further.size is None else further.size
            name = _name(block) if further.name is None else further.name
            yield name, b"S" if further.sparse else kind, size
            further = _Further()
    raise Refused(f"is a tar archive of more than {_MOST_HEADERS:,} entries.")


def is_tar_header(block: bytes) -> bool:
    """Whether a block is the header of a member: its checksum holds."""
    if len(block) != _BLOCK or block == _NOTHING:
        return False
    summed = sum(block) - sum(block[_SUM]) + 8 * ord(" ")
    return summed == _octal(block[_SUM])


def _content(stream: _Stream, size: int) -> bytes:
    if size > _MOST_NAME:
        raise _damaged("a name in it is too long")
    return b"".join(stream.pieces(size))


def _say(further: _Further, records: bytes) -> None:
    """Take what a pax header says: records of length, space, key, equals sign, value, line feed."""
    while records:
        length = records.partition(b" ")[0]
        end = int(length) if length.isdigit() and len(length) < 8 else 0
        if not len(length) + 1 < end <= len(records):
            raise _damaged("a header of it is damaged")
        key, _, value = records[len(length) + 1 : end - 1].partition(b"=")
        if key == b"path":
            further.name = _text(value)
        elif key == b"size":
            further.size = int(value) if value.isdigit() and len(value) < 20 else -1
        further.sparse |= key.startswith(b"GNU.sparse.")
        records = records[end:]
    if further.size is not None and further.size < 0:
        raise _damaged("a size in it is none")


def _name(block: bytes) -> str:
    name, prefix = (part.partition(b"\0")[0] for part in (block[:100], block[345:500]))
    # GNU tar has other things there
    ustar = block[257:265] == b"ustar\x0000"
    return _text(prefix + b"/" + name if ustar and prefix else name)


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _number(field: bytes) -> int:
    """A size: octal digits, or for the largest ones binary with the first bit set."""
    size = int.from_bytes(field[1:], "big") if field[0] == 0x80 else _octal(field)
    if size < 0:
        raise _damaged("a size in it is none")
    return size


def _octal(field: bytes) -> int:
    digits = field.strip(b" \0")
    if digits.strip(b"01234567"):
        return -1
    return int(digits, 8) if digits else 0


def _damaged(why: str) -> Refused:
    return Refused(f"is a tar archive that cannot be unpacked: {why}.")
