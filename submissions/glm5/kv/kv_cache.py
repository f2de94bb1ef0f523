"""
KV-Cache for Autoregressive Transformer Inference (NumPy)
=========================================================

During autoregressive decoding, token t attends to tokens 0..t. The keys and
values of the past never change, so recomputing them at every step is wasted
work. A KV-cache stores them once and each step only computes the K/V of the
newest token:

    without cache:  step t projects t tokens       -> O(T^2) projections
    with cache:     step t projects exactly 1 token -> O(T)  projections

Memory layout
-------------
Both caches are stored as BHSD:

    cache_k, cache_v : [batch, heads, max_seq_len, head_dim]

    - head_dim is innermost, so one key is one contiguous vector
    - for a fixed (b, h) all past keys form one contiguous S x D panel, which
      is exactly the operand of q @ K^T and of P @ V
    - appending a token writes one D-vector per (b, h) at index seq_len

Each batch element has its own length (`seq_lens[b]`). Sequences of different
lengths share the same buffers, and a read never goes past `seq_lens[b]`.

Contents
--------
    1. KVCache                            buffers, update, get
    2. Attention without a cache          the baseline
    3. multi_head_attention_with_cache    attention over the cache
    4. IncrementalDecoder                 prefill -> decode lifecycle
    5. Memory growth and FLOPs            analysis helpers
    6. Demo

Only NumPy is used. The optimizations (paging, chunked prefill, quantization)
are in optimizations.py, the tests in test_kv_cache.py.
"""

import numpy as np


# =============================================================================
# 1. KV-Cache
# =============================================================================

class KVCache:
    """
    Key/value cache of one attention layer.

    Buffers are allocated once for `max_seq_len` positions; `update` writes the
    new tokens behind what each sequence already holds.

        cache_k[b, h]:
        +-----+-----+-----+-----+-----+-----+-----+-----+
        | k_0 | k_1 | k_2 | k_3 |  -  |  -  |  -  |  -  |
        +-----+-----+-----+-----+-----+-----+-----+-----+
                                 ^
                                 seq_lens[b] = 4: the next write position
    """

    def __init__(self, batch_size, num_heads, max_seq_len, head_dim):
        """
        Args:
            batch_size:  number of sequences (B)
            num_heads:   attention heads (H)
            max_seq_len: capacity of every sequence (S_max)
            head_dim:    size of one head (D)
        """
        self.batch_size = batch_size
        self.num_heads = num_heads
        self.max_seq_len = max_seq_len
        self.head_dim = head_dim

        shape = (batch_size, num_heads, max_seq_len, head_dim)
        self.cache_k = np.zeros(shape, dtype=np.float32)
        self.cache_v = np.zeros(shape, dtype=np.float32)
        self.seq_lens = np.zeros(batch_size, dtype=np.int64)

    # ---- write --------------------------------------------------------------

    def update(self, k_new, v_new, new_lens=None):
        """
        Append new tokens to every sequence of the batch.

        Args:
            k_new:    [B, H, T, D] keys of the new tokens
            v_new:    [B, H, T, D] values of the new tokens
            new_lens: [B] how many of the T tokens are real for each sequence
                      (the rest is padding and is not stored). None = all T.

        Returns:
            seq_lens after the update, [B]
        """
        k_new = np.asarray(k_new)
        v_new = np.asarray(v_new)
        B, H, T, D = k_new.shape
        assert k_new.shape == v_new.shape, "K and V must have the same shape"
        assert B == self.batch_size, f"batch {B} != cache batch {self.batch_size}"
        assert H == self.num_heads, f"heads {H} != cache heads {self.num_heads}"
        assert D == self.head_dim, f"head_dim {D} != cache head_dim {self.head_dim}"

        if new_lens is None:
            new_lens = np.full(B, T, dtype=np.int64)
        else:
            new_lens = np.asarray(new_lens, dtype=np.int64)
            assert new_lens.shape == (B,), "new_lens must be [B]"
            assert np.all((new_lens >= 0) & (new_lens <= T)), "new_lens outside 0..T"

        # Check the whole batch first, so that a full cache leaves no
        # sequence half-written.
        ends = self.seq_lens + new_lens
        if np.any(ends > self.max_seq_len):
            b = int(np.argmax(ends))
            raise ValueError(
                f"KV-cache overflow: sequence {b} needs {int(ends[b])} positions, "
                f"capacity is {self.max_seq_len}"
            )

        for b in range(B):
            start, end, n = self.seq_lens[b], ends[b], new_lens[b]
            self.cache_k[b, :, start:end, :] = k_new[b, :, :n, :]
            self.cache_v[b, :, start:end, :] = v_new[b, :, :n, :]

        self.seq_lens = ends
        return self.seq_lens.copy()

    # ---- read ---------------------------------------------------------------

    def get(self, batch_idx):
        """
        Valid keys and values of one sequence (views, no copy).

        Returns:
            k, v: [H, seq_lens[batch_idx], D]
        """
        n = self.seq_lens[batch_idx]
        return self.cache_k[batch_idx, :, :n, :], self.cache_v[batch_idx, :, :n, :]

    def get_padded(self):
        """
        The batch up to the longest sequence, plus the lengths.

        Returns:
            k, v: [B, H, max(seq_lens), D] (positions past a sequence's length
                  hold no data of that sequence)
            seq_lens: [B]
        """
        n = int(self.seq_lens.max()) if self.batch_size else 0
        return self.cache_k[:, :, :n, :], self.cache_v[:, :, :n, :], self.seq_lens.copy()

    # ---- bookkeeping --------------------------------------------------------

    def reset(self, batch_idx=None):
        """Forget one sequence (or all): the slot can be used by a new request."""
        if batch_idx is None:
            self.seq_lens[:] = 0
        else:
            self.seq_lens[batch_idx] = 0

    def memory_bytes(self):
        """Allocated bytes of both buffers."""
        return self.cache_k.nbytes + self.cache_v.nbytes

    def used_bytes(self):
        """Bytes that hold tokens."""
        per_token = 2 * self.num_heads * self.head_dim * self.cache_k.itemsize
        return int(self.seq_lens.sum()) * per_token

    def __repr__(self):
        return (
            f"KVCache(B={self.batch_size}, H={self.num_heads}, "
            f"S_max={self.max_seq_len}, D={self.head_dim}, "
            f"seq_lens={self.seq_lens.tolist()})"
        )


