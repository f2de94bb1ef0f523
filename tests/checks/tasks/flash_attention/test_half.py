"""Overflow of float16 in the wrong direction of rescaling, shown by numbers; NumPy computes it here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.flash_attention import TASK
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.half import _case, _limit, half_precision, recurrence
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Evidence, Verdict

SOURCE = """
import numpy as np

def flash_attention_fwd(Q, K, V, tile_size=8, causal=True):
    B, H, N, D = Q.shape
    T = Q.dtype.type
    O = np.zeros_like(Q)
    for i in range(0, N, tile_size):
        q = Q[:, :, i:i + tile_size]
        m = np.full((B, H, q.shape[2], 1), -np.inf, Q.dtype)
        l = np.zeros_like(m)
        acc = np.zeros_like(q)
        for j in range(0, N, tile_size):
            if causal and j > i + tile_size - 1:
                continue
            s = (q @ K[:, :, j:j + tile_size].swapaxes(-1, -2)) * T(D ** -0.5)
            if causal:
                rows = np.arange(i, i + q.shape[2])[:, None]
                s = np.where(np.arange(j, j + s.shape[-1])[None] > rows, T(-np.inf), s)
            new = NEW
            p = np.exp(s - new)
            f = np.where(np.isfinite(m), np.exp(FACTOR), T(0))
            l = l * f + p.sum(axis=-1, keepdims=True)
            acc = acc * f + p @ V[:, :, j:j + tile_size]
            m = new
        O[:, :, i:i + tile_size] = acc / l
    return O
"""
RIGHT = SOURCE.replace("NEW", "np.maximum(m, s.max(axis=-1, keepdims=True))").replace("FACTOR", "m - new")
REVERSED = RIGHT.replace("np.exp(m - new)", "np.exp(new - m)")
UPSCALING = RIGHT.replace(
    "np.maximum(m, s.max(axis=-1, keepdims=True))",
    "np.where(np.isfinite(m), m, s.max(axis=-1, keepdims=True))",
)
WIDER = RIGHT.replace(
    "    B, H, N, D = Q.shape\n",
    "    Q, K, V = (a.astype(np.float64) for a in (Q, K, V))\n    B, H, N, D = Q.shape\n",
)


def noted(tmp_path: Path, source: str) -> tuple[bool, Verdict | None, list[Evidence]]:
    (tmp_path / "flash_attention.py").write_text(source)
    bench = Bench(Submission.at(tmp_path, model="m", task="flash_attention"), TASK.contract, seed=3)
    try:
        bench.begin("rescaling_direction", 60.0)
        found = Findings()
        right = half_precision(bench, found, Forward(bench))
        return right, found.verdict, found.evidence
    finally:
        bench.close()


@pytest.mark.parametrize("source", [RIGHT, WIDER], ids=["in float16 throughout", "in a wider type"])
def test_right_code_is_right_in_float16(tmp_path: Path, source: str) -> None:
    right, verdict, evidence = noted(tmp_path, source)
    assert (right, verdict) == (True, Verdict.PASS), evidence


@pytest.mark.parametrize("source", [REVERSED, UPSCALING], ids=["reversed", "upscaling"])
def test_the_wrong_direction_overflows_and_warns(tmp_path: Path, source: str) -> None:
    right, verdict, evidence = noted(tmp_path, source)
    assert (right, verdict) == (False, Verdict.WARN)
    table = {row[0]: row[1:] for row in evidence[0].table[1:]}
    assert table["rising"][0] == "nan", "rows that are not finite"
    assert float(table["constant"][0]) < float(table["constant"][1])


def test_the_recurrence_overflows_in_float16_and_not_while_maxima_stay(tmp_path: Path) -> None:
    bench = Bench(Submission.at(tmp_path, model="m", task="flash_attention"), TASK.contract, seed=1)
    for causal in (False, True):
        rising, constant = _case(bench, "rising", causal), _case(bench, "constant", causal)
        assert relative_error(recurrence(rising, "right"), rising.truth) < _limit(rising)
        for direction in ("reversed", "upscaling"):
            out = recurrence(rising, direction)  # type: ignore[arg-type]
            assert not np.isfinite(out).all()
            assert relative_error(recurrence(constant, direction), constant.truth) < _limit(constant)  # type: ignore[arg-type]


def test_code_that_takes_no_float16_is_not_warned_of(tmp_path: Path) -> None:
    head = "    T = Q.dtype.type\n"
    check = "    if T is np.float16:\n        raise TypeError('float32 or float64')\n"
    refusing = RIGHT.replace(head, head + check)
    right, verdict, evidence = noted(tmp_path, refusing)
    assert (right, verdict) == (True, None)
    assert "float32 or float64" in evidence[0].note
