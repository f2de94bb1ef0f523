"""A framework that the challenge itself needs and that is not here is nobody's failure."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from judge_tui.checks.verdict import Verdict

from .conftest import Judge

CHALLENGE = """
import torch

def reference(x): return torch.relu(x)
def inputs(rng): return {"x": rng.standard_normal(3)}
"""
ANSWER = """
import torch.nn as nn

class ModelNew(nn.Module):
    def forward(self, x):
        return x
"""


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is here")
def test_a_framework_that_both_need_is_a_skip(judged: Judge) -> None:
    found = judged(CHALLENGE, ANSWER, "loads", "accuracy")
    assert {check: each.verdict for check, each in found.items()} == {
        "loads": Verdict.SKIP, "accuracy": Verdict.SKIP,
    }  # fmt: skip
    assert "the challenge itself needs torch" in found["accuracy"].summary


DOUBLE = """
def reference(x): return 2 * x
def inputs(rng): return {"x": rng.standard_normal(3)}
"""


@pytest.mark.skipif(find_spec("triton") is not None, reason="triton is here")
@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("def double(x): raise ModuleNotFoundError(\"No module named 'triton'\")", Verdict.FAIL),
        ("raise ModuleNotFoundError(\"No module named 'triton'\")", Verdict.FAIL),
        ("def double(x):\n    import triton\n    return triton.double(x)", Verdict.SKIP),
        ("import triton\nONE = triton.zeros(3)\ndef double(x): return x + x", Verdict.SKIP),
    ],
)
def test_only_who_imports_a_missing_framework_needs_it(judged: Judge, answer: str, verdict: Verdict) -> None:
    found = judged(DOUBLE, answer, "accuracy")["accuracy"]
    assert found.verdict is verdict, found.summary
