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
