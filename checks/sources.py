"""Static facts of a submission's source: which files, what they parse to, what a function returns."""

from __future__ import annotations

import ast
import io
import re
import threading
import tokenize
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import PurePosixPath

from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.lines import line_at, unified
from judge_tui.checks.submission import Submission

__all__ = [
    "absence",
    "assigned_names",
    "expression",
    "fence_line",
    "fenced",
    "is_binary",
    "is_document",
    "is_side_program",
    "is_test_file",
    "outermost",
    "parsed",
    "python_files",
    "returned_names",
    "source_text",
    "statements",
    "unjudgeable",
]

#: Fields of statements that hold statements, or what holds those.
_BLOCKS = frozenset({"body", "orelse", "handlers", "finalbody", "cases"})
#: A tree takes a hundred times the memory of its source.
_MOST_SOURCE = 4 << 20
#: CPython 3.11 counts the depth of all trees that are being made together: two at once raise SystemError.
_PARSING = threading.Lock()
_DOCUMENTS = frozenset({".md", ".markdown", ".rst", ".adoc", ".tex", ".txt", ".text", ".pdf"})
_PROSE = _DOCUMENTS | {"", ".html", ".png", ".jpg", ".svg"}
#: Texts that a build reads, whatever their endings say.
_BUILD_FILES = frozenset({"cmakelists.txt", "requirements.txt", "constraints.txt"})
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*(?:python3?|py|cuda|cu|c\+\+|cpp|c)[ \t]*\r?$", re.M | re.I)

_TEST_WORDS = frozenset({"test", "tests", "conftest"})
_SIDE_WORDS = _TEST_WORDS | {
    "benchmark",
    "benchmarks",
    "bench",
    "demo",
    "demos",
    "example",
    "examples",
    "setup",
}


def python_files(submission: Submission) -> tuple[str, ...]:
    """The submission's Python files."""
    return tuple(name for name in submission.files if name.endswith(".py"))


def absence(submission: Submission) -> str:
    """Why there is nothing to judge, as a clause; empty when there may be something.

    A folder that holds the text of its task alone has no submission in it. One of which something cannot be
    read is not judged by the rest: that would be another submission.
    """
    try:
        files = submission.files
    except WorkspaceError as error:
        return f"{error.file or submission.place}: {error.message.rstrip('.')}"
    if not files:
        return "no submission: the folder is missing or empty"
    for name in files:
        if trouble := submission.trouble(name):
            return f"{name} {trouble}; without it, this would be another submission"
    filled = [name for name in files if submission.read_bytes(name).strip()]
    if not filled:
        return f"no submission: {_listed(files)} {'is' if len(files) == 1 else 'are'} empty"
    if all(_is_prose(name) for name in filled) and fenced(submission) is None:
        return f"no submission: {_listed(filled)} and no code"
    return ""


def unjudgeable(submission: Submission) -> str:
    """Why no check may be run on a submission, as a clause; empty where all may.

    What is written of how it is called is not gone by in part: that could make a wrong verdict.
    """
    # one that is malformed is told by the checks that need it
    with suppress(WorkspaceError):
        if newer := submission.meta.newer:
            return newer.rstrip(".")
    return absence(submission)


def fenced(submission: Submission) -> tuple[str, int] | None:
    """File and 1-based line of the first code that stands in a Markdown fence, not in a file."""
    for name in submission.files:
        if (_is_prose(name) or name.endswith(".py")) and (line := fence_line(submission.read_text(name))):
            return name, line
    return None


def fence_line(text: str) -> int:
    """1-based line of the first Markdown fence that opens on code; 0 when there is none."""
    fence = _FENCE.search(text)
    return line_at(text, fence.start()) if fence else 0


def is_binary(data: bytes) -> bool:
    """Whether a file is no text and has no lines: by a zero among its first 8000 bytes, as for git."""
    return b"\0" in data[:8000]


def is_document(name: str) -> bool:
    """Whether a file's name says that it is written for people: prose, of which no line is code."""
    path = PurePosixPath(name)
    return path.suffix.lower() in _DOCUMENTS and path.name.lower() not in _BUILD_FILES


