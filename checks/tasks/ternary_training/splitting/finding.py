"""Every two parts of a split that are cut out of two orders of one whole."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from judge_tui.checks.sources import is_test_file
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.ternary_training.corpora import trees
from judge_tui.checks.tasks.ternary_training.splitting.following import returned
from judge_tui.checks.tasks.ternary_training.splitting.frames import (
    Frame,
    Function,
    Module,
    Reading,
    Unfollowed,
)
from judge_tui.checks.tasks.ternary_training.splitting.naming import Mixed, conflicts
from judge_tui.checks.tasks.ternary_training.splitting.randomness import GLOBAL, SEEDS
from judge_tui.checks.tasks.ternary_training.splitting.rows import Rows, Value
from judge_tui.checks.tasks.ternary_training.splitting.statements import run
from judge_tui.checks.tasks.ternary_training.splitting.written import dotted

__all__ = ["Mixed", "mixed"]


def mixed(submission: Submission) -> list[Mixed]:
    """Follow every Python file of a submission that is no test, its functions each by itself as well.

    Args:
        submission: What was submitted.
    """
    modules = {
        PurePosixPath(file).stem: Module(file, tree, dict(_imports(tree)), _set_by_functions(tree))
        for file, tree in trees(submission)
        if not is_test_file(file)
    }
    found: dict[object, Mixed] = {}

    def told(reading: Reading, line: int) -> None:
        for each in conflicts(reading, line):
            found.setdefault(each.key, each)

    reading = Reading(modules, run, told)
    try:
        for module in modules.values():
            _module(reading, module)
        for module in modules.values():
            _each_by_itself(reading, module)
    except (Unfollowed, RecursionError):
        # What was found until then stands.
        pass
    return list(found.values())


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.split(".", maxsplit=1)[0], alias.name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module or ''}.{alias.name}".lstrip(".")


def _module(reading: Reading, module: Module) -> None:
    module.frame = Frame(module)
    reading.frames.append(module.frame)
    for node in module.tree.body:
        if isinstance(node, Function):
            reading.bind(node.name, (node, module.frame))
    run(reading, module.tree.body)
    reading.told(reading, 0)
    reading.frames.pop()


def _set_by_functions(tree: ast.Module) -> set[str]:
    """Names of a module that a function may bind anew."""
    return {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}


def _each_by_itself(reading: Reading, module: Module) -> None:
    assert module.frame is not None
    functions = [f for f in module.functions().values() if not f.name.startswith("test")]
    _held_together(module.frame, [(f, _alone(reading, f, module.frame, {})) for f in functions], reading)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef):
            _class(reading, module, node)


def _alone(reading: Reading, function: Function, outer: Frame, given: dict[str, Value]) -> Value:
    """What a function returns; whoever calls it may seed the generators of modules before."""
    seeds = sum(_seeds(each.tree) for each in reading.modules.values())
    if seeds > 1:
        reading.generators = {key: made for key, made in reading.generators.items() if key not in GLOBAL}
    return returned(reading, function, outer, given)


def _seeds(tree: ast.Module) -> int:
    """How often the generators of modules are seeded."""
    called = [dotted(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return sum(name.rpartition(".")[0] in GLOBAL and name.rpartition(".")[2] in SEEDS for name in called)


def _class(reading: Reading, module: Module, node: ast.ClassDef) -> None:
    """Its constructor first, then each method on what that leaves."""
    own = Frame(module, outer=module.frame)
    own.names["self"] = Rows(("self", module.file, node.name))
    methods = [item for item in node.body if isinstance(item, Function)]
    own.names |= {f"def {method.name}": (method, own) for method in methods}
    given: dict[str, Value] = {"self": own.names["self"]}
    for method in methods:
        if method.name == "__init__":
            returned(reading, method, own, given)
    for name in _set_elsewhere(methods) & own.names.keys():
        own.names[name] = reading.fresh()
    kept = dict(own.names)
    answers = []
    for method in methods:
        if method.name != "__init__":
            answers.append((method, _alone(reading, method, own, given)))
            own.names = dict(kept)
    _held_together(own, answers, reading)


def _set_elsewhere(methods: Sequence[Function]) -> set[str]:
    return {
        f"self.{node.attr}"
        for method in methods
        if method.name != "__init__"
        for node in ast.walk(method)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }


def _held_together(outer: Frame, answers: Sequence[tuple[Function, Value]], reading: Reading) -> None:
    """What functions return that are named after a split, against each other and what stands outside."""
    frame = Frame(outer.module, outer=outer)
    frame.results = [(f"{function.name}()", value) for function, value in answers]
    reading.frames.append(frame)
    reading.told(reading, 0)
    reading.frames.pop()
