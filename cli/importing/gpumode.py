"""Problems of gpu-mode's reference-kernels: a folder with ``task.yml`` and ``reference.py``.

Source of the format: https://github.com/gpu-mode/reference-kernels.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from judge_tui.checks.challenges.challenge import NUMBERS
from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.sources import parsed
from judge_tui.cli.bringing.folders import one_file, refuse_what_is_none
from judge_tui.cli.importing.constants import assigned, evaluated, functions
from judge_tui.cli.importing.gpumode_wrapper import CHECK, FOR_NUMPY, FOR_TORCH, TASK, UTILS, WRAPPER
from judge_tui.cli.importing.imported import Imported
from judge_tui.cli.importing.trial import Trial, tried
from judge_tui.cli.importing.wrapping import in_docstring, listed
from judge_tui.judging.challenges.outline import STATEMENT
from judge_tui.judging.challenges.yaml_files import parsed_yaml

__all__ = ["gpumode"]

_TASK, _REFERENCE = "task.yml", "reference.py"
_INPUTS, _TRUTH, _CHECK = "generate_input", "ref_kernel", "check_implementation"
_MATCH, _SEED = "make_match_reference", "seed"
_SUBMITTED = "@SUBMISSION@"
#: What gpu-mode's own evaluation is made of, which is done here otherwise.
_LEFT_OUT = frozenset({"eval.py", "submission.py", NUMBERS, "solution.py"})
#: Files that come from as many folders above, at most.
_ABOVE = 2
#: Dtypes that no array of NumPy has.
_FOREIGN = re.compile(r"bfloat16|float8\w*|float4\w*")
_HALF = frozenset({"float16", "half"})
_FLOATS = frozenset({"float32", "float64", "float", "double"})


@dataclass(frozen=True, slots=True)
class _Reference:
    """What the tree of ``reference.py`` says.

    Attributes:
        imports: Modules that it imports.
        seeded: Whether its inputs are drawn under a seed.
        checks: Whether it has a check of its own, rather than a comparison with the reference.
        tolerance: Relative tolerance of that comparison, where it is written.
        dtypes: Names of dtypes that the inputs are made of.
        writes: Whether the reference writes into what it is handed.
    """

    imports: frozenset[str]
    seeded: bool
    checks: bool
    tolerance: float | None
    dtypes: frozenset[str]
    writes: bool


def gpumode(source: Path) -> Iterator[Imported]:
    """The challenge that a problem makes.

    Args:
        source: Its folder.

    Raises:
        JudgeError: It is none, or asks for what is not done here.
    """
    refuse_what_is_none(source)
    for name in (_TASK, _REFERENCE):
        if not (source / name).is_file():
            raise WorkspaceError(
                f"is no problem of gpu-mode: it has no {name}.", hint="Name the folder that holds it.",
                file=source,
            )  # fmt: skip
    told = _task(source / _TASK)
    reference = _read(source / _REFERENCE)
    files = _files(source, told, reference)
    tests, timed = (_sizes(told, key, source / _TASK, reference) for key in ("tests", "benchmarks"))
    files[STATEMENT] = _statement(source.resolve().name, told).encode()
    trial = tried({**files, NUMBERS: _wrapper(source, reference, tests, timed)}, tests)
    used = list(trial.fitting) or tests
    yield Imported(
        source.resolve().name,
        {**files, NUMBERS: _wrapper(source, reference, used, timed)},
        tuple(_told(tests, trial)),
    )


def _task(file: Path) -> Mapping[str, Any]:
    """What ``task.yml`` says, as far as it can be done here."""
    told = parsed_yaml(one_file(file), file)
    if not isinstance(told, Mapping):
        raise WorkspaceError("must hold keys and values.", file=file)
    if told.get("lang", "py") != "py":
        raise WorkspaceError(
            f"answers are to be written in '{told['lang']}', and Python alone is judged here.", file=file
        )
    if told.get("multi_gpu"):
        raise WorkspaceError("answers run on several GPUs at once, which is not done here.", file=file)
    if not isinstance(told.get("description", ""), str):
        raise WorkspaceError("'description' must be a text.", file=file)
    return told


def _sizes(told: Mapping[str, Any], key: str, file: Path, reference: _Reference) -> list[dict[str, Any]]:
    """What ``generate_input`` takes, but for the seed; each once."""
    listed = told.get(key) or []
    good = isinstance(listed, list) and all(isinstance(each, dict) for each in listed)
    if not good or not all(
        isinstance(name, str) and name.isidentifier() and isinstance(value, (int, float, str))
        for each in listed
        for name, value in each.items()
    ):
        raise WorkspaceError(f"'{key}' must be a list of sizes, such as - {{size: 128, seed: 1}}.", file=file)
    found: list[dict[str, Any]] = []
    for each in listed:
        sizes = {name: value for name, value in each.items() if not (reference.seeded and name == _SEED)}
        if sizes not in found:
            found.append(sizes)
    if key == "tests" and not found:
        raise WorkspaceError("has no tests: nothing would be judged.", file=file)
    return found


def _read(file: Path) -> _Reference:
    try:
        tree = parsed(one_file(file))
    except SyntaxError as error:
        raise WorkspaceError(f"does not parse: {error.msg}.", file=file, line=error.lineno) from error
    made = functions(tree.body)
    if lacking := [name for name in (_INPUTS, _TRUTH) if name not in made]:
        raise WorkspaceError(f"has no {' and no '.join(lacking)}.", file=file)
    matched = dict(assigned(tree.body)).get(_CHECK)
    found = _Reference(
        frozenset(_imports(tree)),
        _SEED in {each.arg for each in (*made[_INPUTS].args.args, *made[_INPUTS].args.kwonlyargs)},
        _CHECK in made,
        _tolerance(matched),
        frozenset(node.attr for node in ast.walk(made[_INPUTS]) if isinstance(node, ast.Attribute)),
        any(_writes(node) for node in ast.walk(made[_TRUTH])),
    )
    if foreign := sorted(name for name in found.dtypes if _FOREIGN.fullmatch(name)):
        raise WorkspaceError(
            f"its inputs are of {foreign[0]}, which no array of NumPy can hold.",
            file=file, line=made[_INPUTS].lineno,
        )  # fmt: skip
    return found


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def _tolerance(node: ast.expr | None) -> float | None:
    """The relative tolerance of ``make_match_reference(ref_kernel, rtol=…)``."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == _MATCH):
        return None
    told = next((each.value for each in node.keywords if each.arg == "rtol"), None)
    value = evaluated(told, {}) if told is not None else None
    return float(value) if isinstance(value, (int, float)) else None


