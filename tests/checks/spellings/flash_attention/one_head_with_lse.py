"""One head at a time, as an object with the log-sum-exp beside the output; tiles are set when it is made."""
from dataclasses import dataclass

import numpy as np


@dataclass
class AttentionResult:
    output: np.ndarray
    lse: np.ndarray


class FlashAttention:
    def __init__(self, Br=32, Bc=32):
        self.Br, self.Bc = Br, Bc

    def forward(self, q, k, v, is_causal=False):
        n, d = q.shape
        out, lse = np.empty((n, d)), np.empty(n)
        for start in range(0, n, self.Br):
            stop = min(start + self.Br, n)
            out[start:stop], lse[start:stop] = self._rows(q[start:stop] / d**0.5, k, v, start, is_causal)
        return AttentionResult(out, lse)

    def _rows(self, q, k, v, start, is_causal):
        top = np.full(len(q), -np.inf)
        total, acc = np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
        last = start + len(q) if is_causal else len(k)
        for at in range(0, last, self.Bc):
            s = q @ k[at : at + self.Bc].T
            if is_causal:
                hidden = (at + np.arange(s.shape[1]))[None] > (start + np.arange(len(q)))[:, None]
                s[hidden] = -np.inf
            new = np.maximum(top, s.max(1))
            base = np.where(new == -np.inf, 0.0, new)
            p = np.exp(s - base[:, None])
            keep = np.exp(top - base)
            total = keep * total + p.sum(1)
            acc = keep[:, None] * acc + p @ v[at : at + self.Bc]
            top = new
        some = total > 0
        with np.errstate(divide="ignore"):
            return acc / np.where(some, total, 1.0)[:, None], np.where(some, top, 0.0) + np.log(total)
