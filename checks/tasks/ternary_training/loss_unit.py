"""Which unit a submission's own source counts its loss in: nats where natural logarithms alone make it."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.ternary_training.corpora import trees
from judge_tui.checks.tasks.ternary_training.figures import Name

__all__ = ["powers_of_two_of_nats"]

#: What takes a natural logarithm.
_NATURAL = frozenset({"log", "log1p", "logsumexp", "log_softmax", "cross_entropy", "nll_loss"})
#: Factors between nats and bits, and how near a number of the source must be to be one.
_FACTORS, _NEAR = (math.log(2.0), 1.0 / math.log(2.0)), 5e-3


def powers_of_two_of_nats(submission: Submission) -> tuple[str, int, str] | None:
    """Where 2 is taken to the power of a loss that natural logarithms make: file, line, and how one stands.

    ``None`` where nothing shows it: no such power, no natural logarithm, or a factor that turns one unit into
    the other. Whether a file says that it counts bits has to be asked besides.
    """
    powers: list[tuple[str, int]] = []
    logarithms: list[str] = []
    for file, tree in trees(submission):
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and _is_factor(node.value):
                return None
            if isinstance(node, ast.expr) and any(map(_is_loss, _exponents(node))):
                powers.append((file, node.lineno))
            if isinstance(node, ast.Call) and _called(node) in _NATURAL and len(node.args) in (1, 2):
                logarithms.append(f"{_written(node)} in {file}:{node.lineno}")
    return (*powers[0], logarithms[0]) if powers and logarithms else None


def _is_factor(value: object) -> bool:
    return isinstance(value, float) and any(abs(value / factor - 1.0) < _NEAR for factor in _FACTORS)


def _exponents(node: ast.expr) -> Iterator[ast.expr]:
    """What 2 is taken to the power of: ``2 ** loss``, ``np.exp2(loss)``, ``pow(2, loss)``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and _is_two(node.left):
        yield node.right
    elif isinstance(node, ast.Call) and _called(node) == "exp2" and node.args:
        yield node.args[0]
    elif isinstance(node, ast.Call) and _called(node) in ("pow", "power") and len(node.args) == 2:
        if _is_two(node.args[0]):
            yield node.args[1]


def _is_two(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in (2, 2.0)


def _is_loss(node: ast.expr) -> bool:
    """Whether a power is a loss by its name, ``held["loss"]`` and ``nll / count`` too."""
    for part in ast.walk(node):
        name = part.attr if isinstance(part, ast.Attribute) else part.id if isinstance(part, ast.Name) else ""
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            name = part.value
        if name and Name.of((name,)).kind == "loss":
            return True
    return False


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _written(node: ast.Call) -> str:
    return ast.unparse(node.func)
