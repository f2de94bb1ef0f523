"""How large a submission is and how it is built: figures, no judgement."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Skipped
from judge_tui.checks.lines import count_lines, line_at, split_lines, unified
from judge_tui.checks.sources import is_binary, is_document, parsed, source_text, statements

__all__ = ["FileSize", "measure_cuda", "measure_python", "size"]


@dataclass(frozen=True, slots=True)
class FileSize:
    """Lines of one file; a line counts once, as code before docstring before comment.

    Attributes:
        longest: Name, first line and length of the longest function.
    """

    lines: int
    code: int = 0
    comment: int = 0
    docstring: int = 0
    functions: int = 0
    annotated: int = 0
    tests: int = 0
    longest: tuple[str, int, int] = ("", 0, 0)


@check(
    "size",
    "size and structure",
    host=True,
    establishes="Files, lines of code, comment and docstring, longest function, annotated signatures, tests; "
    "prose, such as an answer in Markdown, is left out.",
    version=5,
)
def size(bench: Bench, found: Findings) -> str:
    """Count; nothing here is right or wrong."""
    sizes: dict[str, FileSize] = {}
    prose = [file for file in bench.submission.files if is_document(file)]
    for file in bench.submission.files:
        if file not in prose:
            sizes[file] = _measured(file, bench.submission.read_bytes(file))
    head = ("file", "lines", "code", "comment", "docstring", "functions", "annotated", "tests")
    rows = tuple(
        (
            file,
            *(str(n) for n in (s.lines, s.code, s.comment, s.docstring, s.functions, s.annotated, s.tests)),
        )
        for file, s in sizes.items()
    )
    total = sum(s.lines for s in sizes.values())
    functions = sum(s.functions for s in sizes.values())
    annotated = sum(s.annotated for s in sizes.values())
    tests = sum(s.tests for s in sizes.values())
    found.claim("files", True, measured=len(sizes), unit="files", table=(head, *rows))
    found.note("lines, blank ones included", total, unit="lines")
    if functions:
        found.note("fully annotated signatures", annotated / functions, note=f"{annotated} of {functions}")
        file, longest = max(((f, s.longest) for f, s in sizes.items()), key=lambda item: item[1][2])
        found.note(f"longest function: {longest[0]}", longest[2], unit="lines", file=file, line=longest[1])
    found.note("test functions", tests, unit="tests")
    if prose:
        found.note("prose, left out", ", ".join(prose))
    counts = ((len(sizes), "file"), (total, "line"), (functions, "function"), (tests, "test"))
    told = ", ".join(f"{number} {noun}{'s' * (number != 1)}" for number, noun in counts)
    return f"{told}; prose left out: {_listed(prose)}" if prose else told


def _listed(files: Sequence[str]) -> str:
    return ", ".join(files) if len(files) < 3 else f"{len(files)} files"


def _measured(file: str, data: bytes) -> FileSize:
    if is_binary(data):
        return FileSize(0)
    if file.endswith(".py"):
        return measure_python(data)
    return measure_cuda(data) if file.endswith((".cu", ".cuh")) else _text(data)


def measure_cuda(data: bytes) -> FileSize:
    """Measure one CUDA source; without the grammar its functions are not counted.

    Args:
        data: Its bytes.
    """
    # Most submissions have no such file, and every start would pay for it.
    from judge_tui.checks.cuda.lexing import pieces
    from judge_tui.checks.cuda.reading import read

    text = unified(data.decode("utf-8", "replace"))
    lines: dict[str, set[int]] = {"code": set(), "comment": set(), "literal": set()}
    for piece in pieces(text):
        first = line_at(text, piece.start)
        held = text[piece.start : piece.end].split("\n")
        lines[piece.kind] |= {first + at for at, line in enumerate(held) if line.strip()}
    code = lines["code"] | lines["literal"]
    try:
        functions = read({"": text.encode()}).functions
    except Skipped:
        functions = []
    longest = max(((f.name, f.line, f.lines) for f in functions), key=lambda f: f[2], default=("", 0, 0))
    tests = sum(1 for f in functions if f.short.startswith("test"))
    comment = len(lines["comment"] - code)
    # C++ has no signature without types
    count = len(functions)
    return FileSize(count_lines(text), len(code), comment, 0, count, count, tests, longest)


def _text(data: bytes) -> FileSize:
    text = data.decode("utf-8", "replace")
    lines = split_lines(text)
    return FileSize(count_lines(text), sum(1 for line in lines if line.strip()))


def measure_python(data: bytes) -> FileSize:
    """Measure one Python file; one that does not parse is counted as text.

    Args:
        data: Its bytes.
    """
    try:
        text, tree = source_text(data), parsed(data)
    except SyntaxError:
        return _text(data)
    nodes = list(statements(tree))
    docs = _docstring_lines([tree, *nodes])
    code, comment = _token_lines(text)
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    longest = max(
        ((f.name, f.lineno, (f.end_lineno or f.lineno) - f.lineno + 1) for f in functions),
        key=lambda item: item[2],
        default=("", 0, 0),
    )
    return FileSize(
        count_lines(text),
        len(code - docs),
        len(comment - code),
        len(docs),
        len(functions),
        sum(1 for f in functions if _annotated(f)),
        sum(1 for f in functions if f.name.startswith("test")),
        longest,
    )


def _docstring_lines(nodes: Iterable[ast.AST]) -> set[int]:
    lines: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def _token_lines(text: str) -> tuple[set[int], set[int]]:
    quiet = {
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
        tokenize.ENCODING,
    }
    code: set[int] = set()
    comment: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                comment.add(token.start[0])
            elif token.type not in quiet:
                code.update(range(token.start[0], token.end[0] + 1))
    except (tokenize.TokenError, IndentationError):
        pass
    return code, comment


def _annotated(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    args = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    own = [arg for arg in args if arg.arg not in ("self", "cls")]
    return all(arg.annotation is not None for arg in own) and (
        function.returns is not None or function.name == "__init__"
    )
