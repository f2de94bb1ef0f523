"""Files that hold code as something else than code: what they are, by their names and first bytes."""

from __future__ import annotations

from pathlib import PurePosixPath

from judge_tui.checks.sources import fence_line
from judge_tui.checks.submission import Submission

__all__ = ["ARCHIVES", "HEAD", "NOTEBOOK", "container", "is_archive_name", "packing", "unopened"]

#: Bytes from the beginning of a file that tell what it is.
HEAD = 512
NOTEBOOK = ".ipynb"
_PDF = "a PDF"
_READABLE = ("a notebook", "Markdown")
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
_NO_CODE = (
    ARCHIVES
    | _MARKDOWN
    | frozenset(_DOCUMENTS)
    | {"", NOTEBOOK, ".pdf", ".txt", ".rst", ".png", ".jpg", ".svg"}
)


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
        return _PDF
    if suffix == NOTEBOOK:
        return _READABLE[0]
    return _READABLE[1] if suffix in _MARKDOWN else _DOCUMENTS.get(suffix, "")


def closed(name: str, data: bytes) -> str:
    """What is shown for the bytes of a file that nobody can read; empty for one that is shown as it is.

    Args:
        name: The file's name.
        data: Its content.
    """
    what = container(name, data[:HEAD])
    if not what or what in _READABLE:
        return ""
    way = "\njudge-tui add unpacks it." if packing(name, data[:HEAD]) else ""
    return f"{name} is {what}:\nnothing in it is shown or checked.{way}"


def unopened(submission: Submission) -> str:
    """What keeps the code of a submission to itself, a sentence; empty where there are files of code.

    Args:
        submission: The submission; it is read only where no name of its files is that of code.
    """
    files = submission.files
    if not all(PurePosixPath(name.lower()).suffix in _NO_CODE for name in files):
        return ""
    for name in files:
        data = submission.read_bytes(name)
        what = container(name, data[:HEAD])
        if what == _READABLE[1]:
            what = "Markdown with code in fences" if fence_line(data.decode("utf-8", "replace")) else ""
        if what:
            way = (
                ""
                if what in _DOCUMENTS.values() or what == _PDF
                else f", and judge-tui add {name} makes those"
            )
            return f"{name} is {what}, no file of code{way}."
    return ""
