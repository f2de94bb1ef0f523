"""Archives: what comes out of them, what stays in, and that no damaged or hostile one does more than that."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
from collections.abc import Mapping
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.checks.errors import JudgeError, UsageError
from judge_tui.cli.bringing import brought
from judge_tui.cli.bringing.archives import from_archive
from judge_tui.cli.bringing.brought import Brought
from judge_tui.cli.bringing.member_names import why_not

CODE = {"a.py": b"x = 1\n", "src/b.py": b"y = 2\n" * 300}


def zipped(files: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def tarred(files: Mapping[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def special(kind: bytes, name: str = "odd", target: str = "/etc/passwd") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, target
        archive.addfile(member)
        code = tarfile.TarInfo("a.py")
        code.size = 2
        archive.addfile(code, io.BytesIO(b"x\n"))
    return out.getvalue()


def why(found: Brought) -> dict[str, str]:
    return {one.name: one.why for one in found.left_out}


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_a_zip_is_unpacked(compression: int) -> None:
    found = from_archive("x.zip", zipped(CODE, compression))
    assert found.files == CODE
    assert found.sentences == ()


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_tar_is_unpacked_whatever_its_dialect(form: int) -> None:
    files = CODE | {"deep/" * 25 + "long_name_of_a_file.py": b"z\n", "empty.py": b""}
    if form != tarfile.USTAR_FORMAT:
        files |= {"long" * 40 + ".py": b"1", "ünï.py": b"2"}
    assert from_archive("x.tar", tarred(files, form)).files == files


@pytest.mark.parametrize(
    ("name", "pack"),
    [("x.tar.gz", gzip.compress), ("x.tgz", gzip.compress), ("x", bz2.compress), ("x.tar.xz", lzma.compress)],
)
def test_a_compressed_tar_is_unpacked_by_its_bytes(name: str, pack: object) -> None:
    assert callable(pack)
    assert from_archive(name, pack(tarred(CODE))).files == CODE


def test_a_file_that_is_compressed_by_itself_is_that_file() -> None:
    assert from_archive("kernel.cu.gz", gzip.compress(b"__global__\n")).files == {
        "kernel.cu": b"__global__\n"
    }


def test_the_one_folder_on_top_is_taken_away_and_a_package_stays_one() -> None:
    assert from_archive("x.zip", zipped({"repo-main/a.py": b"1", "repo-main/s/b.py": b"2"})).files == {
        "a.py": b"1",
        "s/b.py": b"2",
    }
    package = {"mine/__init__.py": b"", "mine/a.py": b"1"}
    assert from_archive("x.zip", zipped(package)).files == package
    two = {"s/a.py": b"1", "t/b.py": b"2"}
    assert from_archive("x.tar", tarred(two)).files == two
    assert from_archive("x.tar", tarred({"./t/a.py": b"1"})).files == {"a.py": b"1"}


def test_hidden_files_caches_and_archives_within_are_left_out_and_told() -> None:
    odd = {
        "__MACOSX/._a.py": b"",
        ".git/config": b"",
        "__pycache__/a.pyc": b"",
        "data.zip": b"PK",
        "w.tar.gz": b"",
    }
    found = from_archive("x.zip", zipped(CODE | odd))
    assert found.files == CODE
    assert found.sentences == (
        "2 archives inside left out: data.zip, w.tar.gz.",
        "hidden or a cache, and left out: __MACOSX, .git, __pycache__.",
    )


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("../out.py", "its path leads out"),
        ("a/../../out.py", "its path leads out"),
        ("/etc/out.py", "its path is absolute"),
        ("C:/out.py", "its path is absolute"),
        ("C:out.py", "its path is absolute"),
        ("..\\out.py", "a backslash in its path"),
        ("src\\out.py", "a backslash in its path"),
        ("a\x1b[2J.py", "control characters in its name"),
        ("a/" * 600 + "b.py", "its path is too long"),
        ("n" * 300 + ".py", "its path is too long"),
        ("A.PY", "but for case or spelling it is a.py"),
        ("a.py/b.py", "a folder is called so, too"),
        ("src", "a folder is called so, too"),
    ],
)
def test_a_name_that_leads_elsewhere_or_to_another_file_is_left_out(name: str, told: str) -> None:
    for found in (
        from_archive("x.zip", zipped(CODE | {name: b"bad"})),
        from_archive("x.tar", tarred(CODE | {name: b"bad"})),
    ):
        assert found.files == CODE
        assert list(why(found).values()) == [told]


def test_a_name_composed_otherwise_is_the_same_file_on_some_disks() -> None:
    found = from_archive("x.tar", tarred({"\u00fc.py": b"1", "u\u0308.py": b"2"}))
    assert list(found.files.values()) == [b"1"]
    assert len(found.left_out) == 1


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_what_is_there_twice_is_taken_as_it_was_last() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.py", "old")
        archive.writestr("a.py", "new")
    found = from_archive("x.zip", out.getvalue())
    assert found.files == {"a.py": b"new"}
    assert "there several times" in found.told[0]


def test_links_and_devices_of_a_zip_are_left_out() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, kind in (("link.py", stat.S_IFLNK), ("pipe", stat.S_IFIFO), ("a.py", stat.S_IFREG)):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (kind | 0o644) << 16
            archive.writestr(entry, "/etc/passwd")
    found = from_archive("x.zip", out.getvalue())
    assert set(found.files) == {"a.py"}
    assert why(found) == {"link.py": "a link", "pipe": "no file"}


def test_a_name_in_utf8_is_read_although_no_flag_says_so() -> None:
    data = bytearray(zipped({"ünï.py": b"1"}))
    for mark, at in ((b"PK\x03\x04", 7), (b"PK\x01\x02", 9)):
        data[data.index(mark) + at] = 0
    assert set(from_archive("x.zip", bytes(data)).files) == {"ünï.py"}


def test_an_encrypted_file_of_a_zip_is_left_out() -> None:
    data = bytearray(zipped(CODE))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + at] |= 1
    assert why(from_archive("x.zip", bytes(data))) == {"a.py": "encrypted"}


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (tarfile.SYMTYPE, "a link"),
        (tarfile.LNKTYPE, "a link"),
        (tarfile.CHRTYPE, "no file"),
        (tarfile.BLKTYPE, "no file"),
        (tarfile.FIFOTYPE, "no file"),
        (b"S", "a sparse file"),
        (b"?", "no file"),
    ],
)
def test_what_is_no_file_of_a_tar_is_left_out(kind: bytes, told: str) -> None:
    found = from_archive("x.tar", special(kind))
    assert found.files == {"a.py": b"x\n"}
    assert why(found) == {"odd": told}


def test_a_bomb_is_stopped_by_what_has_come_out_of_it_and_not_by_its_headers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(brought, "MOST_BYTES", 1_000_000)
    zeros = bytes(2_000_000)
    lying = bytearray(zipped({"a.py": zeros}))
    size = (2_000_000).to_bytes(4, "little")
    while size in lying:
        lying[lying.index(size) : lying.index(size) + 4] = (10).to_bytes(4, "little")
    for name, data in (
        ("x.zip", zipped({"a.py": zeros})),
        ("x.zip", bytes(lying)),
        ("x.tgz", gzip.compress(tarred({"a.py": zeros}))),
        ("x.py.xz", lzma.compress(zeros)),
        ("x.zip", zipped({f"{n}.py": zeros[:300_000] for n in range(4)})),
    ):
        with pytest.raises(UsageError, match=r"holds more than 1 MB|cannot be unpacked"):
            from_archive(name, data)


def test_what_is_left_out_of_a_tar_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge_tui.cli.bringing.tars._MOST_READ", 1_000_000)
    with pytest.raises(UsageError, match="unpacks to more than 1 MB"):
        from_archive("x.tgz", gzip.compress(tarred({".git/pack": bytes(2_000_000)})))


def test_so_many_files_are_taken_and_none_more() -> None:
    most = {f"{n}.py": b"" for n in range(brought.MOST_FILES)}
    assert len(from_archive("x.zip", zipped(most, zipfile.ZIP_STORED)).files) == 2_000
    assert len(from_archive("x.zip", zipped(most | {".hidden": b""}, zipfile.ZIP_STORED)).files) == 2_000
    for data in (zipped(most | {"more.py": b""}, zipfile.ZIP_STORED), tarred(most | {"more.py": b""})):
        with pytest.raises(UsageError, match="holds more than 2,000 files"):
            from_archive("x", data)


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("x.zip", b"PK\x03\x04 and no more", "zip archive that cannot be unpacked"),
        ("x.zip", zipped(CODE)[:-30], "zip archive that cannot be unpacked"),
        ("x.tar", tarred(CODE)[:515], "tar archive that cannot be unpacked: it ends early"),
        ("x.tar", b"\0" * 100 + b"abc" + tarred(CODE)[103:], "a header of it is damaged"),
        ("x.tgz", gzip.compress(tarred(CODE))[:-20], "gzip archive that cannot be unpacked"),
        ("x.tgz", gzip.compress(b"no tar"), "it ends early"),
        ("x.txz", lzma.compress(tarred(CODE))[:100], "xz archive that cannot be unpacked"),
        ("x.7z", b"7z\xbc\xaf\x27\x1c rest", "7-Zip archive, which cannot be unpacked here"),
        ("x.rar", b"Rar!\x1a\x07 rest", "RAR archive, which cannot be unpacked here"),
    ],
    ids=["zip", "cut-zip", "cut-tar", "bad-tar", "cut-tgz", "no-tar", "cut-txz", "seven-zip", "rar"],
)
def test_a_damaged_or_unknown_archive_is_one_sentence(name: str, data: bytes, told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        from_archive(name, data)
    assert "\n" not in str(caught.value)


def test_a_tar_that_was_cut_off_between_two_files_is_told() -> None:
    cut = from_archive("x.tar", tarred(CODE)[:1024])
    assert set(cut.files) == {"a.py"}
    assert cut.told == ("the archive has no mark at its end: it may have been cut off.",)


@pytest.mark.parametrize("size", [b"-0000000001\0", b"\xff" * 12, b"\x80" + b"\xff" * 11, b"7" * 12])
def test_a_size_that_is_none_ends_the_reading_of_a_tar(size: bytes) -> None:
    header = bytearray(tarred(CODE))
    header[124:136] = size
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header[:512])
    with pytest.raises(UsageError, match=r"cannot be unpacked|holds more"):
        from_archive("x.tar", bytes(header))


@pytest.mark.parametrize("records", [b"0 path=a\n", b"99 path=a\n", b"-9 path=a\n", b"x", b"11 size=-1\n"])
def test_a_damaged_header_of_pax_ends_the_reading_of_a_tar(records: bytes) -> None:
    out = io.BytesIO()
    member = tarfile.TarInfo("header")
    member.type, member.size = b"x", len(records)
    out.write(member.tobuf() + records.ljust(512, b"\0") + tarred(CODE))
    with pytest.raises(UsageError, match="cannot be unpacked"):
        from_archive("x.tar", out.getvalue())


_WHOLE = [
    ("x.zip", zipped(CODE)),
    ("x.zip", zipped(CODE, zipfile.ZIP_LZMA)),
    ("x.tar", tarred(CODE | {"long" * 40 + ".py": b"1"})),
    ("x.tar", tarred(CODE | {"long" * 40 + ".py": b"1"}, tarfile.GNU_FORMAT)),
    ("x.tgz", gzip.compress(tarred(CODE))),
    ("x.tbz", bz2.compress(tarred(CODE))),
    ("x.txz", lzma.compress(tarred(CODE))),
]


@given(st.sampled_from(_WHOLE), st.lists(st.tuples(st.integers(0, 3_000), st.binary(min_size=1, max_size=4))))
def test_a_mutated_archive_gives_files_inside_or_one_sentence(
    whole: tuple[str, bytes], edits: list[tuple[int, bytes]]
) -> None:
    name, data = whole[0], bytearray(whole[1])
    for place, new in edits:
        at = place % len(data)
        data[at : at + len(new)] = new
    with suppress(JudgeError):
        assert not any(map(why_not, from_archive(name, bytes(data)).files))


@given(
    st.binary(max_size=2_000),
    st.sampled_from([b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\0", b"7z"]),
)
def test_any_bytes_behind_the_mark_of_an_archive_are_at_worst_one_sentence(data: bytes, mark: bytes) -> None:
    with suppress(JudgeError):
        assert not any(map(why_not, from_archive("x.bin", mark + data).files))