def _is_prose(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in _PROSE


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _words(path: PurePosixPath) -> set[str]:
    return set(path.stem.lower().replace("-", "_").split("_"))


def is_test_file(file: str) -> bool:
    """Whether a file's name says that it holds tests."""
    return bool(_words(PurePosixPath(file)) & _TEST_WORDS)


def is_side_program(file: str) -> bool:
    """Whether a file, or its folder, looks like tests, demos or benchmarks: not imported to find roles."""
    path = PurePosixPath(file)
    return any(_words(part) & _SIDE_WORDS for part in (path, *path.parents))


def source_text(data: bytes) -> str:
    """Decode Python source as the language does (BOM, coding cookie, universal newlines).

    Raises:
        SyntaxError: The bytes are not in the encoding that the file declares.
    """
    encoding, _lines = tokenize.detect_encoding(io.BytesIO(data).readline)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        wrong = SyntaxError(f"byte 0x{data[error.start]:02x} is not {encoding}")
        wrong.lineno = line_at(data, error.start)
        raise wrong from error
    except (LookupError, UnicodeError) as error:
        raise SyntaxError(f"{encoding} is no encoding of source text") from error
    return unified(text)


def expression(text: str) -> ast.expr:
    """The syntax tree of one expression.

    Raises:
        SyntaxError: It does not parse.
    """
    with _PARSING:
        return ast.parse(text, mode="eval").body


def parsed(data: bytes) -> ast.Module:
    """The syntax tree of a Python file.

    Raises:
        SyntaxError: It does not parse; nesting and size past what is sound are told the same way.
    """
    if len(data) > _MOST_SOURCE:
        raise SyntaxError(f"{len(data) >> 20} MiB is too large to parse")
    text = source_text(data)
    try:
        with _PARSING, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (RecursionError, MemoryError) as error:
        raise SyntaxError("nested too deeply to parse") from error
    except ValueError as error:
        raise SyntaxError(str(error)) from error


def statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Every statement, in the order of :func:`ast.walk` but without looking into expressions."""
    todo: deque[ast.AST] = deque([tree])
    while todo:
        node = todo.popleft()
        if isinstance(node, ast.stmt):
            yield node
        for field in node._fields:
            if field in _BLOCKS:
                todo.extend(getattr(node, field))


def outermost(tree: ast.Module) -> Iterator[ast.stmt]:
    """Statements of a module, those under conditions too, but none of its functions and classes."""
    inner = {
        id(each)
        for node in statements(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        for each in ast.walk(node)
        if each is not node
    }
    return (node for node in statements(tree) if id(node) not in inner)


def returned_names(tree: ast.Module, qualname: str) -> tuple[str, ...]:
    """Names in the last ``return a, b, …`` of a function; an item that is no name is ``""``.

    Args:
        tree: The module.
        qualname: ``function`` or ``Class.method``.

    Returns:
        Empty when the function is not found or returns one thing.
    """
    body: list[ast.stmt] = tree.body
    node: ast.stmt | None = None
    for part in qualname.split("."):
        node = next(
            (s for s in body if isinstance(s, ast.FunctionDef | ast.ClassDef) and s.name == part), None
        )
        if node is None:
            return ()
        body = node.body
    tuples = [
        (inner.lineno, inner.value)
        for inner in (ast.walk(node) if node is not None else ())
        if isinstance(inner, ast.Return) and isinstance(inner.value, ast.Tuple | ast.List)
    ]
    last = max(tuples, key=lambda found: found[0], default=None)
    return tuple(_named(item) for item in last[1].elts) if last else ()


def assigned_names(tree: ast.Module, function: str) -> Iterator[tuple[str, ...]]:
    """Names that callers give to the items of what ``function`` returns: ``a, b = function(…)``.

    Args:
        tree: A module that may call it.
        function: Its unqualified name.

    Yields:
        One tuple per call; a target that is no name is ``""``.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        called = node.value.func
        name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
        if name == function and isinstance(node.targets[0], ast.Tuple):
            yield tuple(_named(item) for item in node.targets[0].elts)


#: Attributes that are another view of the array whose they are, and no part with a name of its own.
_VIEWS = frozenset({"T", "mT", "real", "data"})


def _named(item: ast.expr) -> str:
    if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name) and item.attr not in _VIEWS:
        return item.attr
    while isinstance(item, ast.Call | ast.Attribute | ast.Subscript):
        if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name):
            return item.attr if item.value.id == "self" else item.value.id
        item = item.func if isinstance(item, ast.Call) else item.value
    return item.id if isinstance(item, ast.Name) else ""
