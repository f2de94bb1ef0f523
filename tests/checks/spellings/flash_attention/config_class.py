"""Settings in a dataclass that the constructor takes, with a default; called with the arrays alone."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np


@dataclass
class AttentionConfig:
    tile_size: int = 64
    causal: bool = True
    softmax_scale: Optional[float] = None


class FlashAttention:
    def __init__(self, config: Optional[AttentionConfig] = None, **overrides):
        self.config = config or AttentionConfig(**overrides)

    def __call__(self, query, key, value):
        t, n = self.config.tile_size, query.shape[2]
        s = self.config.softmax_scale or query.shape[-1] ** -0.5
        out = np.empty_like(query)
        for lo in range(0, n, t):
            rows = np.arange(lo, min(n, lo + t))
            m, l, acc = -np.inf, 0.0, 0.0
            for at in range(0, rows[-1] + 1 if self.config.causal else n, t):
                cols = np.arange(at, min(n, at + t))
                x = s * query[:, :, rows] @ key[:, :, cols].swapaxes(2, 3)
                if self.config.causal:
                    x = np.where(cols > rows[:, None], -np.inf, x)
                top = np.maximum(m, x.max(-1, keepdims=True))
                ref = np.where(top == -np.inf, 0.0, top)
                p, c = np.exp(x - ref), np.exp(m - ref)
                l, acc, m = c * l + p.sum(-1, keepdims=True), c * acc + p @ value[:, :, cols], top
            out[:, :, rows] = acc / np.where(l == 0, 1, l)
        return out
