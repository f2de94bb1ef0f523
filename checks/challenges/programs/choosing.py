"""Which file of a submission is its program: the one that is named, or the only one with a main."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from judge_tui.checks.challenges.programs.recipes import Recipe
from judge_tui.checks.faults import Fault, Skipped, Unbound
from judge_tui.checks.sources import is_side_program, is_test_file, parsed
from judge_tui.checks.submission import META, Submission

__all__ = ["ROLE", "Program", "Undecided", "chosen"]

#: What a binding names it by: ``[binding.program] target = "main.cpp"``.
ROLE = "program"
_CLASS = re.compile(r"\b(public\s+)?(?:final\s+)?(?:class|record|enum|interface)\s+(\w+)")
_JAVA_MAIN, _PACKAGE = re.compile(r"\bvoid\s+main\s*\("), re.compile(r"^\s*package\s+([\w.]+)\s*;", re.M)
_READS = re.compile(r"\binput\s*\(|\bstdin\b|open\(\s*0")


@dataclass(frozen=True, slots=True)
class Program:
    """A submission's program.

    Attributes:
        main: Its main file.
        recipe: How it is built and run.
        sources: What is compiled, the main file first.
        main_class: Of Java, the class to run.
    """

    main: str
    recipe: Recipe
    sources: tuple[str, ...]
    main_class: str = ""


class Undecided(Unbound):
    """Several files could be the program, or none.

    Args:
        message: The clause.
        candidates: The files.
    """

    def __init__(self, message: str, candidates: Sequence[str]) -> None:
        Fault.__init__(self, message)
        self.role, self.candidates = ROLE, tuple(candidates)


def chosen(submission: Submission, recipes: Sequence[Recipe], entry: str = "") -> Program:
    """The program of a submission.

    Args:
        submission: A snapshot of it.
        recipes: The languages that the challenge knows; the first that knows a file counts.
        entry: What the challenge names: a file, and maybe a name in it.

    Raises:
        Undecided: It cannot be told which file it is.
        Skipped: Nothing is in a language that is known.
    """
    by_file = {file: recipe for file in submission.files if (recipe := _recipe(file, recipes))}
    if not by_file:
        raise Skipped(_nothing(submission.files, recipes))
    main = _named(submission, by_file, entry) or _found(submission, by_file)
    recipe = by_file[main]
    sources = _sources(submission, by_file, main)
    return Program(main, recipe, sources, _main_class(submission.read_text(main), main))


def _recipe(file: str, recipes: Sequence[Recipe]) -> Recipe | None:
    return next((recipe for recipe in recipes if recipe.knows(file)), None)


def _nothing(files: Sequence[str], recipes: Sequence[Recipe]) -> str:
    told = ", ".join(files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")
    are = "is" if len(files) == 1 else "are"
    known = ", ".join(recipe.title for recipe in recipes)
    return f"no submission: {told} {are} in no language that this challenge knows ({known})"


def _named(submission: Submission, by_file: Mapping[str, Recipe], entry: str) -> str:
    """The file that the binding names, else the challenge; empty where there is none of that name."""
    target = submission.meta.binding.get(ROLE, {}).get("target", "")
    if target and isinstance(target, str):
        file = target.partition(":")[0]
        if file not in by_file:
            raise Undecided(f"[binding.{ROLE}] names {file}, which is no source file here", tuple(by_file))
        return file
    file = entry.partition(":")[0]
    if file in by_file:
        return file
    same = [each for each in by_file if file and each.rpartition("/")[2] == file]
    return same[0] if len(same) == 1 else ""


def _found(submission: Submission, by_file: Mapping[str, Recipe]) -> str:
    """The only source file, the only one with a main, or the only ``main.*``."""
    files = [file for file in by_file if not is_side_program(file)] or list(by_file)
    if len(files) == 1:
        return files[0]
    mains = [file for file in files if _has_main(submission, file, by_file[file])]
    imported = set(_imported(submission, files)) if len(mains) > 1 else set()
    mains = [file for file in mains if file not in imported] or mains
    if len(mains) == 1:
        return mains[0]
    called = [file for file in mains or files if PurePosixPath(file).stem.lower() == "main"]
    if len(called) == 1:
        return called[0]
    how = f'name it in {META}: [binding.{ROLE}] target = "{(mains or files)[0]}"'
    if mains:
        raise Undecided(f"{_listed(mains)} could each be the program → {how}", mains)
    raise Undecided(f"none of {_listed(files)} has a main → {how}", files)


def _listed(files: Sequence[str]) -> str:
    first = list(files[:4])
    last = f"{len(files) - 4} more" if len(files) > 4 else first.pop()
    return f"{', '.join(first)} and {last}"


def _has_main(submission: Submission, file: str, recipe: Recipe) -> bool:
    if recipe.main or not file.endswith(".py"):
        return recipe.has_main(submission.read_text(file))
    try:
        return any(map(_does, parsed(submission.read_bytes(file)).body))
    except SyntaxError:
        return True


def _does(statement: ast.stmt) -> bool:
    """Whether a statement of a module does something, beside defining it."""
    match statement:
        case ast.Expr(value=ast.Call()) | ast.For() | ast.While() | ast.With():
            return True
        case ast.If():
            return "__main__" in ast.unparse(statement.test) or any(map(_does, statement.body))
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
            return bool(_READS.search(ast.unparse(statement)))
    return False


def _imported(submission: Submission, files: Sequence[str]) -> Iterator[str]:
    """The Python files that others import."""
    modules = {PurePosixPath(file).stem: file for file in files if file.endswith(".py")}
    for file in modules.values():
        try:
            tree = parsed(submission.read_bytes(file))
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            yield from (modules[name] for name in names if name in modules and modules[name] != file)


def _sources(submission: Submission, by_file: Mapping[str, Recipe], main: str) -> tuple[str, ...]:
    """What is compiled: the main file, and what has no main of its own where a language compiles all."""
    recipe = by_file[main]
    if not (recipe.together or recipe.taught):
        return (main,)
    others = [
        file
        for file, each in by_file.items()
        if each == recipe
        and file != main
        and not is_test_file(file)
        and _belongs(submission, file, main, recipe)
    ]
    return (main, *others)


def _belongs(submission: Submission, file: str, main: str, recipe: Recipe) -> bool:
    """Whether a file is compiled along with the main one."""
    if recipe.name == "java":
        return True
    if recipe.name == "go" and file.rpartition("/")[0] != main.rpartition("/")[0]:
        return False
    return not recipe.has_main(submission.read_text(file))


def _main_class(text: str, main: str) -> str:
    """The class that Java runs: the public one, the one that the file is named by, else the last one."""
    if not main.endswith(".java"):
        return ""
    stem, end = PurePosixPath(main).stem, _JAVA_MAIN.search(text)
    found = [
        (bool(match[1]), match[2]) for match in _CLASS.finditer(text, 0, end.start() if end else len(text))
    ]
    names = [name for _public, name in found]
    public = [name for is_public, name in found if is_public]
    name = public[0] if public else stem if stem in names or not names else names[-1]
    package = _PACKAGE.search(text)
    return f"{package[1]}.{name}" if package else name
