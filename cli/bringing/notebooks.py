"""Jupyter notebooks: their code as one file, cell by cell, and what they write into files of their own.

Source: nbformat 3 and 4; "py:percent" of Jupytext for what a notebook looks like as a script.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

import msgspec

from judge_tui.checks.lines import split_lines
from judge_tui.checks.sources import parsed
from judge_tui.checks.typed import from_json
from judge_tui.cli.bringing.brought import Brought, Refused, listed
from judge_tui.cli.bringing.languages import COMMENTS, suffix_of
from judge_tui.cli.bringing.member_names import free_name, module_name, said, tidied, why_not
from judge_tui.judging.wording import counted

__all__ = ["from_notebook"]

_MARK = "%%"
#: Magics whose cell is Python all the same.
_ALSO = "time timeit capture prun memit mprun lprun python python3 py scalene mypy ipytest pytest debug"
_RUNS = frozenset(_ALSO.split())
#: Magics whose cell is a file's content, or code in another language → how its file ends.
_WRITES = frozenset({"writefile", "file", "overwritefile"})
_LANGUAGES = {
    **dict.fromkeys(("cu", "cuda", "cudasm", "nvcc", "cuda_group_save", "cuda_run", "cuda_group_run"), ".cu"),
    **dict.fromkeys(("cpp", "c++", "cxx"), ".cpp"),
    "c": ".c",
    "cython": ".pyx",
    "julia": ".jl",
    "r": ".r",
}
_MAGIC = re.compile(r"([ \t]*)(?:[%!?](?=[^\s=])|[\w.]+\?\??[ \t]*$|[\w.]+[ \t]*=[ \t]*[%!]\w)")
_NAMED = re.compile(r"(?:^|\s)(?:-n|--name)[ =]+(\S+)")


class _Cell(msgspec.Struct):
    """A cell, of nbformat 3 or 4: there code stood in ``input``."""

    cell_type: str = "code"
    source: str | list[str] = ""
    input: str | list[str] = ""

    @property
    def text(self) -> str:
        held = self.source or self.input
        return held if isinstance(held, str) else "".join(held)


class _Worksheet(msgspec.Struct):
    cells: list[_Cell] = []


class _Kernel(msgspec.Struct):
    name: str = ""
    language: str = ""
    file_extension: str = ""


class _Metadata(msgspec.Struct):
    kernelspec: _Kernel = msgspec.field(default_factory=_Kernel)
    language_info: _Kernel = msgspec.field(default_factory=_Kernel)


class _Notebook(msgspec.Struct):
    nbformat: int = 4
    cells: list[_Cell] = []
    worksheets: list[_Worksheet] = []
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)

    @property
    def all_cells(self) -> list[_Cell]:
        return [*self.cells, *(cell for sheet in self.worksheets for cell in sheet.cells)]


def from_notebook(data: bytes, task: str) -> Brought:
    """The code of a notebook.

    Args:
        data: Its JSON.
        task: What the file with the cells is called after.

    Raises:
        Refused: It is no notebook, or has no code.
    """
    try:
        notebook = from_json(data.removeprefix(b"\xef\xbb\xbf"), _Notebook)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise Refused(f"is no notebook: {str(error).rstrip('.')}.") from error
    if not any(cell.cell_type == "code" and cell.text.strip() for cell in notebook.all_cells):
        raise Refused("is a notebook without a cell of code.")
    return _Script(notebook, task).brought()


def _suffix(notebook: _Notebook) -> str:
    about = notebook.metadata
    for language in (about.kernelspec.language, about.language_info.name, about.kernelspec.name):
        if found := suffix_of(language, "") if language else "":
            return found
    extension = about.language_info.file_extension
    return extension if re.fullmatch(r"\.\w{1,8}", extension) else ".py"


class _Script:
    """A notebook on its way to being files."""

    def __init__(self, notebook: _Notebook, task: str) -> None:
        self._suffix, self._task = _suffix(notebook), task
        self._comment = COMMENTS.get(self._suffix, "//")
        self._parts: list[str] = []
        self._files: dict[str, str] = {}
        self._magics: list[str] = []
        self._left_out: list[str] = []
        for number, cell in enumerate(notebook.all_cells, 1):
            if text := cell.text.strip("\n"):
                self._add(number, cell.cell_type, split_lines(text))

    def brought(self) -> Brought:
        """The files."""
        files = dict(self._files)
        if self._parts:
            files[free_name(f"{module_name(self._task)}{self._suffix}", files)] = "\n".join(self._parts)
        encoded = {name: text.encode("utf-8", "replace") for name, text in files.items()}
        return Brought(encoded, (), tuple(self._told()))

    def _told(self) -> Iterator[str]:
        if self._magics:
            some = counted(len(self._magics), "line")
            verb = "is" if len(self._magics) == 1 else "are"
            yield f"{some} for the notebook alone {verb} commented out: {listed(self._magics)}."
        if self._left_out:
            yield f"{counted(len(self._left_out), 'cell')} left out: {listed(self._left_out)}."

    def _add(self, number: int, kind: str, lines: Sequence[str]) -> None:
        if kind != "code":
            self._part(
                f"{self._comment} %% [markdown]", [f"{self._comment} {line}".rstrip() for line in lines]
            )
        elif lines[0].lstrip().startswith(_MARK):
            self._magic_cell(number, lines[0].strip()[len(_MARK) :].strip(), lines[1:])
        else:
            self._part(f"{self._comment} %%", self._plain(lines))

    def _part(self, mark: str, lines: Sequence[str]) -> None:
        self._parts.append("".join(f"{line}\n" for line in (mark, *lines)))

    def _magic_cell(self, number: int, magic: str, lines: Sequence[str]) -> None:
        name, _, rest = magic.partition(" ")
        if name.lower() in _WRITES:
            self._write(number, rest, lines)
        elif (suffix := _LANGUAGES.get(name.lower())) and suffix != self._suffix:
            named = _NAMED.search(rest)
            wanted = named[1].strip("\"'") if named else f"{module_name(self._task)}{suffix}"
            self._write(number, shlex.quote(wanted), lines, append=True)
        elif name.lower() in _RUNS or suffix:
            self._magics.append(f"%%{magic}")
            self._part(f"{self._comment} %%", [f"{self._comment} %%{magic}", *self._plain(lines)])
        else:
            self._left_out.append(f"cell {number} (%%{name})")
            self._part(f"{self._comment} %%", [f"{self._comment} {line}" for line in (f"%%{magic}", *lines)])

    def _write(self, number: int, arguments: str, lines: Sequence[str], *, append: bool = False) -> None:
        words = _words(arguments)
        append = append or "-a" in words or "--append" in words
        wanted = next((word for word in words if not word.startswith("-")), "")
        name = said(wanted)
        if not name:
            self._left_out.append(
                f"cell {number} ({why_not(tidied(wanted)) or 'a file of that name is none of it'})"
            )
            return
        before = self._files.get(name, "") if append else ""
        self._files[name] = before + "".join(f"{line}\n" for line in lines)

    def _plain(self, lines: Sequence[str]) -> list[str]:
        """The lines of a cell, with what only a notebook understands commented out."""
        if self._suffix != ".py" or not any(map(_MAGIC.match, lines)) or _parses(lines):
            return list(lines)
        found: list[str] = []
        goes_on = False
        for line in lines:
            match = _MAGIC.match(line)
            if match or goes_on:
                self._magics += [line.strip()] if match else []
                indent = match[1] if match else ""
                # a block must not be left empty
                found.append(f"{indent}pass  # {line.strip()}" if indent else f"# {line}")
                goes_on = line.rstrip().endswith("\\")
            else:
                found.append(line)
        return found


def _words(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:
        return arguments.split()


def _parses(lines: Sequence[str]) -> bool:
    try:
        parsed("\n".join(lines).encode("utf-8", "replace"))
    except SyntaxError:
        return False
    return True
