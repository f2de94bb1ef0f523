"""Pictures as a terminal is sent them: Kitty's protocol, iTerm2's, and Sixel.

Source: Kitty, "Terminal graphics protocol"; iTerm2, "Images"; DEC STD 070, chapter 9 (Sixel);
PNG specification, 2nd edition.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Iterator
from itertools import groupby

from judge_tui.tui.look.bitmap import Bitmap

__all__ = ["ITERM", "KITTY", "SIXEL", "erased", "png", "sixel", "told"]

KITTY, ITERM, SIXEL = "kitty", "iterm", "sixel"
#: Kitty takes no more of a picture at once, in characters.
_PIECE = 4096
#: The picture's own number: another program's pictures stay.
_NUMBER = 27
_ESC, _END = "\x1b", "\x1b\\"


def told(bitmap: Bitmap, protocol: str, cells: tuple[int, int]) -> str:
    """What draws a picture from the cursor on.

    Args:
        bitmap: The picture.
        protocol: One of :data:`KITTY`, :data:`ITERM` and :data:`SIXEL`.
        cells: Columns and rows that it takes.
    """
    if protocol == SIXEL:
        return sixel(bitmap)
    columns, rows = cells
    data = b64encode(png(bitmap)).decode("ascii")
    if protocol == ITERM:
        size = f"width={columns};height={rows};preserveAspectRatio=0"
        return f"{_ESC}]1337;File=inline=1;{size}:{data}\x07"
    return "".join(_pieces(data, f"a=T,f=100,i={_NUMBER},p=1,c={columns},r={rows},C=1,q=2"))


def _pieces(data: str, how: str) -> Iterator[str]:
    pieces = [data[at : at + _PIECE] for at in range(0, len(data), _PIECE)]
    for number, piece in enumerate(pieces):
        more = int(number < len(pieces) - 1)
        yield f"{_ESC}_G{f'{how},' if number == 0 else ''}m={more};{piece}{_END}"


def erased(protocol: str) -> str:
    """What takes the picture away again; with the others, text that is written over it does."""
    return f"{_ESC}_Ga=d,d=I,i={_NUMBER},q=2{_END}" if protocol == KITTY else ""


def png(bitmap: Bitmap) -> bytes:
    """A picture as PNG, its colours by their numbers."""
    head = struct.pack(">IIBBBBB", bitmap.width, bitmap.height, 8, 3, 0, 0, 0)
    palette = bytes(value for colour in bitmap.palette for value in colour)
    # every row begins with the number of its filter: none
    pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in bitmap.rows), 6)
    chunks = ((b"IHDR", head), (b"PLTE", palette), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def sixel(bitmap: Bitmap) -> str:
    """A picture as Sixel: bands of six rows, each colour of a band by itself."""
    colours = "".join(
        f"#{number};2;{';'.join(str(round(value * 100 / 255)) for value in colour)}"
        for number, colour in enumerate(bitmap.palette)
    )
    bands = "-".join(_band(bitmap, top) for top in range(0, bitmap.height, 6))
    # pixels are as wide as high, and those that no colour names keep what was there
    return f'{_ESC}P0;1;0q"1;1;{bitmap.width};{bitmap.height}{colours}{bands}{_END}'


def _band(bitmap: Bitmap, top: int) -> str:
    rows = bitmap.rows[top : top + 6]
    present = sorted(set().union(*rows))
    return "$".join(f"#{colour}{_run(rows, colour)}" for colour in present)


def _run(rows: list[bytearray], colour: int) -> str:
    signs = (
        chr(63 + sum((pixel == colour) << bit for bit, pixel in enumerate(column)))
        for column in zip(*rows, strict=True)
    )
    runs = ((sign, sum(1 for _ in same)) for sign, same in groupby(signs))
    return "".join(f"!{count}{sign}" if count > 3 else sign * count for sign, count in runs)
