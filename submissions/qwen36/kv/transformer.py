"""
Transformer decoders on top of the KV-cache.

    TransformerDecoder   GPT style: LayerNorm, GELU MLP, sinusoidal positions
    LLaMAModel           LLaMA style: RMSNorm, RoPE, SwiGLU, grouped-query attention

Both run in three modes that give the same logits:

    forward(tokens)             no cache, the whole sequence at once
    prefill(tokens, cache)      the prompt, filling the cache
    decode_step(token, cache)   one token against the cache
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Sequence

import numpy as np

from attention import cached_attention, masked_attention, repeat_kv
from kv_cache import BatchedKVCache, CacheConfig

INIT_STD = 0.02


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes of a decoder."""

    vocab_size: int = 100
    d_model: int = 64
    num_layers: int = 2
    num_heads: int = 4
    num_kv_heads: Optional[int] = None      # None: as many as query heads
    d_ff: int = 256
    max_seq_len: int = 128
    rope_theta: float = 10000.0
    dtype: type = np.float32

    @property
    def head_dim(self) -> int:
        return self.d_model // self.num_heads

    @property
    def kv_heads(self) -> int:
        return self.num_kv_heads or self.num_heads


# ---- Building blocks ---------------------------------------------------------

class Linear:
    """y = x W, weights (d_in, d_out)."""

    def __init__(self, d_in: int, d_out: int, rng: np.random.Generator, dtype: type):
        self.weight = (rng.standard_normal((d_in, d_out)) * INIT_STD).astype(dtype)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return x @ self.weight


class LayerNorm:
    """Normalize the last axis to zero mean and unit variance, then scale and shift."""

    def __init__(self, dim: int, dtype: type, eps: float = 1e-5):
        self.gamma = np.ones(dim, dtype=dtype)
        self.beta = np.zeros(dim, dtype=dtype)
        self.eps = eps

    def __call__(self, x: np.ndarray) -> np.ndarray:
        mean = x.mean(axis=-1, keepdims=True)
        var = x.var(axis=-1, keepdims=True)
        return (self.gamma * (x - mean) / np.sqrt(var + self.eps) + self.beta).astype(x.dtype)


class RMSNorm:
    """LLaMA's normalization: no mean, no shift."""

    def __init__(self, dim: int, dtype: type, eps: float = 1e-6):
        self.gamma = np.ones(dim, dtype=dtype)
        self.eps = eps

    def __call__(self, x: np.ndarray) -> np.ndarray:
        rms = np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self.eps)
        return (self.gamma * x / rms).astype(x.dtype)


def gelu(x: np.ndarray) -> np.ndarray:
    """GELU, tanh approximation (GPT-2)."""
    inner = np.sqrt(2.0 / np.pi) * (x + 0.044715 * x * x * x)
    return (0.5 * x * (1.0 + np.tanh(inner))).astype(x.dtype)


def silu(x: np.ndarray) -> np.ndarray:
    """x * sigmoid(x), written with tanh so that it cannot overflow."""
    return (0.5 * x * (1.0 + np.tanh(0.5 * x))).astype(x.dtype)


class MLP:
    """Linear -> GELU -> Linear."""

    def __init__(self, config: TransformerConfig, rng: np.random.Generator):
        self.up = Linear(config.d_model, config.d_ff, rng, config.dtype)
        self.down = Linear(config.d_ff, config.d_model, rng, config.dtype)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.down(gelu(self.up(x)))


class SwiGLU:
    """LLaMA's MLP: down(silu(gate(x)) * up(x))."""

    def __init__(self, config: TransformerConfig, rng: np.random.Generator):
        self.gate = Linear(config.d_model, config.d_ff, rng, config.dtype)
        self.up = Linear(config.d_model, config.d_ff, rng, config.dtype)
        self.down = Linear(config.d_ff, config.d_model, rng, config.dtype)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.down(silu(self.gate(x)) * self.up(x))


