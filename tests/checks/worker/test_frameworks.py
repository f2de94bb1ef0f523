"""Arrays follow what a callable takes; two stand-ins play the frameworks, which no test installs."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from judge_tui.checks.worker.frameworks import taken_by


class Tensor:
    """What PyTorch's answers to, of it."""

    __module__ = "torch"

    def __init__(self, array: Any) -> None:
        self.array, self.dtype = array, "float64"

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> Any:
        return self.array


class Array(np.ndarray):
    """What JAX's answers to, of it."""

    __module__ = "jax"


def as_jax(array: Any) -> Any:
    return np.asarray(array).view(Array)


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    torch, jax = ModuleType("torch"), ModuleType("jax")
    vars(torch).update(Tensor=Tensor, from_numpy=Tensor, bfloat16="bfloat16")
    vars(jax).update(Array=Array, numpy=SimpleNamespace(asarray=as_jax))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "jax", jax)


def function(text: str, name: str = "f") -> Any:
    scope: dict[str, Any] = {"__name__": "answer"}
    exec(text, scope)
    return scope[name]


@pytest.mark.parametrize(
    ("text", "name", "framework"),
    [
        ("import torch\ndef f(x): return x", "f", "torch"),
        ("import jax\ndef f(x): return x", "f", "jax"),
        ("from torch import Tensor\ndef f(x): return x", "f", "torch"),
        ("import jax, torch\ndef f(x: torch.Tensor): return x", "f", "torch"),
        ("import torch, jax\ndef f(x: 'jax.Array'): return x", "f", "jax"),
        ("import numpy\ndef f(x): return x", "f", None),
        ("import torch\nclass M:\n    def forward(self, x): return x", "M", None),
    ],
)
def test_what_it_takes_is_told_by_its_parameters_then_by_its_module(
    text: str, name: str, framework: str | None
) -> None:
    found = taken_by(function(text, name))
    assert (found.name if found else None) == framework


def test_a_method_is_asked_by_the_module_that_it_stands_in() -> None:
    model = function("import torch\nclass M:\n    def forward(self, x): return x", "M")()
    found = taken_by(model.forward)
    assert found is not None
    assert found.name == "torch"


@pytest.mark.parametrize("text", ["import torch\ndef f(x): return x", "import jax\ndef f(x): return x"])
def test_arrays_go_there_and_come_back_wherever_they_stand(text: str) -> None:
    found = taken_by(function(text))
    assert found is not None
    given = {"a": [np.arange(3.0), (np.ones(2), 5)], "b": "text"}
    there = found.given(given)
    assert type(there["a"][0]).__name__ in ("Tensor", "Array")
    assert there["a"][1][1] == 5
    back = found.back(there)
    assert type(back["a"][0]) is np.ndarray
    np.testing.assert_array_equal(back["a"][1][0], np.ones(2))
    assert back["b"] == "text"


def test_nothing_is_asked_where_no_framework_was_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "jax"):
        monkeypatch.delitem(sys.modules, name)
    assert taken_by(function("def f(x): return x")) is None


@pytest.mark.parametrize(("interpreted", "where"), [("1", "in its interpreter"), ("", "on the GPU")])
def test_where_triton_runs_is_told(monkeypatch: pytest.MonkeyPatch, interpreted: str, where: str) -> None:
    found = taken_by(function("import torch\ndef f(x): return x"))
    assert found is not None
    assert found.told == "torch"
    monkeypatch.setitem(sys.modules, "triton", ModuleType("triton"))
    monkeypatch.setenv("TRITON_INTERPRET", interpreted)
    assert found.told == f"torch, Triton's kernels {where}"
