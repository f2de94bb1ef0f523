"""What names in a file stand for: modules and what is in them, by imports and by what is assigned of them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

__all__ = ["Names"]

_ROUNDS = 3
_IMPORTS = ("importlib.import_module", "__import__")
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Names:
    """The names of one file.

    Args:
        tree: The file.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._own: set[int] = set()
        self._bound = dict(_imported(tree))
        pairs = list(_assigned(tree))
        for _ in range(_ROUNDS):
            for name, value in pairs:
                if full := self.full(value):
                    self._bound.setdefault(name, full)
        assigned = {name for node in tree.body for name in _stored(node)}
        self._mark(tree, {name for name in assigned if name not in self._bound})

    @property
    def modules(self) -> frozenset[str]:
        """Modules that are imported, or that something is imported from, by their first names."""
        return frozenset(full.partition(".")[0] for full in self._bound.values())

    def full(self, node: ast.AST) -> str:
        """The dotted name that an expression stands for; empty where it is none that was imported.

        Args:
            node: Also a call that imports or gets what a text names.
        """
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        first = self._first(node)
        if not first or (parts and first == _name(node) and first not in self._bound):
            return ""
        return ".".join([first, *reversed(parts)]).removeprefix("builtins.")

    def _first(self, node: ast.AST) -> str:
        if isinstance(node, ast.Call):
            return self._got(node)
        if not isinstance(node, ast.Name):
            return ""
        if node.id in self._bound:
            return self._bound[node.id]
        # what Python itself has, such as eval or sorted
        return node.id if hasattr(builtins, node.id) and id(node) not in self._own else ""

    def _got(self, call: ast.Call) -> str:
        """What a call imports, or gets of a module, by a text that stands there."""
        texts = [arg.value if isinstance(arg, ast.Constant) else None for arg in call.args]
        function = self.full(call.func)
        if function in _IMPORTS and texts and isinstance(texts[0], str):
            return texts[0]
        if function == "getattr" and len(texts) > 1 and isinstance(texts[1], str):
            owner = self.full(call.args[0])
            return f"{owner}.{texts[1]}" if owner else ""
        return ""

    def _mark(self, node: ast.AST, known: set[str]) -> None:
        """Take down which names stand for what the file itself defines, scope by scope."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Name) and child.id in known:
                self._own.add(id(child))
            if isinstance(child, _Function):
                body = child.body if isinstance(child.body, list) else [child.body]
                inner = known | {arg.arg for arg in ast.walk(child.args) if isinstance(arg, ast.arg)}
                inner |= {name for each in body for name in _stored(each)}
                for each in body:
                    self._mark(
                        ast.Module([each], []) if isinstance(each, ast.stmt) else ast.Expr(each), inner
                    )
                self._mark(child.args, known)
            else:
                self._mark(child, known)


def _name(node: ast.AST) -> str:
    """The name that a node is; empty where it is none."""
    return node.id if isinstance(node, ast.Name) else ""


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Name in the file → what it was imported as."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (top, top)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Names, and the expressions that they are made to stand for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _matched(target, node.value)
        elif isinstance(node, (ast.NamedExpr, ast.AnnAssign)) and node.value is not None:
            yield from _matched(node.target, node.value)
        elif isinstance(node, ast.arguments):
            places = [*node.posonlyargs, *node.args]
            yield from ((p.arg, d) for p, d in zip(places[::-1], node.defaults[::-1], strict=False))
            yield from ((p.arg, d) for p, d in zip(node.kwonlyargs, node.kw_defaults, strict=True) if d)


def _matched(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        for one, other in zip(target.elts, value.elts, strict=False):
            yield from _matched(one, other)


def _stored(node: ast.AST) -> Iterator[str]:
    """Names that a statement gives a meaning in its own scope."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    if not isinstance(node, ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from _stored(child)
