"""What a submission does to its layer from outside the layer's class, as its source says."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.sources import is_test_file, parsed, python_files

__all__ = ["Outside", "Write", "outside", "shut"]

_DYNAMIC = frozenset({"setattr", "vars", "delattr", "exec", "eval"})
#: ``vars(module).items()`` assigns to nothing.
_READS = frozenset({"items", "keys", "values", "get"})


@dataclass(frozen=True, slots=True)
class Write:
    """An assignment to an attribute: ``layer.W -= …`` changes the array, ``layer.W = …`` replaces it.

    Attributes:
        file: Where it stands.
        line: 1-based.
        in_place: Whether it is of the first sort.
        sets: ``True``, ``False`` or ``None`` where it is a flag that is set, or something dropped.
    """

    file: str
    line: int
    in_place: bool
    sets: tuple[bool | None, ...] = ()


@dataclass(slots=True)
class Outside:
    """Attributes by name, of whatever object.

    Attributes:
        stored: What is assigned to, and how where that is not on ``self``.
        loaded: What is read or called.
        dynamic: Whether something may be assigned to by a name that is made up.
        named: ``setattr`` by a name that is handed about, as optimisers do that are told where weights lie.
        looped: An array that a loop goes through and changes in place.
        strings: Names that ``setattr`` may be given: all short strings of the files.
    """

    stored: dict[str, Write | None] = field(default_factory=dict)
    loaded: set[str] = field(default_factory=set)
    dynamic: bool = False
    named: Write | None = None
    looped: Write | None = None
    strings: set[str] = field(default_factory=set)


def outside(bench: Bench, owner: str) -> Outside:
    """What the submission's files, tests left out, do to attributes outside the class ``owner``."""
    found = Outside()
    for file in python_files(bench.submission):
        if is_test_file(file):
            continue
        try:
            tree = parsed(bench.submission.read_bytes(file))
        except SyntaxError:
            found.dynamic = True
            continue
        for node, apart in _walked(tree, owner):
            _note(found, file, node, apart=apart)
            _by_name(found, file, node)
            _in_loops(found, file, node)
        found.strings |= {
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier()
        }
    return found


def shut(
    bench: Bench,
    owner: str,
    seen: Outside,
    known: frozenset[str],
    attributes: frozenset[str],
    besides: Collection[str] = (),
) -> bool:
    """Whether nothing outside the class can have told a layer that its weights have changed.

    Args:
        bench: Where the submission is loaded.
        owner: The layer's class.
        seen: What is done outside it.
        known: Methods that were called here, and attributes that were set.
        attributes: What the layer has.
        besides: Parameters of its forward that were handed over besides.
    """
    methods = {
        item.name.rpartition(".")[2]
        for item in callables(bench.bindings.loaded)
        if item.name.startswith(f"{owner}.")
    }
    told = (seen.loaded & methods) | (seen.stored.keys() & (attributes | methods))
    told |= seen.strings & (attributes | methods) if seen.named else set()
    return not seen.dynamic and not told - known and not _optional(bench, besides)


def _optional(bench: Bench, besides: Collection[str]) -> bool:
    """Whether forward or backward have parameters that were not handed over, and may ask for a projection."""
    for role in ("forward", "backward"):
        if role in bench.bindings:
            binding = bench.binding(role)
            for item in callables(bench.bindings.loaded):
                if (item.file, item.name) == (binding.file, binding.name):
                    unspoken = [param for param in item.params if param["name"] not in besides]
                    if len(unspoken) > len(binding.args):
                        return True
    return False


def _walked(tree: ast.AST, owner: str) -> Iterator[tuple[ast.AST, bool]]:
    """Everything but the class ``owner``, and whether it stands in a class whose objects are no layers."""
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, apart = waiting.pop()
        if _only_reads(node):
            continue
        if isinstance(node, ast.ClassDef):
            if node.name == owner:
                continue
            # What has bases may be a layer by one of them.
            apart = not node.bases
        yield node, apart
        known = node.func if _is_setattr(node) and isinstance(node, ast.Call) else None
        waiting.extend((child, apart) for child in ast.iter_child_nodes(node) if child is not known)


def _is_setattr(node: ast.AST) -> bool:
    call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr"
    return call and isinstance(node, ast.Call) and len(node.args) == 3


def _by_name(found: Outside, file: str, node: ast.AST) -> None:
    """Keep ``setattr(layer, name, …)``, and ``setattr(layer, "W", …)`` as an assignment to it."""
    if not isinstance(node, ast.Call) or not _is_setattr(node):
        return
    name, write = node.args[1], Write(file, node.lineno, False)
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        found.stored[name.value] = found.stored.get(name.value) or write
    else:
        found.named = found.named or write


def _in_loops(found: Outside, file: str, node: ast.AST) -> None:
    """Keep ``for p, g in …: p -= …``, which changes arrays that somebody else holds."""
    if not isinstance(node, ast.For):
        return
    own = {each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)}
    for each in (each for line in node.body for each in ast.walk(line)):
        if isinstance(each, ast.AugAssign) and isinstance(each.op, ast.Add | ast.Sub):
            target = each.target.value if isinstance(each.target, ast.Subscript) else each.target
            if isinstance(target, ast.Name) and target.id in own:
                found.looped = found.looped or Write(file, each.lineno, True)


def _only_reads(node: ast.AST) -> bool:
    """Whether it is a look at the variables of something by one name, such as a module."""
    if not isinstance(node, ast.Attribute) or node.attr not in _READS or not isinstance(node.value, ast.Call):
        return False
    call = node.value
    names = [each for each in (call.func, *call.args) if isinstance(each, ast.Name)]
    return len(names) == 2 and names[0].id == "vars" and len(call.args) == 1


def _note(found: Outside, file: str, node: ast.AST, *, apart: bool) -> None:
    if isinstance(node, ast.Attribute):
        if apart and not isinstance(node.ctx, ast.Load) and _is_self(node):
            return
        found.dynamic = found.dynamic or node.attr == "__dict__"
        if isinstance(node.ctx, ast.Load):
            found.loaded.add(node.attr)
        else:
            found.stored.setdefault(node.attr, None)
    elif isinstance(node, ast.Name) and node.id in _DYNAMIC:
        found.dynamic = True
    elif isinstance(node, ast.AugAssign):
        _write(found, node.target, Write(file, node.lineno, True))
    elif isinstance(node, ast.Assign):
        value = node.value.value if isinstance(node.value, ast.Constant) else ...
        sets = (value,) if value is None or isinstance(value, bool) else ()
        for target in node.targets:
            _write(found, target, Write(file, node.lineno, False, sets))


def _write(found: Outside, target: ast.expr, write: Write) -> None:
    """Keep an assignment; one to ``self`` is about an object of another class."""
    if isinstance(target, ast.Attribute) and not _is_self(target):
        found.stored[target.attr] = found.stored.get(target.attr) or write


def _is_self(target: ast.Attribute) -> bool:
    return isinstance(target.value, ast.Name) and target.value.id == "self"
