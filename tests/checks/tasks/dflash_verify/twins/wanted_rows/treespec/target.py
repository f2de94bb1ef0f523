"""A minimal target model: one pre-norm attention block plus an MLP, in NumPy.

The verifier relies on ``score_rows`` only: one packed forward pass with explicit
visibility and position ids, and logits for just the requested rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


def _rms(x: np.ndarray) -> np.ndarray:
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def _sinusoid(positions: np.ndarray, dim: int) -> np.ndarray:
    freq = 10000.0 ** (-np.arange(0, dim, 2) / dim)
    angle = positions[:, None] * freq[None, :]
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)


@dataclass(frozen=True)
class TinyTarget:
    """Weights of the toy target; all matrices act from the right (``x @ W``)."""

    embed: np.ndarray  # (V, D)
    wqkv: np.ndarray  # (D, 3, H, Dh)
    wo: np.ndarray  # (H, Dh, D)
    w_up: np.ndarray  # (D, 4D)
    w_down: np.ndarray  # (4D, D)
    head: np.ndarray  # (D, V)

    @classmethod
    def random(cls, vocab: int = 64, dim: int = 32, heads: int = 4, seed: int = 0) -> "TinyTarget":
        rng = np.random.default_rng(seed)
        dh = dim // heads

        def w(*shape: int, fan: int) -> np.ndarray:
            return rng.standard_normal(shape) / np.sqrt(fan)

        return cls(
            embed=rng.standard_normal((vocab, dim)),
            wqkv=w(dim, 3, heads, dh, fan=dim) * 1.5,
            wo=w(heads, dh, dim, fan=dim) * 1.5,
            w_up=w(dim, 4 * dim, fan=dim),
            w_down=w(4 * dim, dim, fan=4 * dim),
            head=w(dim, vocab, fan=dim) * 3.0,
        )

    def score_rows(self, tokens, *, positions, visible, rows) -> np.ndarray:
        """Next-token logits, shape ``(len(rows), V)``."""
        ids = np.asarray(tokens, dtype=np.int64)
        pos = np.asarray(positions, dtype=np.float64)
        x = self.embed[ids] + _sinusoid(pos, self.embed.shape[1])
        q, k, v = np.einsum("nd,dchk->chnk", _rms(x), self.wqkv)
        att = np.einsum("hnk,hmk->hnm", q, k) / np.sqrt(q.shape[-1])
        att = np.where(visible[None], att, -np.inf)
        att = np.exp(att - att.max(axis=-1, keepdims=True))
        att /= att.sum(axis=-1, keepdims=True)
        x = x + np.einsum("hnm,hmk,hkd->nd", att, v, self.wo, optimize=True)
        x = x[np.asarray(rows, dtype=np.int64)]
        x = x + np.maximum(_rms(x) @ self.w_up, 0.0) @ self.w_down
        return _rms(x) @ self.head


def greedy_decode(model: TinyTarget, prompt, steps: int) -> list[int]:
    """Plain one-token-at-a-time greedy decoding, the ground truth at T = 0."""
    seq = list(prompt)
    for _ in range(steps):
        n = len(seq)
        logits = model.score_rows(seq, positions=range(n), visible=np.tri(n, dtype=bool), rows=[n - 1])
        seq.append(int(logits[0].argmax()))
    return seq[len(prompt):]
