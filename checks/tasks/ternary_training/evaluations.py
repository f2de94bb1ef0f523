"""Held-out figures of a submission's source that are measured on the text that it trains on.

Nothing is run: a call whose answer is named after held-out text and that takes the training text alone is
told, ``val_loss = evaluate(model, train_ids)``, and a held-out part that is cut from the training text,
``val = train[-n:]``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.ternary_training.corpora import sliced, trees
from judge_tui.checks.tasks.ternary_training.figures import Name, words

__all__ = ["MEASURES", "Evaluation", "swapped"]

#: What a function's name says that measures, beside loss and perplexity.
MEASURES = frozenset({"evaluate", "evaluates", "eval", "evaluation", "measure", "score", "validate", "test"})
#: What the name of a text says beside its split; with another word it may be a state, a step or a switch.
_TEXT = frozenset({
    "text", "texts", "corpus", "data", "dataset", "set", "split", "ids", "tokens", "toks", "token", "lines",
    "docs", "documents", "sentences", "x", "y", "xs", "ys", "inputs", "targets", "labels", "seq", "seqs",
    "sequences", "batches", "chunks", "stream", "file", "path", "loader", "iter", "np", "arr", "array",
})  # fmt: skip
_SIZES = frozenset({"len", "range", "min", "max"})
_Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A held-out figure, or text, that is one of the training text.

    Attributes:
        name: What is named after held-out text.
        trained: The training text that it is measured on, or cut from.
        cut: Whether it is cut from it.
        file: Where it stands.
        line: 1-based.
    """

    name: str
    trained: str
    cut: bool
    file: str
    line: int


def swapped(submission: Submission) -> Iterator[Evaluation]:
    """Every held-out name of the source that gets nothing but training text."""
    for file, tree in trees(submission):
        told = list(_told(tree))
        for name, value in told:
            if Name.of((name,)).split != "held-out":
                continue
            for call in ast.walk(value):
                if isinstance(call, ast.Call) and (given := _measured_on(call)):
                    yield Evaluation(name, given, False, file, call.lineno)
                    break
            of = sliced(value)
            if of and _is_training_text(of) and _is_whole(tree, told, of):
                yield Evaluation(name, of, True, file, value.lineno)


def _told(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What is assigned to a name, or stands under a key: of several names the first is told."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
                if isinstance(first, ast.Name):
                    yield first.id, node.value
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, value


def _measured_on(call: ast.Call) -> str:
    """The training text that a measuring call takes; empty where it takes other text, or none."""
    function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if Name.of((function,)).kind not in ("loss", "perplexity") and not words(function) & MEASURES:
        return ""
    given = [name for value in (*call.args, *(k.value for k in call.keywords)) for name in _texts(value)]
    if any(Name.of((name,)).split == "held-out" for name in given):
        return ""
    return next((name for name in given if _is_training_text(name)), "")


def _texts(node: ast.expr) -> Iterator[str]:
    """Names of what an argument is made of, without sizes and places: ``train[len(val):]`` is of train."""
    if isinstance(node, ast.Subscript):
        yield from _texts(node.value)
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            yield node.slice.value
    elif isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.value
    elif not (isinstance(node, ast.Call) and getattr(node.func, "id", "") in _SIZES):
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                yield from _texts(part)


def _is_training_text(name: str) -> bool:
    spoken = words(name)
    others = spoken - _TEXT
    return Name.of((name,)).split == "train" and len(others) == 1


def _is_whole(tree: ast.AST, told: list[tuple[str, ast.expr]], name: str) -> bool:
    """Whether a variable is assigned once and nothing else is cut from one of its ends: it stays whole."""
    cuts = sum(isinstance(node, ast.expr) and sliced(node) == name for node in ast.walk(tree))
    return cuts == 1 and sum(other == name for other, _ in told) == 1
