"""The smallest mechanical repairs of a CUDA source: a fence, a broken comment, a header that is missing.

A repair keeps every line where it is. What was repaired is told; a verdict on the source as it was
submitted is none on the repaired one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from judge_tui.checks.cuda.lexing import Piece, blanked, pieces
from judge_tui.checks.lines import unified

__all__ = [
    "PROSE",
    "SOURCES",
    "Repair",
    "Repaired",
    "cuda_sources",
    "lines_in_front",
    "repaired",
    "toolkit_header",
]

SOURCES = frozenset({".cu", ".cuh"})
_HEADERS = frozenset({".h", ".hpp", ".hh", ".hxx", ".inl", ".inc", ".cpp", ".cc", ".cxx", ".c"})
PROSE = frozenset({".md", ".markdown", ".txt"})
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*(?P<language>[\w+#-]*)[^\n]*$", re.M)
_CODE = frozenset({"", "cuda", "cu", "cuh", "c++", "cpp", "c", "cuda-c", "cuda-cpp"})
#: What a source uses → the standard header that declares it, and others that do.
_DECLARED = (
    (r"\bFLT_(?:MAX|MIN|EPSILON)\b|\bDBL_MAX\b", "cfloat", ("float.h",)),
    (r"\b(?:INT|UINT|LONG|LLONG|SHRT|CHAR)_(?:MAX|MIN)\b", "climits", ("limits.h",)),
    (r"\b(?:INFINITY|NAN|HUGE_VALF?)\b", "cmath", ("math.h",)),
    (r"\bu?int(?:8|16|32|64)_t\b", "cstdint", ("stdint.h", "inttypes.h", "cinttypes")),
    (r"\bstd::numeric_limits\b", "limits", ()),
    (r"\b(?:std::)?(?:f|s|sn)?printf\s*\(", "cstdio", ("stdio.h", "iostream")),
    (r"\bstd::vector\b", "vector", ()),
    (r"\bstd::(?:sort|partial_sort|min|max|nth_element|max_element)\b", "algorithm", ()),
    (r"\b__half2?\b|\bhalf2?\s+[A-Za-z_*]|\b__half2float\b", "cuda_fp16.h", ()),
    (r"\b__nv_bfloat162?\b", "cuda_bf16.h", ()),
    (r"\bcub::", "cub/cub.cuh", ("cub/block/block_reduce.cuh", "cub/warp/warp_reduce.cuh",
                                 "cub/block/block_radix_sort.cuh")),
    (r"\bcooperative_groups\b", "cooperative_groups.h", ()),
)  # fmt: skip
#: Headers of the toolkit's host libraries, and what their names begin with.
_LIBRARIES = (
    (r"cublas\w*\.h", "cublas"), (r"cusparse\w*\.h", "cusparse"), (r"cusolver\w*\.h", "cusolver"),
    (r"cufft\w*\.h", "cufft"), (r"curand\w*\.h", "curand"), (r"cudnn\w*\.h", "cudnn"), (r"nccl\.h", "nccl"),
    (r"nvToolsExt\w*\.h|nvtx3/[\w/]+\.hp*", "nvtx"),
    (r"cuda_profiler_api\.h|cudaProfiler\.h", "cudaProfiler"),
    (r"npp\w*\.h", "npp"), (r"nvml\.h", "nvml"), (r"cupti\w*\.h", "cupti"), (r"nvjpeg\w*\.h", "nvjpeg"),
)  # fmt: skip
_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.M)
#: Headers that a repair names in front of a source, and what takes the compiler back to its first line.
_IN_FRONT = re.compile(rb'\A(?:#include <[^>\n]+>\n)+#line 1 "[^"\n]*"\n')
#: A line on which code goes on after a comment that nothing ended.
_CODE_LINE = re.compile(
    r"^[ \t]*(?:#[ \t]*(?:include|define|pragma|if|ifdef|ifndef|endif)\b|template[ \t]*<|__global__\b"
    r"|__device__\b|static\b|constexpr\b|namespace\b|struct\b|extern\b)",
    re.M,
)


@dataclass(frozen=True, slots=True)
class Repair:
    """One repair.

    Attributes:
        file: Relative to the submission's folder.
        line: 1-based.
        what: What was done, as a clause.
        kind: ``fence``, ``comment``, ``header`` or ``library``.
    """

    file: str
    line: int
    what: str
    kind: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


@dataclass(frozen=True, slots=True)
class Repaired:
    """Sources after their repairs.

    Attributes:
        files: Relative name → text; a Markdown file that holds code in a fence appears as ``….cu``.
        repairs: What was done.
    """

    files: Mapping[str, bytes]
    repairs: tuple[Repair, ...] = ()


def cuda_sources(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The sources and headers among files, by name.

    Args:
        files: Relative name → content.
    """
    wanted = SOURCES | _HEADERS
    return {name: data for name, data in files.items() if PurePosixPath(name).suffix.lower() in wanted}


