"""Languages of code: how they are called, how their files end, and which one a text is in."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from judge_tui.checks.sources import parsed

__all__ = ["COMMENTS", "fits", "guessed", "suffix_of"]

#: Suffix → names of the language, as fences have them.
_NAMES = {
    ".py": "python python3 py py3 python2 ipython triton numpy sage",
    ".cu": "cuda cu cuda-cpp cuda-c++ cudacpp nvcc",
    ".cuh": "cuh",
    ".cpp": "cpp c++ cxx cc",
    ".hpp": "hpp h++",
    ".c": "c",
    ".h": "h",
    ".pyx": "cython pyx",
    ".rs": "rust rs",
    ".go": "go golang",
    ".java": "java",
    ".kt": "kotlin kt",
    ".scala": "scala",
    ".swift": "swift",
    ".cs": "csharp cs c#",
    ".js": "javascript js node mjs",
    ".ts": "typescript ts",
    ".jsx": "jsx",
    ".tsx": "tsx",
    ".rb": "ruby rb",
    ".php": "php",
    ".lua": "lua",
    ".jl": "julia jl",
    ".r": "r",
    ".hs": "haskell hs",
    ".ml": "ocaml ml",
    ".zig": "zig",
    ".m": "matlab objective-c objc",
    ".metal": "metal",
    ".cl": "opencl cl",
    ".f90": "fortran f90",
    ".sql": "sql",
}
_SUFFIXES = {name: suffix for suffix, names in _NAMES.items() for name in names.split()}
#: Suffixes of texts → names of fences that show something, and are no code of the answer.
_SHOWN = {
    "txt log out cfg md in diff patch": "text txt plaintext plain output out stdout log terminal math latex "
    "tex mermaid dot graphviz ascii diff patch pycon python-repl pytb traceback http",
    "sh bash ps1 bat": "bash sh shell zsh fish shell-session console cmd bat powershell ps1",
    "json jsonl": "json jsonc json5 jsonl",
    "yaml yml": "yaml yml",
    "toml": "toml",
    "ini cfg conf": "ini cfg conf dotenv env properties",
    "md markdown rst": "markdown md mdx rst",
    "html xml svg css scss": "html xml svg css scss",
    "csv tsv": "csv tsv",
    "txt cmake mk": "makefile make cmake dockerfile docker",
}
_TEXTS = {name: suffixes.split() for suffixes, names in _SHOWN.items() for name in names.split()}
_C_FAMILY = frozenset({".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".cu", ".cuh"})
_PYTHON = frozenset({".py", ".pyi", ".pyx"})
#: Suffix → what begins a comment in its language, where that is not ``//``.
COMMENTS = {
    **dict.fromkeys((".py", ".pyx", ".jl", ".r", ".rb", ".sh"), "#"),
    **dict.fromkeys((".hs", ".lua", ".sql"), "--"),
}

_CUDA = re.compile(r"\b__(?:global|device|shared)__\b|<<<|\bcuda_runtime\b|\bcudaMalloc\b")
_C = re.compile(r"^[ \t]*#[ \t]*include\b|\bint main\(|\bstd::|^template\b", re.M)
_PYTHON_LINE = re.compile(
    r"^[ \t]*(?:(?:async )?def [A-Za-z_]\w*\(|class [A-Za-z_]\w*\b.*:|from [\w.]+ import |import \w|@\w)",
    re.M,
)
_SAID = re.compile(r"\w")
_LOOKED_AT = 200_000


def suffix_of(language: str, text: str) -> str:
    """How a file of a fence's code ends; empty where the fence holds none.

    Args:
        language: As the fence says it, or nothing.
        text: What stands in it: CUDA is often called C++, and many fences say nothing.
    """
    suffix = _SUFFIXES.get(language.lower().strip("{}.,;"), "")
    if text.startswith(">>> "):
        return ""
    if suffix in (".c", ".cpp") and _CUDA.search(text, 0, _LOOKED_AT):
        return ".cu"
    return suffix if suffix or language else guessed(text)


def guessed(text: str) -> str:
    """How a file of a text would end, by what stands in it; empty where it is no code.

    Args:
        text: The text.
    """
    if _CUDA.search(text, 0, _LOOKED_AT):
        return ".cu"
    if _C.search(text, 0, _LOOKED_AT):
        return ".cpp"
    return ".py" if _PYTHON_LINE.search(text, 0, _LOOKED_AT) and _is_python(text) else ""


def _is_python(text: str) -> bool:
    """Whether a text is Python, or would be but for a mistake: most of its lines are no sentences."""
    try:
        parsed(text.encode("utf-8", "replace"))
    except SyntaxError:
        lines = [line for line in text[:_LOOKED_AT].split("\n") if _SAID.search(line)]
        coded = sum(
            line[0] in " \t#@)]}" or line.rstrip().endswith((":", ")", ",", "(", "]")) for line in lines
        )
        return 2 * coded > len(lines)
    return True


def fits(language: str, name: str) -> bool:
    """Whether a file of some name can be in a language, as a fence says it.

    Args:
        language: The fence's; one that says nothing, or nothing known, fits all.
        name: The file's.
    """
    suffix, language = PurePosixPath(name.lower()).suffix, language.lower()
    if language in _TEXTS:
        return suffix.lstrip(".") in _TEXTS[language] or not suffix
    known = _SUFFIXES.get(language, "")
    family = next((one for one in (_C_FAMILY, _PYTHON) if known in one), frozenset({known}))
    return not known or suffix in family
