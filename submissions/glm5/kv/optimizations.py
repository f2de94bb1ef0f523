"""
KV-Cache Optimizations (NumPy)
==============================

The plain KVCache reserves max_seq_len positions per sequence in float32. Three
standard techniques attack its three weak points:

    1. PagedKVCache      reserved but unused memory   (as in vLLM)
    2. ChunkedPrefill    peak memory of a long prompt
    3. QuantizedKVCache  bytes per element            (INT8 / INT4)

All of them keep the head dimension innermost, so attention is unchanged.
"""

import numpy as np

from kv_cache import KVCache, format_bytes, multi_head_attention_with_cache


# =============================================================================
# 1. Paged KV-cache
# =============================================================================

class PagedKVCache:
    """
    Block-based cache: memory is handed out in blocks of `block_size` tokens.

    All blocks live in one pool. A sequence owns a list of block ids (its block
    table); the blocks may lie anywhere in the pool, in any order:

        pool:      [ 0 ][ 1 ][ 2 ][ 3 ][ 4 ][ 5 ][ 6 ][ 7 ]
                     A    B    A    -    B    A    -    -

        table A:   [0, 2, 5]      tokens 0-3 | 4-7 | 8-11
        table B:   [1, 4]         tokens 0-3 | 4-7
        free list: [3, 6, 7]

    Waste per sequence is below one block, instead of max_seq_len - seq_len.

    Pool layout: [num_blocks, H, block_size, D], i.e. BHSD with the block in
    the place of the batch.
    """

    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        """
        Args:
            num_blocks: blocks in the pool
            block_size: tokens per block
            num_heads:  attention heads (H)
            head_dim:   size of one head (D)
        """
        assert num_blocks > 0 and block_size > 0
        self.num_blocks = num_blocks
        self.block_size = block_size
        self.num_heads = num_heads
        self.head_dim = head_dim

        shape = (num_blocks, num_heads, block_size, head_dim)
        self.k_pool = np.zeros(shape, dtype=np.float32)
        self.v_pool = np.zeros(shape, dtype=np.float32)

        self.free_list = list(range(num_blocks))
        self.block_tables = {}        # seq_id -> [block ids in logical order]
        self.seq_lens = {}            # seq_id -> number of tokens
        self._next_seq_id = 0

    # ---- block management ---------------------------------------------------

    def _allocate_block(self):
        if not self.free_list:
            raise MemoryError("PagedKVCache: no free blocks left")
        return self.free_list.pop(0)

    def add_sequence(self):
        """Register a new, empty sequence and return its id. Takes no block yet."""
        seq_id = self._next_seq_id
        self._next_seq_id += 1
        self.block_tables[seq_id] = []
        self.seq_lens[seq_id] = 0
        return seq_id

    def free_sequence(self, seq_id):
        """Return all blocks of a finished sequence to the free list."""
        if seq_id not in self.block_tables:
            raise KeyError(f"unknown sequence {seq_id}")
        self.free_list.extend(self.block_tables.pop(seq_id))
        del self.seq_lens[seq_id]

    def blocks_needed(self, seq_id, num_new_tokens):
        """How many additional blocks the sequence needs for its new tokens."""
        total = self.seq_lens[seq_id] + num_new_tokens
        blocks = (total + self.block_size - 1) // self.block_size      # ceil
        return blocks - len(self.block_tables[seq_id])

    # ---- write --------------------------------------------------------------

    def update(self, seq_id, k_new, v_new):
        """
        Append tokens to one sequence and scatter them over its blocks.

        Args:
            seq_id: id from add_sequence()
            k_new:  [H, T, D]
            v_new:  [H, T, D]
        """
        if seq_id not in self.block_tables:
            raise KeyError(f"unknown sequence {seq_id}")
        H, T, D = k_new.shape
        assert k_new.shape == v_new.shape, "K and V must have the same shape"
        assert (H, D) == (self.num_heads, self.head_dim), "wrong heads or head_dim"

        # All or nothing: check the free list before the first write.
        needed = self.blocks_needed(seq_id, T)
        if needed > len(self.free_list):
            raise MemoryError(
                f"PagedKVCache: {needed} blocks needed, {len(self.free_list)} free"
            )
        table = self.block_tables[seq_id]
        for _ in range(needed):
            table.append(self._allocate_block())

        # Scatter: logical position -> (block, offset inside the block)
        pos = self.seq_lens[seq_id]
        written = 0
        while written < T:
            block_id = table[pos // self.block_size]
            offset = pos % self.block_size
            n = min(self.block_size - offset, T - written)

            self.k_pool[block_id, :, offset:offset + n, :] = k_new[:, written:written + n, :]
            self.v_pool[block_id, :, offset:offset + n, :] = v_new[:, written:written + n, :]
            pos += n
            written += n

        self.seq_lens[seq_id] = pos

    # ---- read ---------------------------------------------------------------

    def get_kv(self, seq_id):
        """
        Gather the blocks of one sequence into contiguous K and V.

        Returns:
            k, v: [H, S, D]
        """
        if seq_id not in self.block_tables:
            raise KeyError(f"unknown sequence {seq_id}")
        n = self.seq_lens[seq_id]
        table = self.block_tables[seq_id]
        if not table:
            empty = np.zeros((self.num_heads, 0, self.head_dim), dtype=np.float32)
            return empty, empty.copy()

        # Join the scattered blocks and cut off the unused rest of the last one
        k = np.concatenate([self.k_pool[i] for i in table], axis=1)
        v = np.concatenate([self.v_pool[i] for i in table], axis=1)
        return k[:, :n, :], v[:, :n, :]

    def attention(self, seq_id, q):
        """
        Attention of queries [H, T, D] over the cached tokens of one sequence.

        Returns:
            [H, T, D]
        """
        k, v = self.get_kv(seq_id)
        scale = 1.0 / np.sqrt(self.head_dim)
        out = np.zeros(q.shape, dtype=np.float32)
        for h in range(self.num_heads):
            scores = np.matmul(q[h], k[h].T) * scale
            scores -= scores.max(axis=-1, keepdims=True)
            weights = np.exp(scores)
            weights /= weights.sum(axis=-1, keepdims=True)
            out[h] = np.matmul(weights, v[h])
        return out

    # ---- statistics ---------------------------------------------------------

    def num_free_blocks(self):
        return len(self.free_list)

    def num_used_blocks(self):
        return self.num_blocks - len(self.free_list)

    def utilization(self):
        """Share of the slots in allocated blocks that hold a token."""
        slots = self.num_used_blocks() * self.block_size
        return sum(self.seq_lens.values()) / slots if slots else 0.0

    def memory_bytes(self):
        """Bytes of the whole pool."""
        return self.k_pool.nbytes + self.v_pool.nbytes

    def used_bytes(self):
        """Bytes of the blocks that are handed out."""
        per_block = 2 * self.num_heads * self.block_size * self.head_dim * 4
        return self.num_used_blocks() * per_block


# =============================================================================
# 2. Chunked prefill
# =============================================================================

class ChunkedPrefill:
    """
    Process a long prompt in chunks instead of all at once.

    A full prefill of S tokens needs a score matrix of S x S per head. With
    chunks of C tokens only C x (tokens so far) exists at any time:

        full prefill            chunked prefill (C = S / 4)

        +---------------+       +---+
        |               |       | 1 |
        |               |       +---+---+
        |    S x S      |       |   2   |
        |               |       +-------+---+
        |               |       |     3     |
        |               |       +-----------+---+
        |               |       |       4       |
        +---------------+       +---------------+

    The chunks run in order, because chunk i attends to the K/V of the chunks
    before it. Between two chunks a scheduler can run decode steps of other
    requests, so a long prompt does not block them.
    """

    def __init__(self, num_heads, head_dim, chunk_size):
        assert chunk_size > 0
        self.num_heads = num_heads
        self.head_dim = head_dim
        self.chunk_size = chunk_size

    def chunks(self, seq_len):
        """List of (start, end) covering 0..seq_len."""
        return [
            (start, min(start + self.chunk_size, seq_len))
            for start in range(0, seq_len, self.chunk_size)
        ]

    def prefill(self, k_prompt, v_prompt, cache):
        """
        Fill the cache chunk by chunk.

        Args:
            k_prompt: [B, H, S, D] keys of the prompt
            v_prompt: [B, H, S, D] values of the prompt
            cache:    KVCache, filled in place

        Returns:
            [B, H, S, D] attention output of all chunks
        """
        B, H, S, D = k_prompt.shape
        assert (H, D) == (self.num_heads, self.head_dim), "wrong heads or head_dim"

        outputs = []
        for start, end in self.chunks(S):
            k_chunk = k_prompt[:, :, start:end, :]
            v_chunk = v_prompt[:, :, start:end, :]

            # Simulate the queries of this chunk (in a model: x_chunk @ W_q)
            q_chunk = np.random.randn(B, H, end - start, D).astype(np.float32)

            # Append the chunk, then attend to all tokens cached so far
            out = multi_head_attention_with_cache(q_chunk, k_chunk, v_chunk, cache)
            outputs.append(out)

        return np.concatenate(outputs, axis=2)

    def peak_score_bytes(self, seq_len, batch_size=1):
        """
        Largest score matrix, without and with chunking.

        Returns:
            (full, chunked) in bytes of float32
        """
        per_score = batch_size * self.num_heads * 4
        full = seq_len * seq_len * per_score
        chunked = min(self.chunk_size, seq_len) * seq_len * per_score
        return full, chunked


# =============================================================================
# 3. Quantized KV-cache
# =============================================================================

def quantize(x, bits):
    """
    Quantize the last axis to unsigned integer codes.

        scale = (max - min) / (2^bits - 1)
        zero  = min
        code  = round((x - zero) / scale)         in 0 .. 2^bits - 1

    Args:
        x:    [..., D]
        bits: 8 or 4

    Returns:
        codes uint8 [..., D], scale float32 [..., 1], zero float32 [..., 1]
    """
    levels = 2 ** bits - 1
    lo = x.min(axis=-1, keepdims=True).astype(np.float32)
    hi = x.max(axis=-1, keepdims=True).astype(np.float32)

    scale = (hi - lo) / levels
    scale = np.where(scale == 0, 1.0, scale).astype(np.float32)    # constant vector
    codes = np.clip(np.rint((x - lo) / scale), 0, levels).astype(np.uint8)
    return codes, scale, lo


def dequantize(codes, scale, zero):
    """Inverse of quantize, up to half a step."""
    return codes.astype(np.float32) * scale + zero


def pack_int4(codes):
    """
    Pack two 4-bit codes into one byte.

        byte:  | 7 6 5 4 | 3 2 1 0 |
               | code[1] | code[0] |

    Args:
        codes: uint8 [..., D] with values 0..15, D even

    Returns:
        uint8 [..., D / 2]
    """
    assert codes.shape[-1] % 2 == 0, "INT4 packing needs an even head_dim"
    low = codes[..., 0::2]
    high = codes[..., 1::2]
    return (low | (high << 4)).astype(np.uint8)


def unpack_int4(packed):
    """uint8 [..., D / 2] -> uint8 [..., D], values 0..15"""
    codes = np.empty(packed.shape[:-1] + (packed.shape[-1] * 2,), dtype=np.uint8)
    codes[..., 0::2] = packed & 0x0F
    codes[..., 1::2] = packed >> 4
    return codes


class QuantizedKVCache:
    """
    KV-cache with INT8 or INT4 storage.

    Every token of every head has its own scale and zero point, so a token is
    quantized once when it is written and never touched again:

        k[b, h, s, :]  ->  D codes + 1 scale + 1 zero

        INT8:  D     bytes + 8 bytes of metadata
        INT4:  D / 2 bytes + 8 bytes of metadata   (two codes per byte)
        FP32:  4 * D bytes

    Reading dequantizes to float32; the attention itself is unchanged.
    """

    def __init__(self, batch_size, num_heads, max_seq_len, head_dim, bits=8):
        assert bits in (4, 8), "bits must be 4 or 8"
        if bits == 4:
            assert head_dim % 2 == 0, "INT4 needs an even head_dim"
        self.batch_size = batch_size
        self.num_heads = num_heads
        self.max_seq_len = max_seq_len
        self.head_dim = head_dim
        self.bits = bits

        code_dim = head_dim if bits == 8 else head_dim // 2
        code_shape = (batch_size, num_heads, max_seq_len, code_dim)
        meta_shape = (batch_size, num_heads, max_seq_len, 1)

        self.k_codes = np.zeros(code_shape, dtype=np.uint8)
        self.v_codes = np.zeros(code_shape, dtype=np.uint8)
        self.k_scale = np.zeros(meta_shape, dtype=np.float32)
        self.v_scale = np.zeros(meta_shape, dtype=np.float32)
        self.k_zero = np.zeros(meta_shape, dtype=np.float32)
        self.v_zero = np.zeros(meta_shape, dtype=np.float32)
        self.seq_lens = np.zeros(batch_size, dtype=np.int64)

    # ---- write --------------------------------------------------------------

    def _encode(self, x):
        codes, scale, zero = quantize(x, self.bits)
        if self.bits == 4:
            codes = pack_int4(codes)
        return codes, scale, zero

    def update(self, k_new, v_new):
        """
        Quantize and append new tokens to every sequence.

        Args:
            k_new, v_new: [B, H, T, D] float
        """
        B, H, T, D = k_new.shape
        assert k_new.shape == v_new.shape, "K and V must have the same shape"
        assert (B, H, D) == (self.batch_size, self.num_heads, self.head_dim)
        ends = self.seq_lens + T
        if np.any(ends > self.max_seq_len):
            raise ValueError(f"QuantizedKVCache overflow: capacity is {self.max_seq_len}")

        k_codes, k_scale, k_zero = self._encode(k_new)
        v_codes, v_scale, v_zero = self._encode(v_new)
        for b in range(B):
            s = slice(self.seq_lens[b], ends[b])
            self.k_codes[b, :, s], self.v_codes[b, :, s] = k_codes[b], v_codes[b]
            self.k_scale[b, :, s], self.v_scale[b, :, s] = k_scale[b], v_scale[b]
            self.k_zero[b, :, s], self.v_zero[b, :, s] = k_zero[b], v_zero[b]
        self.seq_lens = ends

    # ---- read ---------------------------------------------------------------

    def _decode(self, codes, scale, zero):
        if self.bits == 4:
            codes = unpack_int4(codes)
        return dequantize(codes, scale, zero)

    def get(self, batch_idx):
        """
        Dequantized keys and values of one sequence.

        Returns:
            k, v: [H, seq_lens[batch_idx], D] float32
        """
        b, n = batch_idx, self.seq_lens[batch_idx]
        k = self._decode(self.k_codes[b, :, :n], self.k_scale[b, :, :n], self.k_zero[b, :, :n])
        v = self._decode(self.v_codes[b, :, :n], self.v_scale[b, :, :n], self.v_zero[b, :, :n])
        return k, v

    # ---- statistics ---------------------------------------------------------

    def memory_bytes(self):
        """Codes plus scales and zero points."""
        arrays = (self.k_codes, self.v_codes, self.k_scale,
                  self.v_scale, self.k_zero, self.v_zero)
        return sum(a.nbytes for a in arrays)

    def fp32_bytes(self):
        """What the same cache takes in float32."""
        return 2 * self.batch_size * self.num_heads * self.max_seq_len * self.head_dim * 4

    def compression_ratio(self):
        """Quantized bytes over float32 bytes, metadata included."""
        return self.memory_bytes() / self.fp32_bytes()


# =============================================================================
# Comparison
# =============================================================================

def memory_comparison(seq_lens, max_seq_len, num_heads, head_dim, block_size=16):
    """
    Bytes of one layer for a batch of given lengths under each scheme.

    Returns:
        dict: scheme -> bytes
    """
    B = len(seq_lens)
    per_token = 2 * num_heads * head_dim * 4
    blocks = sum((n + block_size - 1) // block_size for n in seq_lens)
    return {
        "contiguous FP32": B * max_seq_len * per_token,
        "paged FP32": blocks * block_size * per_token,
        "contiguous INT8": B * max_seq_len * 2 * num_heads * (head_dim + 8),
        "contiguous INT4": B * max_seq_len * 2 * num_heads * (head_dim // 2 + 8),
    }


# =============================================================================
# Demo
# =============================================================================

if __name__ == "__main__":
    rng = np.random.default_rng(0)

    print("1. Paged cache: 8 blocks of 4 tokens")
    paged = PagedKVCache(num_blocks=8, block_size=4, num_heads=2, head_dim=8)
    a, b = paged.add_sequence(), paged.add_sequence()
    for seq_id, n in ((a, 6), (b, 3), (a, 4)):
        paged.update(seq_id, rng.standard_normal((2, n, 8)), rng.standard_normal((2, n, 8)))
    print(f"   block tables: {paged.block_tables}")
    print(f"   free blocks:  {paged.num_free_blocks()}, utilization {paged.utilization():.0%}")
    paged.free_sequence(a)
    print(f"   after free:   {paged.num_free_blocks()} free blocks")

    print("2. Chunked prefill: 256 tokens in chunks of 64")
    chunked = ChunkedPrefill(num_heads=2, head_dim=8, chunk_size=64)
    cache = KVCache(batch_size=1, num_heads=2, max_seq_len=256, head_dim=8)
    k = rng.standard_normal((1, 2, 256, 8)).astype(np.float32)
    v = rng.standard_normal((1, 2, 256, 8)).astype(np.float32)
    chunked.prefill(k, v, cache)
    full_bytes, chunk_bytes = chunked.peak_score_bytes(256)
    print(f"   cached tokens: {cache.seq_lens.tolist()}")
    print(f"   peak scores:   {format_bytes(full_bytes)} -> {format_bytes(chunk_bytes)}")

    print("3. Quantized cache")
    for bits in (8, 4):
        quant = QuantizedKVCache(1, 2, 256, 8, bits=bits)
        quant.update(k, v)
        k_hat, _ = quant.get(0)
        error = np.abs(k_hat - k[0]).mean()
        print(f"   INT{bits}: mean error {error:.4f}, {quant.compression_ratio():.3f}x of FP32")

    print("4. One layer, 8 heads x 64, lengths [500, 120, 33], capacity 1024")
    for name, size in memory_comparison([500, 120, 33], 1024, 8, 64).items():
        print(f"   {name:<16} {format_bytes(size):>10}")
