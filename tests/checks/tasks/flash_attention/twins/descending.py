"""Key tiles from the last to the first, unequal query and key tiles, a dataclass as result."""
from dataclasses import dataclass

import numpy as np


@dataclass
class AttentionResult:
    out: np.ndarray
    lse: np.ndarray


def flash_attention_fwd(Q, K, V, Br=16, Bc=16, use_causal=True):
    B, H, N, D = Q.shape
    Bc = max(1, Bc // 2)
    O = np.zeros((B, H, N, D))
    lse = np.zeros((B, H, N))
    for r in range(0, N, Br):
        rows = np.arange(r, min(r + Br, N))
        m = np.full((B, H, rows.size, 1), -np.inf)
        l = np.zeros_like(m)
        o = np.zeros((B, H, rows.size, D))
        for c in reversed(range(0, N, Bc)):
            cols = np.arange(c, min(c + Bc, N))
            if use_causal and c > rows[-1]:
                continue
            s = Q[:, :, rows] @ K[:, :, cols].transpose(0, 1, 3, 2) / D ** 0.5
            if use_causal:
                s = np.where(cols[None] <= rows[:, None], s, -np.inf)
            m_new = np.maximum(m, s.max(3, keepdims=True))
            safe = np.where(m_new > -np.inf, m_new, 0.0)
            p, a = np.exp(s - safe), np.exp(m - safe)
            l = l * a + p.sum(3, keepdims=True)
            o = o * a + p @ V[:, :, cols]
            m = m_new
        with np.errstate(all="ignore"):
            O[:, :, rows] = np.nan_to_num(o / l)
            lse[:, :, rows] = (m + np.log(l))[..., 0]
    return AttentionResult(O, lse)