# =============================================================================
# 2. Attention without a cache (baseline)
# =============================================================================

def softmax(x, axis=-1):
    """Numerically stable softmax (subtracts the maximum first)."""
    x = x - np.max(x, axis=axis, keepdims=True)
    e = np.exp(x)
    return e / np.sum(e, axis=axis, keepdims=True)


def multi_head_attention(q, k, v):
    """
    Scaled dot-product attention over explicit K and V.

    Args:
        q: [B, H, T, D]
        k: [B, H, S, D]
        v: [B, H, S, D]

    Returns:
        [B, H, T, D]
    """
    scale = 1.0 / np.sqrt(q.shape[-1])
    scores = np.matmul(q, k.transpose(0, 1, 3, 2)) * scale    # [B, H, T, S]
    return np.matmul(softmax(scores), v)


def split_heads(x, num_heads):
    """[B, T, H * D] -> [B, H, T, D]"""
    B, T, E = x.shape
    return x.reshape(B, T, num_heads, E // num_heads).transpose(0, 2, 1, 3)


def merge_heads(x):
    """[B, H, T, D] -> [B, T, H * D]"""
    B, H, T, D = x.shape
    return x.transpose(0, 2, 1, 3).reshape(B, T, H * D)


# =============================================================================
# 3. Attention over the cache
# =============================================================================

def multi_head_attention_with_cache(q, k_new, v_new, cache, new_lens=None):
    """
    Append the new K/V to the cache, then attend to everything in the cache.

    Args:
        q:        [B, H, T, D] queries of the new tokens (T = 1 when decoding)
        k_new:    [B, H, T, D] keys of the new tokens
        v_new:    [B, H, T, D] values of the new tokens
        cache:    KVCache, updated in place
        new_lens: [B] number of real tokens per sequence, None = all T

    Returns:
        [B, H, T, D] attention output

    The lengths may differ between sequences: sequence b reads exactly
    cache.seq_lens[b] keys, so nothing of the padding enters its softmax and
    no additive mask is needed.
    """
    B, H, T, D = q.shape
    cache.update(k_new, v_new, new_lens)

    scale = 1.0 / np.sqrt(D)
    out = np.zeros((B, H, T, D), dtype=np.float32)

    # The explicit loops map 1:1 to CUDA: one thread block per (b, h) pair,
    # i.e. grid = (B, H). Every iteration is independent of all the others.
    for b in range(B):
        k_seq, v_seq = cache.get(b)                  # [H, S_b, D]
        if k_seq.shape[1] == 0:
            continue                                 # empty sequence: output stays 0
        for h in range(H):
            # Step 1: scores of the new queries against all cached keys
            scores = np.matmul(q[b, h], k_seq[h].T) * scale       # [T, S_b]

            # Step 2: softmax over the cached positions
            weights = softmax(scores, axis=-1)                    # [T, S_b]

            # Step 3: weighted sum of the cached values
            out[b, h] = np.matmul(weights, v_seq[h])              # [T, D]

    return out


# =============================================================================
# 4. Incremental decoder
# =============================================================================

class IncrementalDecoder:
    """
    A small decoder that shows the two phases of generation.

        Phase 1 - prefill: all prompt tokens at once
            prompt [B, S] -> Q, K, V of S tokens -> cache holds S entries

        Phase 2 - decode: one token per sequence and step
            token  [B]    -> Q, K, V of 1 token  -> cache grows by 1
                          -> attention over the cache -> logits -> next token

    Simplified on purpose so that the cache stays in the foreground: token
    embedding, one attention layer with residual, output projection.
    """

    def __init__(self, vocab_size, embed_dim, num_heads, max_seq_len, seed=0):
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.vocab_size = vocab_size
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.max_seq_len = max_seq_len

        rng = np.random.default_rng(seed)
        s = 1.0 / np.sqrt(embed_dim)

        def init(*shape):
            return (rng.standard_normal(shape) * s).astype(np.float32)

        self.embedding = rng.standard_normal((vocab_size, embed_dim)).astype(np.float32)
        self.W_q = init(embed_dim, embed_dim)
        self.W_k = init(embed_dim, embed_dim)
        self.W_v = init(embed_dim, embed_dim)
        self.W_o = init(embed_dim, embed_dim)
        self.W_out = init(embed_dim, vocab_size)
        self.cache = None

    # ---- one pass through the layer -----------------------------------------

    def _forward(self, token_ids, new_lens=None):
        """token_ids [B, T] -> logits [B, T, V]; K/V of the tokens are cached."""
        x = self.embedding[token_ids]                              # [B, T, E]
        q = split_heads(x @ self.W_q, self.num_heads)              # [B, H, T, D]
        k = split_heads(x @ self.W_k, self.num_heads)
        v = split_heads(x @ self.W_v, self.num_heads)

        attn = multi_head_attention_with_cache(q, k, v, self.cache, new_lens)
        x = x + merge_heads(attn) @ self.W_o
        return x @ self.W_out

    # ---- the two phases -----------------------------------------------------

    def prefill(self, token_ids, prompt_lens=None):
        """
        Process the whole prompt in one pass and fill the cache.

        Args:
            token_ids:   [B, S] prompts, padded at the end to the same length
            prompt_lens: [B] real prompt lengths, None = all S

        Returns:
            logits [B, S, V]; row prompt_lens[b] - 1 predicts the next token
        """
        token_ids = np.asarray(token_ids)
        B = token_ids.shape[0]
        self.cache = KVCache(B, self.num_heads, self.max_seq_len, self.head_dim)
        return self._forward(token_ids, prompt_lens)

    def decode_step(self, token_ids):
        """
        One new token per sequence; only its own Q, K and V are computed.

        Args:
            token_ids: [B]

        Returns:
            logits [B, V]
        """
        assert self.cache is not None, "call prefill() first"
        token_ids = np.asarray(token_ids).reshape(-1, 1)           # [B, 1]
        return self._forward(token_ids)[:, 0, :]

    def generate(self, token_ids, num_new_tokens, prompt_lens=None):
        """
        Greedy generation: prefill, then one decode step per token.

        Returns:
            [B, num_new_tokens] generated token ids
        """
        token_ids = np.asarray(token_ids)
        B, S = token_ids.shape
        lens = np.full(B, S) if prompt_lens is None else np.asarray(prompt_lens)

        logits = self.prefill(token_ids, prompt_lens)
        next_token = np.argmax(logits[np.arange(B), lens - 1], axis=-1)

        generated = [next_token]
        for _ in range(num_new_tokens - 1):
            logits = self.decode_step(next_token)
            next_token = np.argmax(logits, axis=-1)
            generated.append(next_token)
        return np.stack(generated, axis=1)


# =============================================================================
# 5. Memory growth and FLOPs
# =============================================================================

def kv_cache_bytes(num_layers, num_heads, head_dim, seq_len, batch_size=1, bytes_per_elem=4):
    """
    Size of the cache: 2 (K and V) * L * B * H * S * D * bytes.

    Linear in the sequence length and in the batch size.
    """
    return 2 * num_layers * batch_size * num_heads * seq_len * head_dim * bytes_per_elem


def memory_growth_table(config, seq_lens, batch_size=1, bytes_per_elem=4):
    """
    Cache size over the sequence length.

    Args:
        config: dict with num_layers, num_heads, head_dim

    Returns:
        list of (seq_len, bytes per token, total bytes)
    """
    per_token = kv_cache_bytes(
        config["num_layers"], config["num_heads"], config["head_dim"],
        1, batch_size, bytes_per_elem,
    )
    return [(s, per_token, per_token * s) for s in seq_lens]


def format_bytes(num_bytes):
    """Human-readable size with binary units."""
    size = float(num_bytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def attention_flops(num_queries, num_keys, num_heads, head_dim):
    """FLOPs of QK^T and PV: two products of 2 * T * S * D each, per head."""
    return 4 * num_heads * num_queries * num_keys * head_dim


def flops_comparison(prompt_len, num_new_tokens, num_heads, head_dim):
    """
    Attention FLOPs of prompt + generation with and without a cache.

    Without: every generated token runs attention over the full sequence.
    With:    one prefill, then each step has one query against the cache.

    Returns:
        dict with flops_without, flops_with, speedup
    """
    total_len = prompt_len + num_new_tokens

    flops_without = num_new_tokens * attention_flops(
        total_len, total_len, num_heads, head_dim)

    flops_with = attention_flops(prompt_len, prompt_len, num_heads, head_dim)
    for i in range(1, num_new_tokens + 1):
        flops_with += attention_flops(1, prompt_len + i, num_heads, head_dim)

    return {
        "flops_without": flops_without,
        "flops_with": flops_with,
        "speedup": flops_without / flops_with,
    }


# =============================================================================
# 6. Demo
# =============================================================================

if __name__ == "__main__":
    print("KV-cache demo")
    print("-" * 60)

    decoder = IncrementalDecoder(vocab_size=100, embed_dim=64, num_heads=4, max_seq_len=64)
    prompts = np.array([
        [5, 17, 42, 8, 3, 91],
        [12, 77, 9, 0, 0, 0],        # three real tokens, three of padding
    ])
    tokens = decoder.generate(prompts, num_new_tokens=8, prompt_lens=[6, 3])

    for b, row in enumerate(tokens):
        print(f"  sequence {b}: {row.tolist()}")
    print(f"  cache:      {decoder.cache}")
    print()
    print(f"  allocated:  {format_bytes(decoder.cache.memory_bytes())}")
    print(f"  used:       {format_bytes(decoder.cache.used_bytes())}")

    config = {"num_layers": 32, "num_heads": 32, "head_dim": 128}
    for seq_len, _, total in memory_growth_table(config, [1024, 4096, 16384]):
        print(f"  32 layers x 32 heads x 128, {seq_len:>6} tokens: {format_bytes(total)}")

    result = flops_comparison(1024, 100, num_heads=32, head_dim=128)
    print(f"  attention FLOPs, 1024 + 100 tokens: {result['speedup']:.0f}x fewer with cache")
