"""Callables that carry things: what they carry, and the same callable with something else."""

from __future__ import annotations

import functools
from types import MappingProxyType
from typing import Any

import numpy as np

from judge_tui.checks.worker.closed import closed, reclosed
from judge_tui.checks.worker.describe import leaves, locate
from judge_tui.checks.worker.replacing import copied, replaced


def pull(x: float, scale: float, dy: float) -> float:
    return x * scale * dy


def test_a_partial_call_carries_its_arguments_under_the_function_s_names() -> None:
    held = functools.partial(pull, 2.0, scale=3.0)
    assert closed(held) == {"x": 2.0, "scale": 3.0}
    assert reclosed(held, "x", 5.0)(dy=1.0) == 15.0
    assert reclosed(held, "scale", 5.0)(dy=1.0) == 10.0
    assert held(dy=1.0) == 6.0


def test_a_partial_call_of_a_closure_carries_its_variables_too() -> None:
    kept = np.ones(3)

    def backward(factor: float, dy: float) -> Any:
        return kept * factor * dy

    held = functools.partial(backward, 2.0)
    assert {str(path[0][1]) for path, _leaf in leaves(held)} >= {"kept", "factor"}
    changed = replaced(held, [["c", "kept"]], np.zeros(3))
    assert changed(1.0).tolist() == [0.0, 0.0, 0.0]
    assert held(1.0).tolist() == [2.0, 2.0, 2.0]


def test_arguments_past_a_signature_that_can_be_read_are_told_by_places() -> None:
    def every(*parts: float) -> float:
        return sum(parts)

    assert closed(functools.partial(every, 1.0, 2.0)) == {"parts": 1.0, "args[1]": 2.0}


def test_a_read_only_view_of_a_dict_is_walked_copied_and_changed() -> None:
    view = MappingProxyType({"O": np.ones(2), "tile": 4})
    assert locate(view, [["k", "tile"]]) == 4
    inside = copied({"cache": view})["cache"]
    assert isinstance(inside, MappingProxyType)
    assert inside["O"] is not view["O"]
    changed = replaced(view, [["k", "O"]], np.zeros(2))
    assert changed["O"].tolist() == [0.0, 0.0]
    assert view["O"].tolist() == [1.0, 1.0]
