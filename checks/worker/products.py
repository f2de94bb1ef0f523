"""How many multiply-adds a matrix product takes, from its operands' shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["PRODUCTS", "einsum_multiply_adds", "multiply_adds", "size"]


def _shape(value: Any) -> tuple[int, ...]:
    """An array's own word for its shape, wherever it lives."""
    return tuple(value.shape) if hasattr(value, "shape") else np.shape(value)


def size(value: Any) -> int:
    """How many elements there are."""
    return math.prod(_shape(value))


def _contracted_last(operands: Sequence[Any], result: Any) -> int:
    """``a @ b``, ``dot``, ``inner``, …: every element of the result sums over the last axis of ``a``."""
    shape = _shape(operands[0])
    return int(size(result) * (shape[-1] if shape and _shape(operands[1]) else 1))


def _contracted_last_of_second(operands: Sequence[Any], result: Any) -> int:
    return int(size(result) * _shape(operands[1])[-1])


def _all(operands: Sequence[Any], result: Any) -> int:
    return int(size(operands[0]))


def _tensordot(operands: Sequence[Any], result: Any) -> int:
    """With F·C, C·G → F·G elements, the contracted size is √(FC · CG / FG)."""
    one, other, made = size(operands[0]), size(operands[1]), size(result)
    return made * math.isqrt(one * other // made) if made else 0


def _einsum(operands: Sequence[Any], result: Any) -> int:
    return einsum_multiply_adds(operands)


#: Name of a NumPy function → its multiply-adds from operands and result.
PRODUCTS: dict[str, Callable[[Sequence[Any], Any], int]] = {
    "matmul": _contracted_last,
    "dot": _contracted_last,
    "inner": _contracted_last,
    "vecdot": _contracted_last,
    "vecmat": _contracted_last,
    "matvec": _contracted_last_of_second,
    "vdot": _all,
    "tensordot": _tensordot,
    "einsum": _einsum,
}


def multiply_adds(name: str, operands: Sequence[Any], result: Any) -> int:
    """Multiply-adds of a product; 0 when the operands are no product.

    Args:
        name: A key of :data:`PRODUCTS`.
        operands: Positional arguments of the call.
        result: What it gave.
    """
    try:
        return PRODUCTS[name](operands, result)
    except (TypeError, ValueError, IndexError, KeyError, AttributeError):
        return 0


def einsum_multiply_adds(operands: Sequence[Any]) -> int:
    """Size of the index space that an einsum of two or more operands runs over.

    Args:
        operands: ``einsum``'s positional arguments, in either of its two forms.
    """
    if isinstance(operands[0], str):
        terms = [term.strip() for term in operands[0].partition("->")[0].split(",")]
        arrays = list(operands[1:])
        labels: list[list[Any]] = [_labels(term) for term in terms]
    else:
        arrays = [operands[i] for i in range(0, len(operands) - 1, 2)]
        labels = [list(operands[i]) for i in range(1, len(operands), 2)][: len(arrays)]
    if len(arrays) < 2:
        return 0
    sizes: dict[Any, int] = {}
    spread: list[tuple[int, ...]] = []
    for array, label in zip(arrays, labels, strict=True):
        names, shape = label, _shape(array)
        if Ellipsis in names:
            head = names.index(Ellipsis)
            tail = len(names) - head - 1
            spread.append(shape[head : len(shape) - tail])
            names = names[:head] + names[head + 1 :]
            shape = shape[:head] + (shape[len(shape) - tail :] if tail else ())
        for name, size in zip(names, shape, strict=True):
            sizes[name] = max(size, sizes.get(name, 0))
    return math.prod(sizes.values()) * math.prod(np.broadcast_shapes(*spread))


def _labels(term: str) -> list[Any]:
    head, dots, tail = term.replace(" ", "").partition("...")
    return [*head, *([Ellipsis] if dots else []), *tail]
