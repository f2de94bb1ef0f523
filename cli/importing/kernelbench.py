"""Problems of KernelBench: files with ``Model``, ``get_inputs`` and ``get_init_inputs``.

Source of the format: Ouyang et al., KernelBench: Can LLMs Write Efficient GPU Kernels?, 2025,
https://github.com/ScalingIntelligence/KernelBench.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge_tui.checks.challenges.challenge import NUMBERS
from judge_tui.checks.errors import JudgeError, WorkspaceError
from judge_tui.checks.sources import parsed
from judge_tui.cli.bringing.folders import one_file, refuse_what_is_none
from judge_tui.cli.importing.constants import Value, functions
from judge_tui.cli.importing.imported import Imported
from judge_tui.cli.importing.kernelbench_wrapper import FOR_NUMPY, FOR_TORCH, WRAPPER
from judge_tui.cli.importing.sizes import Sizes, sizes_of
from judge_tui.cli.importing.trial import Trial, tried
from judge_tui.cli.importing.wrapping import in_docstring, listed
from judge_tui.judging.challenges.outline import STATEMENT

__all__ = ["kernelbench", "problem"]

_MODEL, _ANSWER = "Model", "ModelNew"
_INPUTS, _STARTS = "get_inputs", "get_init_inputs"
#: Entries of the largest array of a case; odd sizes fit no block of a kernel.
_CASES = ((3_000, True), (20_000, False), (80_000, True))
#: Those of what is timed, before the problem's own.
_BENCH = (4_000_000,)
#: What is tried where no smaller size fits.
_LAST = (2_000_000, 30_000_000)
#: Names of files that the challenge or its trial needs for itself.
_TAKEN = {NUMBERS: "published.py", "solution.py": "published.py"}


@dataclass(frozen=True, slots=True)
class _Problem:
    """What the tree of a problem says.

    Attributes:
        file: What its file is called.
        title: For people.
        doc: Docstring of the model.
        forward: What ``forward`` takes.
        init: What the constructor takes.
        packages: What it imports beside the standard library and NumPy.
        sizes: Its sizes.
    """

    file: str
    title: str
    doc: str
    forward: tuple[str, ...]
    init: tuple[str, ...]
    packages: tuple[str, ...]
    sizes: Sizes


def kernelbench(source: Path) -> Iterator[Imported | JudgeError]:
    """The challenges that a problem, or a folder of problems, makes.

    Args:
        source: A file, or a folder; what is wrong with one file of a folder is given in its place.

    Raises:
        JudgeError: The file is no problem, or the folder holds no file of Python.
    """
    refuse_what_is_none(source)
    if not source.is_dir():
        yield problem(source)
        return
    there = (file for file in source.glob("*.py") if file.is_file() and not file.is_symlink())
    files = sorted(there, key=_natural)
    if not files:
        raise WorkspaceError("holds no file of Python.", file=source)
    for file in files:
        try:
            yield problem(file)
        except JudgeError as error:
            yield error


def _natural(file: Path) -> list[tuple[bool, int, str]]:
    """What files are sorted by: 2 stands before 10."""
    parts = re.split(r"([0-9]+)", file.name)
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts if part]


def problem(source: Path) -> Imported:
    """The challenge that a problem makes.

    Args:
        source: Its file.

    Raises:
        WorkspaceError: It is none, with what it lacks.
    """
    data = one_file(source)
    found = _read(data, source)
    files = {_file(found): data, STATEMENT: _statement(found).encode()}
    cases = list(_distinct(found.sizes.within(count, odd=odd) for count, odd in _CASES))
    trial = tried({**files, NUMBERS: _wrapper(found, cases)}, cases)
    if not (trial.fitting or trial.untried):
        last = _distinct(found.sizes.within(count) for count in _LAST)
        again = tried(
            {**files, NUMBERS: _wrapper(found, cases)}, [each for each in last if each not in cases]
        )
        trial = Trial(again.fitting, trial.trouble)
    used = list(trial.fitting) or cases
    return Imported(
        source.stem, {**files, NUMBERS: _wrapper(found, used)}, tuple(_told(found.sizes, used, trial))
    )


def _read(data: bytes, source: Path) -> _Problem:
    try:
        tree = parsed(data)
    except SyntaxError as error:
        raise WorkspaceError(f"does not parse: {error.msg}.", file=source, line=error.lineno) from error
    model = next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == _MODEL), None)
    made = functions(tree.body)
    methods = functions(model.body) if model is not None else {}
    lacking = [name for name in (_INPUTS, _STARTS) if name not in made]
    lacking = [f"class {_MODEL} with forward", *lacking] if "forward" not in methods else lacking
    if model is None or lacking:
        raise WorkspaceError(f"is no problem of KernelBench: it has no {', no '.join(lacking)}.", file=source)
    forward = _parameters(methods["forward"], source)
    init = _parameters(methods["__init__"], source) if "__init__" in methods else ()
    if both := {*forward} & {*init}:
        raise WorkspaceError(
            f"cannot be imported: forward and the constructor both take '{min(both)}'.",
            file=source, line=methods["forward"].lineno,
        )  # fmt: skip
    return _Problem(
        source.name, _title(source.stem), ast.get_docstring(model) or "", forward, init,
        tuple(_packages(tree)), sizes_of(tree),
    )  # fmt: skip


def _parameters(function: ast.FunctionDef, source: Path) -> tuple[str, ...]:
    """What a method takes beside ``self``, by position."""
    if function.args.vararg is not None:
        raise WorkspaceError(
            f"cannot be imported: '{function.name}' takes *{function.args.vararg.arg}, which names nothing.",
            file=source, line=function.lineno,
        )  # fmt: skip
    return tuple(each.arg for each in (*function.args.posonlyargs, *function.args.args))[1:]


def _packages(tree: ast.Module) -> Iterator[str]:
    """What the file imports beside the standard library and NumPy."""
    tops: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            tops |= {each.name.partition(".")[0]: None for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            tops[node.module.partition(".")[0]] = None
    yield from (top for top in tops if top not in sys.stdlib_module_names and top != "numpy")


def _title(stem: str) -> str:
    words = re.sub(r"^[0-9]+_", "", stem).replace("_", " ").split()
    return " ".join(words) or stem


def _file(found: _Problem) -> str:
    return _TAKEN.get(found.file, found.file)


def _distinct(sizes: Iterable[Mapping[str, Value]]) -> Iterator[Mapping[str, Value]]:
    seen: list[Mapping[str, Value]] = []
    for each in sizes:
        if each not in seen:
            seen.append(each)
            yield each


def _wrapper(found: _Problem, cases: Sequence[Mapping[str, Any]]) -> bytes:
    timed = _distinct([*(found.sizes.within(count) for count in _BENCH), dict(found.sizes.told)])
    torch = "torch" in found.packages
    rules = ['FRAMEWORKS = ["torch", "triton", "cupy"]', 'DTYPES = ["float32"]'] if torch else []
    if more := [name for name in found.packages if name != "torch"]:
        rules.append(f"PACKAGES = {more!r}")
    return WRAPPER.substitute(
        title=in_docstring(found.title),
        imports="".join(f"import {name}\n" for name in found.packages),
        file=repr(_file(found)),
        rules="\n".join(rules),
        forward=repr(list(found.forward)),
        init=repr(list(found.init)),
        signature=", ".join(f"{name}=NOT_GIVEN" for name in (*found.forward, *found.init)),
        starts=", ".join(found.init),
        values=", ".join(found.forward),
        cases=listed(cases),
        bench=listed(timed),
        helpers=FOR_TORCH if torch else FOR_NUMPY,
    ).encode()


def _statement(found: _Problem) -> str:
    base = "(nn.Module)" if "torch" in found.packages else ""
    init = f"__init__({', '.join(('self', *found.init))})"
    return (
        f"# {found.title}\n\n"
        + (f"{found.doc}\n\n" if found.doc else "")
        + f"An answer defines `class {_ANSWER}{base}` with `{init}` and "
        f"`forward({', '.join(('self', *found.forward))})`, which gives what `{_MODEL}` in `{_file(found)}` "
        f"gives, faster. Weights are drawn in the order in which `{_MODEL}` draws them.\n"
    )


def _told(sizes: Sizes, cases: Sequence[Mapping[str, Any]], trial: Trial) -> Iterator[str]:
    scaled = [
        f"{name} {value} → {' or '.join(str(n) for n in dict.fromkeys(case[name] for case in cases))}"
        for name, value in sizes.told.items()
        if any(case[name] != value for case in cases)
    ]
    if scaled:
        yield f"sizes for correctness: {'; '.join(scaled)}. Those of the problem are kept for timing."
    if trial.untried:
        yield f"it could not be tried: {trial.untried}."
    elif not trial.fitting:
        yield f"its reference does not answer: {trial.trouble}"
