"""Pictures of curves, taken apart again as terminals do: PNG, Kitty's pieces, Sixel."""

from __future__ import annotations

import re
import struct
import zlib
from base64 import b64decode
from itertools import product

import pytest

from judge_tui.tui.look.bitmap import Bitmap, drawn
from judge_tui.tui.look.graphics import ITERM, KITTY, SIXEL, erased, png, sixel, told

COLOURS = ((10, 20, 30), (90, 90, 90), (200, 100, 0))


@pytest.fixture
def bitmap() -> Bitmap:
    return drawn([(0.0, 0.0), (0.5, 0.8), (1.0, 1.0)], [0.5], [0.5], (67, 41), COLOURS)


def pixels_of_png(data: bytes) -> tuple[int, int, list[bytes]]:
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at, chunks = 8, {}
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + body)
        chunks[kind], at = body, at + 12 + size
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    raw = zlib.decompress(chunks[b"IDAT"])
    assert chunks[b"PLTE"] == bytes(value for colour in COLOURS for value in colour)
    return width, height, [raw[y * (width + 1) + 1 : (y + 1) * (width + 1)] for y in range(height)]


def pixels_of_sixel(text: str) -> list[bytes]:
    found = re.fullmatch(r'\x1bP0;1;0q"1;1;(\d+);(\d+)((?:#\d+;2;\d+;\d+;\d+)+)(.*)\x1b\\', text, re.S)
    assert found
    width, height = int(found[1]), int(found[2])
    rows = [bytearray(b"\xff" * width) for _ in range(height)]
    for band, line in enumerate(found[4].split("-")):
        for run in line.split("$"):
            colour = int(re.match(r"#(\d+)", run)[1])  # type: ignore[index]
            signs = re.findall(r"(?:!(\d+))?([?-~])", re.sub(r"^#\d+", "", run))
            columns = "".join(sign * int(count or 1) for count, sign in signs)
            assert len(columns) == width
            for x, bit in product(range(width), range(6)):
                if (ord(columns[x]) - 63) >> bit & 1:
                    rows[band * 6 + bit][x] = colour
    return [bytes(row) for row in rows]


def test_a_curve_has_its_corners_its_grid_and_its_ground(bitmap: Bitmap) -> None:
    assert bitmap.rows[40][0] == 2
    assert bitmap.rows[0][66] == 2
    assert bitmap.rows[35][33] == 1
    assert bitmap.rows[20][50] == 1
    assert bitmap.rows[1][1] == 0


def test_an_axis_ends_in_the_middle_of_a_character_as_its_labels_do() -> None:
    bitmap = drawn([(0.0, 0.0), (1.0, 1.0)], [0.0, 1.0], [0.0, 1.0], (80, 48), COLOURS, (8, 16))
    assert [x for x in range(80) if bitmap.rows[20][x] == 1] == [4, 76]
    assert [y for y in range(48) if bitmap.rows[y][20] == 1] == [8, 40]
    assert bitmap.rows[40][4] == bitmap.rows[8][76] == 2


def test_png_and_sixel_say_the_same_pixels(bitmap: Bitmap) -> None:
    pixels = [bytes(row) for row in bitmap.rows]
    assert pixels_of_png(png(bitmap)) == (67, 41, pixels)
    assert pixels_of_sixel(sixel(bitmap)) == pixels


def test_kitty_gets_it_in_pieces_and_is_asked_to_answer_nothing(bitmap: Bitmap) -> None:
    noisy = Bitmap(300, 300, COLOURS)
    for number, row in enumerate(noisy.rows):
        row[:] = bytes((number * x * x >> 3) % 3 for x in range(300))
    for picture in (bitmap, noisy):
        pieces = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", text := told(picture, KITTY, (40, 10)))
        assert "".join(f"\x1b_G{how};{data}\x1b\\" for how, data in pieces) == text
        assert pieces[0][0].startswith("a=T,f=100,i=27,p=1,c=40,r=10,C=1,q=2,m=")
        assert [how for how, _ in pieces[1:]] == [*["m=1"] * (len(pieces) - 2), "m=0"][: len(pieces) - 1]
        assert all(len(data) <= 4096 for _, data in pieces)
        assert b64decode("".join(data for _, data in pieces)) == png(picture)
    assert erased(KITTY) == "\x1b_Ga=d,d=I,i=27,q=2\x1b\\"
    assert erased(ITERM) == erased(SIXEL) == ""


def test_iterm_is_told_the_cells(bitmap: Bitmap) -> None:
    found = re.fullmatch(
        r"\x1b\]1337;File=inline=1;width=40;height=10;preserveAspectRatio=0:(.*)\x07",
        told(bitmap, ITERM, (40, 10)),
    )
    assert found
    assert b64decode(found[1]) == png(bitmap)
