"""Files that hold code as something else than code: what they are, by their names and first bytes."""

from __future__ import annotations

from pathlib import PurePosixPath

__all__ = ["ARCHIVES", "HEAD", "NOTEBOOK", "container", "is_archive_name", "packing"]

#: Bytes from the beginning of a file that tell what it is.
HEAD = 512
NOTEBOOK = ".ipynb"
_MARKDOWN = frozenset({".md", ".markdown"})
_MAGIC = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
    (b"Rar!\x1a\x07", "RAR"),
)
_CALLED = (
    ".zip .tar .tgz .tbz .tbz2 .txz .tzst .gz .bz2 .xz .zst .7z .rar .whl .jar .egg .lz4 .lzma .cab .iso"
)
#: How archives are called.
ARCHIVES = frozenset(_CALLED.split())
#: Zips by their bytes, and documents or data by what they are for.
_DOCUMENTS = {
    ".docx": "a Word document",
    ".xlsx": "a spreadsheet",
    ".pptx": "a presentation",
    ".odt": "a document",
    ".npz": "",
    ".pt": "",
    ".pth": "",
    ".keras": "",
}


def packing(name: str, head: bytes) -> str:
    """How a file packs others, as ``zip`` or ``tar``; empty for one that is no archive.

    Args:
        name: Its name: arrays and documents are zips too, and no archives.
        head: Its first :data:`HEAD` bytes.
    """
    suffix = PurePosixPath(name.lower()).suffix
    if suffix in _DOCUMENTS:
        return ""
    if head[257:262] == b"ustar" or suffix == ".tar":
        return "tar"
    return next((form for magic, form in _MAGIC if head.startswith(magic)), "")


def is_archive_name(name: str) -> bool:
    """Whether a file is called as an archive is."""
    return PurePosixPath(name.lower()).suffix in ARCHIVES


def container(name: str, head: bytes) -> str:
    """What a file is that no check reads code from, as ``a zip archive``; empty for all others.

    Args:
        name: Its name.
        head: Its first :data:`HEAD` bytes.
    """
    suffix = PurePosixPath(name.lower()).suffix
    if form := packing(name, head):
        return f"a {form} archive"
    if head.startswith(b"%PDF-"):
        return "a PDF"
    if suffix == NOTEBOOK:
        return "a notebook"
    return "Markdown" if suffix in _MARKDOWN else _DOCUMENTS.get(suffix, "")
