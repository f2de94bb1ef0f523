"""Finding the tests that a submission brings along: functions, classes, else scripts."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from judge_tui.checks.sources import is_side_program, is_test_file, parsed, python_files
from judge_tui.checks.submission import Submission

__all__ = ["FoundTest", "found_tests"]

_MOST_CASES = 200
_ACTING = (ast.Expr, ast.Assert, ast.If, ast.For, ast.While, ast.With, ast.Try)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
#: Parameters that pytest itself fills.
_FIXTURES = frozenset(
    {
        "capfd",
        "caplog",
        "capsys",
        "monkeypatch",
        "recwarn",
        "request",
        "tmp_path",
        "tmp_path_factory",
        "tmpdir",
    }
)


@dataclass(frozen=True, slots=True)
class FoundTest:
    """A test: a function, a method of a class, or (empty name) a whole script.

    Attributes:
        file: Where it is.
        name: Qualified name.
        line: 1-based.
        needs: Parameters that nothing here can fill: fixtures.
        arguments: Parameter → value, from a literal ``parametrize``.
        unittest: A method of a ``unittest.TestCase``.
        before: Methods that are called on the instance first.
        class_before: Method of the class that is called once.
        marked: A mark of pytest's may say that it is left out, or expected to fail.
    """

    file: str
    name: str
    line: int
    needs: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    unittest: bool = False
    before: tuple[str, ...] = ()
    class_before: str = ""
    marked: bool = False

    @property
    def title(self) -> str:
        """File, name and arguments, for people."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.file}: {self.name or 'main script'}" + (f"[{given}]" if given else "")


def found_tests(submission: Submission) -> tuple[list[FoundTest], list[FoundTest]]:
    """Test functions and methods of any file, and the scripts that stand for them where there are none.

    Args:
        submission: Whose.

    Returns:
        The tests, and the scripts: tests and demos alone, where there are any.
    """
    tests: list[FoundTest] = []
    scripts: list[FoundTest] = []
    for file in python_files(submission):
        try:
            tree = parsed(submission.read_bytes(file))
        except SyntaxError:
            continue
        here = list(_in_module(file, tree))
        tests += here
        main = next((node for node in tree.body if _is_main(node)), None)
        if main is not None:
            scripts.append(FoundTest(file, "", main.lineno))
        elif is_test_file(file) and not here and any(_acts(node) for node in tree.body):
            scripts.append(FoundTest(file, "", 1))
    side = [script for script in scripts if is_side_program(script.file)]
    return tests, side or scripts


def _in_module(file: str, tree: ast.Module) -> Iterator[FoundTest]:
    body = list(_statements(tree.body))
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    filled = _filled(tree)
    for node in body:
        if isinstance(node, _FUNCTIONS) and node.name.startswith("test"):
            cases = list(_cases(FoundTest(file, node.name, node.lineno), node, skip=0))
            # In a file of code, "test_loss(model, data)" is a helper, no test.
            helper = not is_test_file(file) and not node.decorator_list
            yield from (case for case in cases if not (helper and set(case.needs) - filled))
        if isinstance(node, ast.ClassDef):
            yield from _in_class(file, node, classes)


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a module, also those under conditions but for the main block."""
    for node in body:
        if isinstance(node, ast.If) and not _is_main(node):
            yield from _statements([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            handled = [item for handler in node.handlers for item in handler.body]
            yield from _statements([*node.body, *handled, *node.orelse])
        else:
            yield node


def _filled(tree: ast.Module) -> set[str]:
    """Names of parameters that pytest may fill in a file."""
    names = {node.name for node in tree.body if isinstance(node, _FUNCTIONS) and node.decorator_list}
    return names | _FIXTURES


def _in_class(file: str, node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> Iterator[FoundTest]:
    family = list(_family(node, classes))
    case = any(_last_name(base).endswith("TestCase") for member in family for base in member.bases)
    if not case and not node.name.startswith("Test"):
        return
    methods: dict[str, _Function] = {}
    for member in family:
        for item in member.body:
            if isinstance(item, _FUNCTIONS):
                methods.setdefault(item.name, item)
    if not case and "__init__" in methods:
        return
    before = tuple(name for name in ("setup_method", "setUp", "setup") if name in methods and not case)[:1]
    once = next((name for name in ("setUpClass", "setup_class") if name in methods), "")
    for name, item in methods.items():
        if name.startswith("test"):
            test = FoundTest(
                file, f"{node.name}.{name}", item.lineno, unittest=case, before=before, class_before=once
            )
            yield from _cases(test, item, skip=0 if _is_static(item) else 1)


def _family(
    node: ast.ClassDef, classes: Mapping[str, ast.ClassDef], depth: int = 8
) -> Iterator[ast.ClassDef]:
    """A class and its bases in the same file, nearest first."""
    yield node
    for base in node.bases:
        if depth and _last_name(base) in classes and classes[_last_name(base)] is not node:
            yield from _family(classes[_last_name(base)], classes, depth - 1)


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_static(function: _Function) -> bool:
    return any(_last_name(decorator) == "staticmethod" for decorator in function.decorator_list)


def _cases(test: FoundTest, function: _Function, *, skip: int) -> Iterator[FoundTest]:
    """The test once, or once per combination of its literal parametrizations."""
    args = [*function.args.posonlyargs, *function.args.args][skip:]
    required = {arg.arg for arg in args[: len(args) - len(function.args.defaults)]}
    sets = [rows for decorator in function.decorator_list if (rows := _parametrized(decorator))]
    marked = not test.unittest and any(_is_mark(decorator) for decorator in function.decorator_list)
    combined = [_merged(rows) for rows in itertools.islice(itertools.product(*sets), _MOST_CASES)]
    for arguments in combined:
        needs = tuple(arg.arg for arg in args if arg.arg in required and arg.arg not in arguments)
        if isinstance(function, ast.AsyncFunctionDef) and not test.unittest:
            needs = (*needs, "event_loop")
        yield replace(test, needs=needs, arguments=arguments, marked=marked)


def _is_mark(decorator: ast.expr) -> bool:
    """Whether it is a mark of pytest's that may say when a test is run."""
    mark = decorator.func if isinstance(decorator, ast.Call) else decorator
    named = isinstance(mark, ast.Attribute) and _last_name(mark.value) == "mark"
    return named and _last_name(mark) not in ("parametrize", "filterwarnings")


def _merged(rows: tuple[Mapping[str, Any], ...]) -> dict[str, Any]:
    return {name: value for row in rows for name, value in row.items()}


def _parametrized(decorator: ast.expr) -> list[dict[str, Any]]:
    """What ``@pytest.mark.parametrize`` lists, when it is written out; else empty."""
    if not isinstance(decorator, ast.Call) or _last_name(decorator.func) != "parametrize":
        return []
    try:
        names, values = (ast.literal_eval(argument) for argument in decorator.args[:2])
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
        rows = [[value] if len(names) == 1 else list(value) for value in values]
        msgspec.msgpack.encode(rows)
        return [dict(zip(names, row, strict=True)) for row in rows]
    except (ValueError, TypeError, OverflowError, SyntaxError, MemoryError, RecursionError):
        return []


def _acts(node: ast.stmt) -> bool:
    """Whether a statement does more than define, import or say something."""
    said = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return isinstance(node, _ACTING) and not said


def _is_main(node: ast.stmt) -> bool:
    if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
        return False
    sides = (node.test.left, *node.test.comparators)
    return any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