def repaired(files: Mapping[str, bytes]) -> Repaired:
    """Repair what can be repaired mechanically.

    Args:
        files: Relative name → content of every file of a submission.
    """
    sources = cuda_sources(files)
    repairs: list[Repair] = []
    if not any(PurePosixPath(name).suffix.lower() in SOURCES for name in sources):
        for name, data in files.items():
            if PurePosixPath(name).suffix.lower() in PROSE and (found := _fenced(data, name)):
                text, line = found
                made = str(PurePosixPath(name).with_suffix(".cu"))
                sources[made] = text.encode()
                repairs.append(
                    Repair(name, line, f"the code in its Markdown fence is taken as {made}", "fence")
                )
    result = {}
    for name, data in sources.items():
        text = _newlines(data)
        for mend in (_unfenced, _recommented, _without_unused):
            text, told = mend(name, text)
            repairs += told
        result[name] = text
    own = {include for text in result.values() for include in _INCLUDED.findall(text)}
    for name, text in result.items():
        if PurePosixPath(name).suffix.lower() in SOURCES:
            result[name], told = _with_headers(name, text, own)
            repairs += told
    repairs.sort(key=lambda repair: (repair.file, repair.line))
    return Repaired({name: text.encode() for name, text in result.items()}, tuple(repairs))


def lines_in_front(source: bytes) -> int:
    """How many lines a repair has put in front of a source: its own line 1 is the one after them.

    Args:
        source: A repaired source.
    """
    match = _IN_FRONT.match(source)
    return match[0].count(b"\n") if match else 0


def _newlines(data: bytes) -> str:
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    return unified(text).replace("\0", "\ufffd")


def _blocks(text: str) -> Iterator[tuple[re.Match[str], re.Match[str] | None]]:
    """Opening and closing marks of the fences; the last may have no end."""
    opening: re.Match[str] | None = None
    for mark in _FENCE.finditer(text):
        if opening is None:
            opening = mark
        elif not mark["language"]:
            yield opening, mark
            opening = None
    if opening is not None:
        yield opening, None


def _fenced(data: bytes, name: str) -> tuple[str, int] | None:
    """The CUDA code in a Markdown file, on its own lines, and the line of the first fence with a kernel."""
    text = _newlines(data)
    kept = [(start, end) for start, end in _code(text) if _looks_like_code(text[start:end])]
    first = next((start for start, end in kept if "__global__" in text[start:end]), 0)
    return (_only(text, kept), text.count("\n", 0, first)) if first else None


def _code(text: str) -> list[tuple[int, int]]:
    """What the fences of code hold: those that say their language, where one of them has a kernel.

    One that says none may hold a drawing of what the code does.
    """
    found = [
        (opening["language"].lower(), opening.end() + 1, closing.start() if closing else len(text))
        for opening, closing in _blocks(text)
        if opening["language"].lower() in _CODE
    ]
    said = [(start, end) for language, start, end in found if language]
    if any("__global__" in text[start:end] for start, end in said):
        return said
    return [(start, end) for _, start, end in found]


def _looks_like_code(text: str) -> bool:
    return "__global__" in text or "__device__" in text or "#include" in text


def _only(text: str, kept: list[tuple[int, int]]) -> str:
    """The text with everything but some stretches blanked, line by line."""
    result, at = [], 0
    for start, end in kept:
        result += ["\n" * text.count("\n", at, start), text[start:end]]
        at = end
    return "".join([*result, "\n" * text.count("\n", at)])


