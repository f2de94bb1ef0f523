"""What takes one head at a time is called for every head, and what it gave is taken apart again."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from judge_tui.checks.worker.each import for_each

LEADING = (2, 3)
Pair = namedtuple("Pair", ["x", "size"])


@dataclass
class Kept:
    x: Any
    size: int

    def whole(self) -> Any:
        return self.x * self.size


class Slotted:
    __slots__ = ("size", "x")

    def __init__(self, x: Any, size: int) -> None:
        self.x, self.size = x, size


MAKERS = {
    "tuple": lambda x: (x, 2),
    "list": lambda x: [x, 2],
    "dict": lambda x: {"x": x, "size": 2},
    "read-only dict": lambda x: MappingProxyType({"x": x, "size": 2}),
    "function": lambda x: lambda: x * 2,
    "tuple with a function": lambda x: (lambda: x, 2),
    "named tuple": lambda x: Pair(x, 2),
    "dataclass": lambda x: Kept(x, 2),
    "slots": lambda x: Slotted(x, 2),
}


def taken(cache: Any) -> Any:
    if isinstance(cache, (dict, MappingProxyType)):
        return cache["x"] * cache["size"]
    if callable(cache):
        return cache()
    if isinstance(cache, (tuple, list)):
        x, size = cache
        return (x() if callable(x) else x) * size
    return cache.whole() if isinstance(cache, Kept) else cache.x * cache.size


@pytest.mark.parametrize("kind", MAKERS)
def test_a_cache_of_any_kind_comes_back_head_by_head(kind: str) -> None:
    x = np.random.default_rng(1).standard_normal((*LEADING, 4, 5))
    out, cache = for_each(lambda one: (one + 1, MAKERS[kind](one)), [0], [], LEADING)(x)
    np.testing.assert_array_equal(out, x + 1)
    back = for_each(lambda g, kept: g + taken(kept), [0, 1], [], LEADING)(np.ones_like(x), cache)
    np.testing.assert_array_equal(back, 1 + 2 * x)


def test_a_function_that_each_call_gave_is_called_with_what_is_its_own() -> None:
    x = np.random.default_rng(2).standard_normal((*LEADING, 4, 5))
    _out, back = for_each(lambda one: (one, lambda g: g * one), [0], [], LEADING)(x)
    np.testing.assert_array_equal(for_each(back, [0], [], LEADING)(np.full_like(x, 3)), 3 * x)


def test_sizes_that_nobody_gave_are_those_of_the_first_array() -> None:
    x = np.arange(24.0).reshape(2, 3, 2, 2)
    np.testing.assert_array_equal(for_each(lambda one, by: one * by, [0], [], (), 2)(x, 3), 3 * x)


def test_nested_lists_are_taken_apart_by_their_leading_axes() -> None:
    x = np.arange(24.0).reshape(2, 3, 2, 2)
    np.testing.assert_array_equal(for_each(np.asarray, [0], [], LEADING)(x.tolist()), x)