def _writes(node: ast.AST) -> bool:
    """Whether a statement stores into an item of something."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    targets = [node.target] if isinstance(node, ast.AugAssign) else targets
    return any(isinstance(each, ast.Subscript) for each in targets)


def _files(source: Path, told: Mapping[str, Any], reference: _Reference) -> dict[str, bytes]:
    """The files of the problem that its reference may need, and stand-ins for those that are missing."""
    files = {_REFERENCE: one_file(source / _REFERENCE)}
    listed = told.get("files") or []
    for each in listed if isinstance(listed, list) else ():
        name, place = _place(each, source / _TASK)
        if name and name not in _LEFT_OUT and _is_own(path := source / place, source):
            files[name] = one_file(path)
    for name in ("task", "utils"):
        if name in reference.imports and _is_own(path := source / f"{name}.py", source):
            files.setdefault(path.name, one_file(path))
    for name, text in (("task", TASK), ("utils", UTILS)):
        if name in reference.imports:
            files.setdefault(f"{name}.py", text.encode())
    return files


def _is_own(path: Path, source: Path) -> bool:
    """Whether it is a file that no link leads to from elsewhere."""
    above = [source.resolve(), *source.resolve().parents][: _ABOVE + 1][-1]
    return path.is_file() and not path.is_symlink() and path.resolve().is_relative_to(above)


def _place(each: Any, file: Path) -> tuple[str, str]:
    """What a file is to be called, and where it lies; empty for what answers hand in."""
    name, place = (each.get("name"), each.get("source")) if isinstance(each, dict) else (None, None)
    if not (isinstance(name, str) and isinstance(place, str)):
        raise WorkspaceError("'files' must be a list of names and sources.", file=file)
    if place == _SUBMITTED or not name.endswith(".py"):
        return "", ""
    parts = PurePosixPath(place).parts
    inside = place.endswith(".py") and not PurePosixPath(place).is_absolute() and parts.count("..") <= _ABOVE
    if not inside or "/" in name or "\\" in name:
        raise WorkspaceError(
            f"'{name}' is to come from '{place}', which is no file of the problem.", file=file
        )
    return name, place


def _wrapper(
    source: Path,
    reference: _Reference,
    tests: Sequence[Mapping[str, Any]],
    timed: Sequence[Mapping[str, Any]],
) -> bytes:
    torch = "torch" in reference.imports
    imports = ["import numpy as np", "import torch", "from torch.overrides import TorchFunctionMode"]
    return WRAPPER.substitute(
        title=in_docstring(_title(source.resolve().name)),
        imports="\n".join(imports if torch else ["import contextlib"]) + "\n",
        rules="\n".join(_rules(reference)),
        cases=listed(tests),
        bench=listed(timed),
        seed=f", {_SEED}=int(rng.integers(2**31))" if reference.seeded else "",
        check=CHECK if reference.checks else "",
        helpers=FOR_TORCH if torch else FOR_NUMPY,
    ).encode()


def _rules(reference: _Reference) -> Iterator[str]:
    if "torch" in reference.imports:
        yield 'FRAMEWORKS = ["torch", "triton", "cupy"]'
    half = reference.dtypes & _HALF and not reference.dtypes & _FLOATS
    yield f'DTYPES = ["{"float16" if half else "float32"}"]'
    yield "# Modules that answers name for their annotations."
    yield 'PACKAGES = ["task", "utils"]'
    if reference.writes:
        yield "# The data hold an array that an answer is to write into."
        yield "PURE = False"
    if reference.tolerance is not None and not reference.checks:
        yield "# Relative, as published; near zero the root mean square of all entries is the floor."
        yield f"TOLERANCE = {reference.tolerance!r}"


def _title(name: str) -> str:
    return name.removesuffix("_py").replace("_", " ").replace("-", " ")


def _statement(name: str, told: Mapping[str, Any]) -> str:
    description = str(told.get("description") or "").strip()
    return (
        f"# {_title(name)}\n\n{description}\n\n"
        "An answer defines `custom_kernel(data)`, which gives what `ref_kernel` of `reference.py` gives.\n"
    )


def _told(tests: Sequence[Mapping[str, Any]], trial: Trial) -> Iterator[str]:
    if trial.untried:
        yield f"it could not be tried: {trial.untried}."
    elif not trial.fitting:
        yield f"its reference does not answer: {trial.trouble}"
    elif trial.trouble:
        yield (
            f"{len(tests) - len(trial.fitting)} of {len(tests)} tests are left out, since its reference does "
            f"not answer them here: {trial.trouble}"
        )