def _unfenced(name: str, text: str) -> tuple[str, list[Repair]]:
    """A source that is Markdown with a fence: the fenced code alone."""
    marks = [mark for mark in _FENCE.finditer(text) if not _inside(text, mark.start())]
    if not marks:
        return text, []
    line = text.count("\n", 0, marks[0].start()) + 1
    repair = Repair(name, line, "the code is taken out of its Markdown fence", "fence")
    code = _code(text) or [(o.end() + 1, c.start() if c else len(text)) for o, c in _blocks(text)]
    if len(marks) == 1 and "__global__" in text[: marks[0].start()]:
        # a lone closing mark at the end of what was pasted
        code = [(0, marks[0].start())]
    chosen = [(start, end) for start, end in code if _looks_like_code(text[start:end])] or code
    return _only(text, chosen), [repair]


def _inside(text: str, at: int) -> bool:
    """Whether a place lies in a comment."""
    return any(p.kind == "comment" and p.start <= at < p.end for p in pieces(text[: at + 1]))


def _recommented(name: str, text: str) -> tuple[str, list[Repair]]:
    """Comments that end too early or never."""
    repairs: list[Repair] = []
    for _round in range(20):
        found = list(pieces(text))
        mended = _closed(name, text, found) or _reopened(name, text, found)
        if mended is None:
            break
        text, repair = mended
        repairs.append(repair)
    return text, repairs


def toolkit_header(name: str) -> str:
    """What the names of a host library of the CUDA toolkit begin with, by one of its headers; else empty."""
    return next((begins for headers, begins in _LIBRARIES if re.fullmatch(headers, name)), "")


def _without_unused(name: str, text: str) -> tuple[str, list[Repair]]:
    """Headers of the toolkit's host libraries of which nothing is used: not every machine has them."""
    repairs: list[Repair] = []
    for match in list(_INCLUDED.finditer(text)):
        begins = toolkit_header(match[1])
        if begins and not re.search(rf"\b{begins}", blanked(_INCLUDED.sub("", text)), re.I):
            text = text[: match.start()] + " " * len(match[0]) + text[match.end() :]
            line = text.count("\n", 0, match.start()) + 1
            what = f"<{match[1]}> of the CUDA toolkit, of which nothing is used, is left out"
            repairs.append(Repair(name, line, what, "library"))
    return text, repairs


def _closed(name: str, text: str, found: list[Piece]) -> tuple[str, Repair] | None:
    """End a block comment that runs to the end of the file, before the next line of code."""
    last = found[-1] if found else None
    if last is None or last.kind != "comment" or last.end != len(text):
        return None
    if not text.startswith("/*", last.start) or text.endswith("*/"):
        return None
    line = text.count("\n", 0, last.start) + 1
    code = _CODE_LINE.search(text, last.start)
    at = code.start() - 1 if code else len(text)
    at = max(at, last.start + 2)
    return text[:at] + "*/" + text[at:], Repair(name, line, "the comment that never ends is ended", "comment")


def _reopened(name: str, text: str, found: list[Piece]) -> tuple[str, Repair] | None:
    """A comment inside a comment: what stands up to the stray end is comment too."""
    for index, piece in enumerate(found):
        if piece.kind != "code" or index == 0 or found[index - 1].kind != "comment":
            continue
        stray = text.find("*/", piece.start, piece.end)
        before = text[found[index - 1].start : found[index - 1].end]
        if stray < 0 or not before.startswith("/*") or "/*" not in before[2:]:
            continue
        if any(mark in text[piece.start : stray] for mark in ("__global__", "#include", "template")):
            continue
        line = text.count("\n", 0, stray) + 1
        blank = re.sub(r"[^\n]", " ", text[piece.start : stray + 2])
        told = "the text up to the second end of a comment within a comment is left out"
        return text[: piece.start] + blank + text[stray + 2 :], Repair(name, line, told, "comment")
    return None


def _with_headers(name: str, text: str, included: set[str]) -> tuple[str, list[Repair]]:
    """Name the standard headers whose declarations are used, in front of the first line."""
    code = "".join(text[p.start : p.end] for p in pieces(text) if p.kind == "code")
    missing: list[tuple[str, int]] = []
    for pattern, header, others in _DECLARED:
        if {header, *others} & included:
            continue
        if re.search(pattern, code) and (used := re.search(pattern, text)):
            missing.append((header, text.count("\n", 0, used.start()) + 1))
    if not missing:
        return text, []
    lines = "".join(f"#include <{header}>\n" for header, _line in missing)
    repairs = [Repair(name, line, f"<{header}> is included", "header") for header, line in missing]
    return f'{lines}#line 1 "{name}"\n{text}', repairs
