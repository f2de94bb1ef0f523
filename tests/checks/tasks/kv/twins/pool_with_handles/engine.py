"""A small Llama-shaped decoder (RMSNorm, rotary, gated MLP) over the pool."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Sequence

import numpy as np

from kv_pool import KVPool, PoolSpec
from paged_attention import paged_attention


@dataclass(frozen=True)
class EngineConfig:
    vocab: int = 61
    layers: int = 2
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 8
    num_blocks: int = 64
    block_size: int = 4
    dtype: str = "float32"

    @property
    def width(self) -> int:
        return self.heads * self.head_dim


def rms_norm(x: np.ndarray, gain: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * gain


def rotate(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Rotary embedding of (T, heads, d) at absolute positions (T,)."""
    half = x.shape[-1] // 2
    angle = positions[:, None] * 10000.0 ** (-np.arange(half) / half)
    c, s = (f(angle)[:, None, :].astype(x.dtype) for f in (np.cos, np.sin))
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * c - b * s, a * s + b * c], axis=-1)


class Engine:
    """Owns the weights and one pool; sequences are pool handles."""

    def __init__(self, config: EngineConfig = EngineConfig(), seed: int = 0):
        self.config = c = config
        rng = np.random.default_rng(seed)

        def w(*shape: int) -> np.ndarray:
            return (rng.standard_normal(shape) / np.sqrt(shape[0])).astype(c.dtype)

        kv_width = c.kv_heads * c.head_dim
        self.embedding = rng.standard_normal((c.vocab, c.width)).astype(c.dtype)
        self.blocks: List[Dict[str, np.ndarray]] = [
            {"g1": 1 + 0.1 * w(c.width), "wq": w(c.width, c.width), "wk": w(c.width, kv_width),
             "wv": w(c.width, kv_width), "wo": w(c.width, c.width), "g2": 1 + 0.1 * w(c.width),
             "up": w(c.width, 2 * c.width), "gate": w(c.width, 2 * c.width),
             "down": w(2 * c.width, c.width)} for _ in range(c.layers)]
        self.head = w(c.width, c.vocab)
        self.pool = KVPool(PoolSpec(c.layers, c.kv_heads, c.head_dim, c.num_blocks,
                                    c.block_size, c.dtype))

    # -- serving -----------------------------------------------------------
    def prefill(self, tokens: Sequence[int], handle: int | None = None, chunk: int | None = None):
        """Feed a prompt (or its continuation, given a handle); returns (handle, logits (T, vocab))."""
        tokens = np.asarray(tokens, dtype=np.int64)
        if tokens.ndim != 1 or tokens.size == 0:
            raise ValueError("a prompt is a non-empty 1-D list of ids")
        opened = handle is None
        if opened:
            handle = self.pool.open()
        step = chunk or tokens.size
        try:
            logits = [self._advance(handle, tokens[i:i + step]) for i in range(0, tokens.size, step)]
        except MemoryError:
            if opened:
                self.pool.close(handle)
            raise
        return handle, np.concatenate(logits)

    def decode(self, handles: Sequence[int], tokens: Sequence[int]) -> np.ndarray:
        """One token for each of several sequences; (batch, vocab) next-token logits."""
        if len(handles) != len(tokens) or len(set(handles)) != len(handles):
            raise ValueError("one token per sequence, each sequence once")
        return np.concatenate([self._advance(h, np.array([t])) for h, t in zip(handles, tokens)])

    def finish(self, handle: int) -> int:
        return self.pool.close(handle)

    # -- the network -------------------------------------------------------
    def _advance(self, handle: int, ids: np.ndarray) -> np.ndarray:
        start = self.pool.length(handle)

        def attend(layer: int, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
            self.pool.append(handle, layer, k, v)
            return paged_attention(q, self.pool, handle, layer)

        return self._network(ids, np.arange(start, start + ids.size), attend)

    def full_forward(self, tokens: Sequence[int]) -> np.ndarray:
        """The same network without any cache: (T, vocab)."""
        ids = np.asarray(tokens, dtype=np.int64)
        group = self.config.heads // self.config.kv_heads

        def attend(layer: int, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
            k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
            s = np.einsum("thd,shd->hts", q, k) / np.sqrt(q.shape[-1]).astype(q.dtype)
            s = np.where(np.tri(len(q), dtype=bool), s, -np.inf)
            p = np.exp(s - s.max(-1, keepdims=True))
            return np.einsum("hts,shd->thd", p / p.sum(-1, keepdims=True), v)

        return self._network(ids, np.arange(ids.size), attend)

    def _network(self, ids: np.ndarray, positions: np.ndarray, attend) -> np.ndarray:
        c, x = self.config, self.embedding[ids]
        for layer, p in enumerate(self.blocks):
            h = rms_norm(x, p["g1"])
            q = rotate((h @ p["wq"]).reshape(-1, c.heads, c.head_dim), positions)
            k = rotate((h @ p["wk"]).reshape(-1, c.kv_heads, c.head_dim), positions)
            v = (h @ p["wv"]).reshape(-1, c.kv_heads, c.head_dim)
            x = x + attend(layer, q, k, v).reshape(-1, c.width) @ p["wo"]
            h = rms_norm(x, p["g2"])
            x = x + (np.tanh(h @ p["gate"]) * (h @ p["up"])) @ p["down"]
        return rms_norm(x, np.ones(c.width, x.dtype)) @ self.head