def sinusoidal_positions(max_seq_len: int, d_model: int, dtype: type) -> np.ndarray:
    """(max_seq_len, d_model) table: sines in even columns, cosines in odd ones."""
    positions = np.arange(max_seq_len)[:, None]
    freqs = np.exp(-np.log(10000.0) * np.arange(0, d_model, 2) / d_model)
    table = np.zeros((max_seq_len, d_model))
    table[:, 0::2] = np.sin(positions * freqs)
    table[:, 1::2] = np.cos(positions * freqs[: d_model // 2])
    return table.astype(dtype)


def apply_rope(x: np.ndarray, positions: np.ndarray, theta: float) -> np.ndarray:
    """
    Rotary position embedding.

    Pairs (x[2i], x[2i+1]) are rotated by position * theta^(-2i/d), so a dot
    product of two rotated vectors depends on the distance of their positions.

    Args:
        x: (batch, heads, tokens, head_dim)
        positions: (batch, tokens) absolute positions
    """
    half = x.shape[-1] // 2
    inv_freq = theta ** (-np.arange(half) / half)
    angles = positions[:, None, :, None] * inv_freq          # (batch, 1, tokens, half)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    out = np.empty_like(x)
    out[..., 0::2] = even * cos - odd * sin
    out[..., 1::2] = even * sin + odd * cos
    return out


class SelfAttention:
    """Multi-head self-attention with an optional cache; GQA when kv_heads < num_heads."""

    def __init__(self, config: TransformerConfig, rng: np.random.Generator, use_rope: bool):
        self.config = config
        self.use_rope = use_rope
        kv_dim = config.kv_heads * config.head_dim
        self.wq = Linear(config.d_model, config.d_model, rng, config.dtype)
        self.wk = Linear(config.d_model, kv_dim, rng, config.dtype)
        self.wv = Linear(config.d_model, kv_dim, rng, config.dtype)
        self.wo = Linear(config.d_model, config.d_model, rng, config.dtype)

    def _split_heads(self, x: np.ndarray, heads: int) -> np.ndarray:
        """(batch, tokens, heads * head_dim) -> (batch, heads, tokens, head_dim)."""
        batch, tokens, _ = x.shape
        return x.reshape(batch, tokens, heads, self.config.head_dim).transpose(0, 2, 1, 3)

    def __call__(self, x, positions, lengths, cache=None, active=None) -> np.ndarray:
        """
        Args:
            x: (batch, tokens, d_model)
            positions: (batch, tokens) absolute position of every token
            lengths: (batch,) real tokens of each row of x
            cache: KVCache of this layer, or None for the uncached pass
            active: (batch,) bool, only in decode steps
        """
        batch, tokens, d_model = x.shape
        q = self._split_heads(self.wq(x), self.config.num_heads)
        k = self._split_heads(self.wk(x), self.config.kv_heads)
        v = self._split_heads(self.wv(x), self.config.kv_heads)
        if self.use_rope:
            q = apply_rope(q, positions, self.config.rope_theta)
            k = apply_rope(k, positions, self.config.rope_theta)

        if cache is None:
            group = self.config.num_heads // self.config.kv_heads
            out = masked_attention(q, repeat_kv(k, group), repeat_kv(v, group), lengths)
        else:
            if active is not None:
                cache.update(k, v, active)
            else:
                cache.prefill(k, v, lengths)
            out = cached_attention(q, cache, query_positions=positions)
        return self.wo(out.transpose(0, 2, 1, 3).reshape(batch, tokens, d_model))


class DecoderBlock:
    """Pre-norm block: x + attention(norm(x)), then x + mlp(norm(x))."""

    def __init__(self, attention: SelfAttention, mlp, norm1, norm2):
        self.attention = attention
        self.mlp = mlp
        self.norm1 = norm1
        self.norm2 = norm2

    def __call__(self, x, positions, lengths, cache=None, active=None) -> np.ndarray:
        x = x + self.attention(self.norm1(x), positions, lengths, cache, active)
        return x + self.mlp(self.norm2(x))


# ---- Models --------------------------------------------------------------------

class TransformerDecoder:
    """GPT-style decoder with tied input and output embeddings."""

    norm_class = LayerNorm
    mlp_class = MLP
    use_rope = False

    def __init__(self, config: TransformerConfig, seed: int = 0):
        rng = np.random.default_rng(seed)
        self.config = config
        shape = (config.vocab_size, config.d_model)
        self.embedding = (rng.standard_normal(shape) * INIT_STD).astype(config.dtype)
        self.positions = sinusoidal_positions(config.max_seq_len, config.d_model, config.dtype)
        self.blocks = [self._make_block(rng) for _ in range(config.num_layers)]
        self.final_norm = self.norm_class(config.d_model, config.dtype)

    def _make_block(self, rng: np.random.Generator) -> DecoderBlock:
        c = self.config
        return DecoderBlock(
            SelfAttention(c, rng, self.use_rope),
            self.mlp_class(c, rng),
            self.norm_class(c.d_model, c.dtype),
            self.norm_class(c.d_model, c.dtype),
        )

    def new_cache(self, batch_size: int) -> BatchedKVCache:
        """An empty cache with the sizes of this model."""
        c = self.config
        layer = CacheConfig(batch_size, c.kv_heads, c.head_dim, c.max_seq_len, c.dtype)
        return BatchedKVCache(c.num_layers, layer)

    def _embed(self, tokens: np.ndarray, positions: np.ndarray) -> np.ndarray:
        return self.embedding[tokens] + self.positions[positions]

    def _run(self, tokens, lengths, cache=None, active=None) -> np.ndarray:
        """Logits (batch, tokens, vocab) of new tokens behind what the cache holds."""
        batch, count = tokens.shape
        start = np.zeros(batch, dtype=np.int64) if cache is None else cache.seq_lens
        if np.any(start + lengths > self.config.max_seq_len):
            raise ValueError(f"sequence longer than max_seq_len={self.config.max_seq_len}")
        positions = start[:, None] + np.arange(count)
        # padding and finished sequences may point past the table; they are masked
        positions = np.minimum(positions, self.config.max_seq_len - 1)

        x = self._embed(tokens, positions)
        for i, block in enumerate(self.blocks):
            x = block(x, positions, lengths, None if cache is None else cache[i], active)
        return self.final_norm(x) @ self.embedding.T

    def forward(self, tokens: np.ndarray, lengths: Optional[np.ndarray] = None) -> np.ndarray:
        """Uncached reference: tokens (batch, n) -> logits (batch, n, vocab)."""
        tokens = np.asarray(tokens)
        if lengths is None:
            lengths = np.full(tokens.shape[0], tokens.shape[1])
        return self._run(tokens, np.asarray(lengths))

    def prefill(self, tokens, cache: BatchedKVCache, lengths=None) -> np.ndarray:
        """
        Run the prompts and fill the cache.

        Args:
            tokens: (batch, n) right-padded prompts
            lengths: (batch,) prompt lengths, default n

        Returns:
            (batch, vocab) logits at the last real token of each prompt
        """
        tokens = np.asarray(tokens)
        if lengths is None:
            lengths = np.full(tokens.shape[0], tokens.shape[1])
        lengths = np.asarray(lengths)
        logits = self._run(tokens, lengths, cache)
        return logits[np.arange(len(lengths)), lengths - 1]

    def decode_step(self, tokens, cache: BatchedKVCache, active=None) -> np.ndarray:
        """One token per sequence: tokens (batch,) -> logits (batch, vocab)."""
        tokens = np.asarray(tokens)[:, None]
        if active is None:
            active = np.ones(tokens.shape[0], dtype=bool)
        active = np.asarray(active, dtype=bool)
        return self._run(tokens, active.astype(np.int64), cache, active)[:, 0]

    def generate(
        self,
        prompts: Sequence[Sequence[int]],
        max_new_tokens: int,
        temperature: float = 1.0,
        top_k: Optional[int] = None,
        eos_id: Optional[int] = None,
        seed: int = 0,
    ) -> List[List[int]]:
        """Prefill, then sample token by token; returns the new tokens per prompt."""
        rng = np.random.default_rng(seed)
        lengths = np.array([len(p) for p in prompts])
        tokens = np.zeros((len(prompts), lengths.max()), dtype=np.int64)
        for b, prompt in enumerate(prompts):
            tokens[b, : len(prompt)] = prompt

        cache = self.new_cache(len(prompts))
        logits = self.prefill(tokens, cache, lengths)
        active = np.ones(len(prompts), dtype=bool)
        outputs: List[List[int]] = [[] for _ in prompts]
        for step in range(max_new_tokens):
            next_tokens = sample_tokens(logits, temperature, top_k, rng)
            for b in np.flatnonzero(active):
                outputs[b].append(int(next_tokens[b]))
            if eos_id is not None:
                active &= next_tokens != eos_id
            if not active.any() or step == max_new_tokens - 1:
                break
            logits = self.decode_step(next_tokens, cache, active)
        return outputs


class LLaMAModel(TransformerDecoder):
    """LLaMA-style decoder: RMSNorm, rotary positions, SwiGLU and GQA."""

    norm_class = RMSNorm
    mlp_class = SwiGLU
    use_rope = True

    def _embed(self, tokens: np.ndarray, positions: np.ndarray) -> np.ndarray:
        return self.embedding[tokens]          # positions enter through RoPE only


def sample_tokens(
    logits: np.ndarray,
    temperature: float,
    top_k: Optional[int],
    rng: np.random.Generator,
) -> np.ndarray:
    """Sample (batch,) token ids from (batch, vocab) logits; temperature 0 is greedy."""
    if temperature <= 0.0:
        return np.argmax(logits, axis=-1)
    scaled = logits.astype(np.float64) / temperature
    if top_k is not None and top_k < scaled.shape[-1]:
        kth = np.partition(scaled, -top_k, axis=-1)[:, -top_k, None]
        scaled = np.where(scaled >= kth, scaled, -np.inf)
    probs = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    probs /= probs.sum(axis=-1, keepdims=True)
    return np.array([rng.choice(probs.shape[-1], p=row) for row in probs])
