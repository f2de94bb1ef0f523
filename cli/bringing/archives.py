"""Archives of any kind: by which way each is unpacked."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import PurePosixPath
from typing import BinaryIO, cast

from judge_tui.cli.bringing.brought import Brought, Refused
from judge_tui.cli.bringing.gathering import Gathering
from judge_tui.cli.bringing.tars import from_tar, is_tar_header
from judge_tui.cli.bringing.zips import from_zip
from judge_tui.judging.containers import ARCHIVES, HEAD, packing

__all__ = ["from_archive"]

_PIECE = 1 << 16
_TARS = frozenset({".tgz", ".tbz", ".tbz2", ".txz", ".tzst"})


def _zstd(file: BinaryIO) -> BinaryIO:
    # of the standard library from Python 3.14 on
    if find_spec("compression") is None:
        raise _not_here("zstd")
    return cast("BinaryIO", import_module("compression.zstd").ZstdFile(file))


def _gzip(file: BinaryIO) -> BinaryIO:
    return cast("BinaryIO", gzip.GzipFile(fileobj=file))


_Opener = Callable[[BinaryIO], BinaryIO]
_OPENED: dict[str, _Opener] = {
    "gzip": _gzip,
    "bzip2": cast("_Opener", bz2.BZ2File),
    "xz": cast("_Opener", lzma.LZMAFile),
    "zstd": _zstd,
    "tar": lambda file: file,
}


def from_archive(name: str, data: bytes) -> Brought:
    """The files of an archive; one file that is compressed by itself is one of them.

    Args:
        name: Of the archive.
        data: Its bytes.

    Raises:
        Refused: It is of a kind that nothing here unpacks, is damaged, or holds too much.
    """
    form = packing(name, data[:HEAD])
    if form == "zip":
        return from_zip(data)
    if form not in _OPENED:
        raise _not_here(form) if form else Refused("is no archive.")
    try:
        return _decompressed(name, form, _OPENED[form](io.BytesIO(data)))
    except Refused:
        raise
    # each format has errors of its own, and what a decompressor raises of damaged bytes is in no list
    except Exception as error:
        why = str(error).rstrip(".") or type(error).__name__
        raise Refused(f"is a {form} archive that cannot be unpacked: {why}.") from error


def _decompressed(name: str, form: str, file: BinaryIO) -> Brought:
    head = b""
    while len(head) < HEAD and (piece := file.read(HEAD - len(head))):
        head += piece
    ahead = io.BytesIO(head)

    def read(most: int) -> bytes:
        return ahead.read(most) or file.read(most)

    path = PurePosixPath(name)
    inside = path.stem if path.suffix.lower() in ARCHIVES else path.name
    called = form == "tar" or path.suffix.lower() in _TARS or inside.lower().endswith(".tar")
    if called or is_tar_header(head):
        return from_tar(read)
    alone = Gathering(unpacks=True)
    if wanted := alone.wants(inside):
        alone.take(wanted, iter(lambda: read(_PIECE), b""))
    return alone.brought()


def _not_here(form: str) -> Refused:
    return Refused(
        f"is a {form} archive, which cannot be unpacked here.", hint="Unpack it, and add the folder."
    )
