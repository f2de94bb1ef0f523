"""Minimal decoder-only target with a prefix cache (single head, RoPE, NumPy).

Two entry points, mirroring how an inference engine runs the target:

``prefill(prompt)``              -> logits of the last prompt token, Prefix
``score_tree(prefix, tokens, positions, visible)`` -> logits of every tree node
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Prefix(NamedTuple):
    """Per-layer keys (already rotated) and values of the prompt."""

    keys: list[np.ndarray]
    values: list[np.ndarray]

    @property
    def length(self) -> int:
        return self.keys[0].shape[0]


def rotate(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Rotary embedding, half-split convention."""
    half = x.shape[-1] // 2
    theta = positions[:, None] * 100.0 ** (-np.arange(half) / half)
    a, b = x[:, :half], x[:, half:]
    return np.hstack([a * np.cos(theta) - b * np.sin(theta), a * np.sin(theta) + b * np.cos(theta)])


def normed(x: np.ndarray) -> np.ndarray:
    return x / np.sqrt(np.square(x).mean(-1, keepdims=True) + 1e-6)


class TargetLM:
    def __init__(self, vocab: int = 50, width: int = 32, layers: int = 2, seed: int = 0):
        rng = np.random.default_rng(seed)
        self.vocab, self.width = vocab, width
        self.embedding = 0.5 * rng.normal(size=(vocab, width))
        self.blocks = [
            {n: rng.normal(size=(width, width)) * 2.4 / np.sqrt(width) for n in ("q", "k", "v", "o", "m")}
            for _ in range(layers)
        ]
        self.unembedding = rng.normal(size=(width, vocab)) * 2.0 / np.sqrt(width)

    def prefill(self, prompt) -> tuple[np.ndarray, Prefix]:
        n = len(prompt)
        none = [np.zeros((0, self.width))] * len(self.blocks)
        logits, prefix = self._run(prompt, np.arange(n), np.tri(n, dtype=bool), Prefix(none, none))
        return logits[-1], prefix

    def score_tree(self, prefix: Prefix, tokens, positions, visible) -> np.ndarray:
        """``visible`` is (N, prefix.length + N).  The prefix is not modified."""
        logits, _ = self._run(tokens, np.asarray(positions), visible, prefix)
        return logits

    def _run(self, tokens, positions, visible, prefix):
        x = self.embedding[np.asarray(tokens, dtype=np.int64)]
        all_k, all_v = [], []
        for block, past_k, past_v in zip(self.blocks, prefix.keys, prefix.values):
            h = normed(x)
            k = np.vstack([past_k, rotate(h @ block["k"], positions)])
            v = np.vstack([past_v, h @ block["v"]])
            s = rotate(h @ block["q"], positions) @ k.T / np.sqrt(self.width)
            s = np.where(visible, s, -np.inf)
            s = np.exp(s - s.max(-1, keepdims=True))
            x = x + (s / s.sum(-1, keepdims=True)) @ v @ block["o"]
            x = x + np.tanh(normed(x) @ block["m"])
            all_k.append(k)
            all_v.append(v)
        return normed(x) @ self.unembedding, Prefix(all_k, all_v)
