"""The gradients of long sequences, a strip of rows at a time: the engine holds no N × N array either."""

from __future__ import annotations

import numpy as np

from judge_tui.checks.tasks.flash_attention.strips import weights_in_strips
from judge_tui.checks.tasks.flash_attention_bwd.reference import Gradients, Problem

__all__ = ["gradients_in_strips"]


def gradients_in_strips(problem: Problem) -> Gradients:
    """dQ, dK and dV (B, H, N, D) in float64; every row has to see a key."""
    case = problem.case
    q, k, v, d_out = (a.astype(np.float64) for a in (case.q, case.k, case.v, problem.d_out))
    d_q, d_k, d_v = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    scale = float(q.shape[-1]) ** -0.5
    for rows, p in weights_in_strips(case):
        keys = slice(0, p.shape[-1])
        d_p = d_out[:, :, rows] @ v[:, :, keys].swapaxes(-1, -2)
        d_s = p * (d_p - (p * d_p).sum(axis=-1, keepdims=True)) * scale
        d_q[:, :, rows] = d_s @ k[:, :, keys]
        d_k[:, :, keys] += d_s.swapaxes(-1, -2) @ q[:, :, rows]
        d_v[:, :, keys] += p.swapaxes(-1, -2) @ d_out[:, :, rows]
    return {"dQ": d_q, "dK": d_k, "dV": d_v}
