"""Right submissions spelt otherwise: they answer the same, and a fixed part of them is not failed."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from random import Random
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from tools.holes.machine import TASKS, Right
from tools.spellings.__main__ import tried
from tools.spellings.ways import WAYS, Way, prepared

SOURCE = dedent('''
    """A module."""
    from __future__ import annotations

    import numpy as np


    def forward(x, gamma, eps=1e-5):
        rstd = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + eps)
        y = scaled(x * rstd, gamma)
        cache = (x, rstd)
        return y, cache


    def scaled(x, gamma):
        return x * gamma


    def backward(dy, cache):
        x, rstd = cache
        return dy * rstd + x


    def test_forward():
        assert forward(1, 2)


    if __name__ == "__main__":
        test_forward()
''')
TWINS = Path(__file__).parents[1] / "checks/tasks"
#: A right submission of each task whose every check is quick.
QUICK = {
    "kv": "past_tuple", "flash_attention": "einsum_batched", "flash_attention_bwd": "one_head_closure",
    "backwards": "object_array", "beam_search": "module_function", "dflash_verify": "no_bonus",
    "ternary_training": "three_dimensional_only",
}  # fmt: skip


def spelt(way: Way) -> str:
    tree = way(prepared(SOURCE), Random(3), "backwards")
    assert tree is not None
    return ast.unparse(ast.fix_missing_locations(tree))


def answers(text: str, turned: bool = False) -> tuple[Any, Any]:
    names: dict[str, Any] = {}
    exec(compile(text, "spelt.py", "exec"), names)
    owner = names["Solution"]() if "Solution" in names else None
    find: Callable[[str], Any] = names.__getitem__ if owner is None else lambda name: getattr(owner, name)
    x = np.linspace(-1, 2, 12).reshape(3, 4)
    made = find("forward")(x, np.arange(4.0))
    y, cache = (made["y"], made["cache"]) if isinstance(made, dict) else (getattr(made, "y", None), None)
    if y is None:
        y, cache = made
    elif cache is None:
        cache = made.cache
    return y, find("backward")(*((cache, x) if turned else (x, cache)))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_what_is_spelt_otherwise_answers_the_same(way: Way) -> None:
    text = spelt(way)
    assert text != ast.unparse(prepared(SOURCE))
    for one, other in zip(answers(SOURCE), answers(text, turned=way.__name__ == "swapped"), strict=True):
        np.testing.assert_array_equal(one, other)


def test_tests_and_the_main_program_are_left_out() -> None:
    assert "test_forward" not in ast.unparse(prepared(SOURCE))
    assert "__main__" not in ast.unparse(prepared(SOURCE))


def test_what_is_called_within_keeps_its_interface() -> None:
    text = spelt(next(way for way in WAYS if way.__name__ == "swapped"))
    assert "def scaled(x, gamma)" in text
    assert "def backward(cache, dy)" in text


@pytest.mark.parametrize("task", TASKS)
def test_a_fixed_part_is_not_failed(task: str) -> None:
    spelling = tried(Right(task, QUICK[task], TWINS / task / "twins" / f"{QUICK[task]}.py"), 0, seed=1)
    assert spelling is not None
    assert not spelling.wronged
