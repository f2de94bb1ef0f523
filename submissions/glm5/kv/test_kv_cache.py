"""
Tests for the KV-cache and its optimizations.

Run with:
    python test_kv_cache.py
or:
    pytest test_kv_cache.py -s
"""

import numpy as np

from kv_cache import (
    IncrementalDecoder,
    KVCache,
    flops_comparison,
    format_bytes,
    kv_cache_bytes,
    memory_growth_table,
    merge_heads,
    multi_head_attention,
    multi_head_attention_with_cache,
    split_heads,
)
from optimizations import PagedKVCache, QuantizedKVCache, pack_int4, unpack_int4


def header(title):
    print()
    print("=" * 70)
    print(title)
    print("=" * 70)


def random_kv(rng, *shape):
    """A pair of random float32 arrays."""
    k = rng.standard_normal(shape).astype(np.float32)
    v = rng.standard_normal(shape).astype(np.float32)
    return k, v


# =============================================================================
# Test 1: basic update and retrieval
# =============================================================================

def test_basic_cache_update():
    """What is written into the cache comes back unchanged."""
    header("Test 1: Basic cache update and retrieval")
    rng = np.random.default_rng(1)
    B, H, D = 2, 4, 8
    cache = KVCache(batch_size=B, num_heads=H, max_seq_len=16, head_dim=D)

    # Prompt of 5 tokens
    k1, v1 = random_kv(rng, B, H, 5, D)
    cache.update(k1, v1)
    assert cache.seq_lens.tolist() == [5, 5]

    # Two single tokens
    k2, v2 = random_kv(rng, B, H, 1, D)
    k3, v3 = random_kv(rng, B, H, 1, D)
    cache.update(k2, v2)
    cache.update(k3, v3)
    assert cache.seq_lens.tolist() == [7, 7]

    expected_k = np.concatenate([k1, k2, k3], axis=2)
    expected_v = np.concatenate([v1, v2, v3], axis=2)
    for b in range(B):
        k, v = cache.get(b)
        assert k.shape == (H, 7, D)
        assert np.array_equal(k, expected_k[b])
        assert np.array_equal(v, expected_v[b])

    # Positions that were never written stay zero
    assert np.all(cache.cache_k[:, :, 7:, :] == 0)

    # Writing past the capacity is refused and changes nothing
    too_long, _ = random_kv(rng, B, H, 10, D)
    try:
        cache.update(too_long, too_long)
        raise AssertionError("overflow was not detected")
    except ValueError as error:
        print(f"  overflow refused: {error}")
    assert cache.seq_lens.tolist() == [7, 7]
    assert np.array_equal(cache.get(0)[0], expected_k[0])

    # A slot can be reused after reset
    cache.reset(1)
    assert cache.seq_lens.tolist() == [7, 0]

    print(f"  {cache}")
    print("  PASS")


# =============================================================================
# Test 2: cached attention equals attention without a cache
# =============================================================================

def test_cached_vs_non_cached():
    """Token-by-token attention over the cache matches full recomputation."""
    header("Test 2: Cached vs non-cached attention")
    rng = np.random.default_rng(2)
    B, H, S, D = 2, 4, 10, 16

    q = rng.standard_normal((B, H, S, D)).astype(np.float32)
    k, v = random_kv(rng, B, H, S, D)
    cache = KVCache(B, H, S, D)

    max_diff = 0.0
    for t in range(S):
        # With cache: only the K/V of token t are passed in
        cached = multi_head_attention_with_cache(
            q[:, :, t:t + 1], k[:, :, t:t + 1], v[:, :, t:t + 1], cache)

        # Without cache: all K/V up to token t
        full = multi_head_attention(
            q[:, :, t:t + 1], k[:, :, :t + 1], v[:, :, :t + 1])

        diff = np.abs(cached - full).max()
        max_diff = max(max_diff, diff)
        assert diff < 1e-5, f"step {t}: cached and full differ by {diff}"

    print(f"  {S} steps, max difference: {max_diff:.2e}")

    # A prompt in one call, then one step, against the same in single calls
    cache_b = KVCache(B, H, S, D)
    multi_head_attention_with_cache(q[:, :, :-1], k[:, :, :-1], v[:, :, :-1], cache_b)
    last = multi_head_attention_with_cache(
        q[:, :, -1:], k[:, :, -1:], v[:, :, -1:], cache_b)
    assert np.abs(last - cached).max() < 1e-5
    assert np.array_equal(cache.cache_k, cache_b.cache_k)

    print("  PASS")


# =============================================================================
# Test 3: variable sequence lengths
# =============================================================================

def test_variable_lengths():
    """Sequences of different lengths in one batch do not disturb each other."""
    header("Test 3: Variable sequence lengths")
    rng = np.random.default_rng(3)
    lengths = [5, 12, 3]
    B, H, D = len(lengths), 2, 8
    S = max(lengths)

    # Padded prompts; the padding holds large numbers on purpose
    k, v = random_kv(rng, B, H, S, D)
    q = rng.standard_normal((B, H, S, D)).astype(np.float32)
    for b, n in enumerate(lengths):
        k[b, :, n:] = 1e4
        v[b, :, n:] = 1e4

    cache = KVCache(B, H, S + 4, D)
    multi_head_attention_with_cache(q, k, v, cache, new_lens=lengths)
    assert cache.seq_lens.tolist() == lengths

    # Two decode steps for the whole batch
    for step in range(2):
        q_t = rng.standard_normal((B, H, 1, D)).astype(np.float32)
        k_t, v_t = random_kv(rng, B, H, 1, D)
        out = multi_head_attention_with_cache(q_t, k_t, v_t, cache)

        # Every sequence on its own must give the same result
        for b in range(B):
            k_b, v_b = cache.get(b)
            alone = multi_head_attention(q_t[b:b + 1], k_b[None], v_b[None])
            diff = np.abs(out[b] - alone[0]).max()
            assert diff < 1e-5, f"sequence {b}: difference {diff}"
            assert np.abs(out[b]).max() < 100, "padding leaked into the output"

    assert cache.seq_lens.tolist() == [n + 2 for n in lengths]

    # Whatever lies behind a sequence in the buffers is never read
    other = KVCache(B, H, S + 4, D)
    other.cache_k[:], other.cache_v[:] = cache.cache_k, cache.cache_v
    other.seq_lens[:] = cache.seq_lens
    for b in range(B):
        other.cache_k[b, :, cache.seq_lens[b] + 1:] = -1e6
        other.cache_v[b, :, cache.seq_lens[b] + 1:] = 1e6
    out_a = multi_head_attention_with_cache(q_t, k_t, v_t, cache)
    out_b = multi_head_attention_with_cache(q_t, k_t, v_t, other)
    assert np.array_equal(out_a, out_b)

    for b, n in enumerate(lengths):
        print(f"  sequence {b}: prompt {n:>2}, cached {cache.seq_lens[b]:>2}")
    print("  PASS")


# =============================================================================
# Test 4: incremental decoder end to end
# =============================================================================

def test_incremental_decoder():
    """Prefill + decode gives the logits of a recomputation from scratch."""
    header("Test 4: Incremental decoder end-to-end")
    decoder = IncrementalDecoder(
        vocab_size=50, embed_dim=32, num_heads=4, max_seq_len=32, seed=7)
    rng = np.random.default_rng(4)
    prompt = rng.integers(0, 50, size=(2, 6))

    # Prefill
    logits = decoder.prefill(prompt)
    assert logits.shape == (2, 6, 50)
    assert decoder.cache.seq_lens.tolist() == [6, 6]

    # Decode five tokens and compare each step with a run without a cache
    tokens = prompt
    next_token = np.argmax(logits[:, -1], axis=-1)
    max_diff = 0.0
    for step in range(5):
        step_logits = decoder.decode_step(next_token)
        tokens = np.concatenate([tokens, next_token[:, None]], axis=1)

        x = decoder.embedding[tokens]
        q = split_heads(x @ decoder.W_q, decoder.num_heads)
        k = split_heads(x @ decoder.W_k, decoder.num_heads)
        v = split_heads(x @ decoder.W_v, decoder.num_heads)
        attn = multi_head_attention(q[:, :, -1:], k, v)
        expected = (x[:, -1:] + merge_heads(attn) @ decoder.W_o) @ decoder.W_out

        diff = np.abs(step_logits - expected[:, 0]).max()
        max_diff = max(max_diff, diff)
        assert diff < 1e-4, f"step {step}: logits differ by {diff}"
        next_token = np.argmax(step_logits, axis=-1)

    assert decoder.cache.seq_lens.tolist() == [11, 11]
    print(f"  5 decode steps, max logit difference: {max_diff:.2e}")

    # generate() runs the same two phases
    generated = decoder.generate(prompt, num_new_tokens=6)
    assert generated.shape == (2, 6)
    assert np.array_equal(generated[:, :5], tokens[:, 6:])
    print(f"  generated: {generated[0].tolist()}")

    # Prompts of different lengths
    ragged = decoder.generate(prompt, num_new_tokens=4, prompt_lens=[6, 3])
    alone = decoder.generate(prompt[1:, :3], num_new_tokens=4)
    assert np.array_equal(ragged[1], alone[0])
    print("  PASS")


# =============================================================================
# Test 5: paged cache
# =============================================================================

def test_paged_cache():
    """Paged storage returns the same K/V; blocks are allocated and freed."""
    header("Test 5: Paged KV-cache")
    rng = np.random.default_rng(5)
    H, D, block_size = 2, 8, 4
    paged = PagedKVCache(num_blocks=10, block_size=block_size, num_heads=H, head_dim=D)

    # Two sequences that grow in turns, so that their blocks interleave
    a, b = paged.add_sequence(), paged.add_sequence()
    parts = {a: [], b: []}
    for seq_id, n in ((a, 6), (b, 3), (a, 1), (b, 5), (a, 4)):
        k, v = random_kv(rng, H, n, D)
        paged.update(seq_id, k, v)
        parts[seq_id].append((k, v))

    for seq_id in (a, b):
        expected_k = np.concatenate([k for k, _ in parts[seq_id]], axis=1)
        expected_v = np.concatenate([v for _, v in parts[seq_id]], axis=1)
        k, v = paged.get_kv(seq_id)
        assert np.array_equal(k, expected_k)
        assert np.array_equal(v, expected_v)

        # Attention over the blocks equals attention over contiguous memory
        q = rng.standard_normal((H, 1, D)).astype(np.float32)
        out = paged.attention(seq_id, q)
        expected = multi_head_attention(q[None], expected_k[None], expected_v[None])[0]
        assert np.abs(out - expected).max() < 1e-5

    # 11 tokens -> 3 blocks, 8 tokens -> 2 blocks
    print(f"  block tables: {paged.block_tables}")
    assert len(paged.block_tables[a]) == 3
    assert len(paged.block_tables[b]) == 2
    assert paged.num_free_blocks() == 5
    print(f"  utilization:  {paged.utilization():.0%}")

    # No block belongs to two sequences
    owned = paged.block_tables[a] + paged.block_tables[b]
    assert len(set(owned)) == len(owned)
    assert not set(owned) & set(paged.free_list)

    # Blocks come back when a sequence ends
    paged.free_sequence(a)
    assert paged.num_free_blocks() == 8
    print(f"  free blocks after end of one sequence: {paged.num_free_blocks()}")

    # They are reused, and the pool runs out with an error
    c = paged.add_sequence()
    k, v = random_kv(rng, H, 8 * block_size, D)
    paged.update(c, k, v)
    assert paged.num_free_blocks() == 0
    try:
        paged.update(c, k[:, :1], v[:, :1])
        raise AssertionError("exhausted pool was not detected")
    except MemoryError as error:
        print(f"  exhaustion refused: {error}")
    assert np.array_equal(paged.get_kv(c)[0], k)
    print("  PASS")


# =============================================================================
# Test 6: quantized cache
# =============================================================================

def test_quantized_cache():
    """INT8 and INT4 round trips stay within a bounded error."""
    header("Test 6: Quantized KV-cache")
    rng = np.random.default_rng(6)
    B, H, S, D = 2, 4, 64, 8
    k, v = random_kv(rng, B, H, S, D)
    k, v = 2 * k, 2 * v                     # standard deviation 2
    q = rng.standard_normal((B, H, 1, D)).astype(np.float32)
    reference = multi_head_attention(q, k, v)

    print(f"  {'bits':<6}{'mean error':>12}{'max error':>12}{'attention':>12}{'vs FP32':>10}")
    for bits, limit in ((8, 0.01), (4, 0.15)):
        cache = QuantizedKVCache(B, H, S, D, bits=bits)
        cache.update(k[:, :, :40], v[:, :, :40])
        cache.update(k[:, :, 40:], v[:, :, 40:])

        k_hat = np.stack([cache.get(b)[0] for b in range(B)])
        v_hat = np.stack([cache.get(b)[1] for b in range(B)])
        error = np.abs(k_hat - k)
        assert error.mean() < limit, f"INT{bits}: mean error {error.mean()}"

        # Rounding is never off by more than half a step
        step = (k.max(axis=-1) - k.min(axis=-1)) / (2 ** bits - 1)
        assert np.all(error.max(axis=-1) <= 0.5 * step + 1e-5)

        attn_error = np.abs(multi_head_attention(q, k_hat, v_hat) - reference).mean()
        print(f"  INT{bits:<3}{error.mean():>12.4f}{error.max():>12.4f}"
              f"{attn_error:>12.4f}{cache.compression_ratio():>9.3f}x")

    # INT4 stores two values per byte
    int8 = QuantizedKVCache(B, H, S, D, bits=8)
    int4 = QuantizedKVCache(B, H, S, D, bits=4)
    assert int4.k_codes.nbytes * 2 == int8.k_codes.nbytes
    assert int8.compression_ratio() == 0.5

    # Packing loses nothing
    codes = rng.integers(0, 16, size=(3, D)).astype(np.uint8)
    packed = pack_int4(codes)
    assert packed.shape == (3, D // 2)
    assert np.array_equal(unpack_int4(packed), codes)
    print("  PASS")


# =============================================================================
# Test 7: memory growth
# =============================================================================

def test_memory_growth():
    """The cache grows linearly with the sequence length."""
    header("Test 7: Memory growth analysis")
    configs = {
        "small (12 layers, 12 heads x 64)":
            {"num_layers": 12, "num_heads": 12, "head_dim": 64},
        "7B-class (32 layers, 32 heads x 128)":
            {"num_layers": 32, "num_heads": 32, "head_dim": 128},
    }
    seq_lens = [128, 512, 1024, 2048, 4096, 8192]

    for name, config in configs.items():
        print(f"\n  {name}, batch 1")
        print(f"  {'tokens':>8} {'per token':>12} {'FP32':>12} {'FP16':>12}")
        fp32 = memory_growth_table(config, seq_lens, bytes_per_elem=4)
        fp16 = memory_growth_table(config, seq_lens, bytes_per_elem=2)
        for (s, per_token, full), (_, _, half) in zip(fp32, fp16):
            print(f"  {s:>8} {format_bytes(per_token):>12} "
                  f"{format_bytes(full):>12} {format_bytes(half):>12}")
            assert full == 2 * half
            assert full == s * per_token

    # The formula agrees with what a cache really allocates
    cache = KVCache(batch_size=3, num_heads=12, max_seq_len=128, head_dim=64)
    assert cache.memory_bytes() == kv_cache_bytes(1, 12, 64, 128, batch_size=3)

    # 7B-class: half a MiB per token in 16 bits
    assert kv_cache_bytes(32, 32, 128, 1, bytes_per_elem=2) == 524288
    print("\n  PASS")


# =============================================================================
# Test 8: FLOPs
# =============================================================================

def test_flops_comparison():
    """The cache saves two orders of magnitude of attention FLOPs."""
    header("Test 8: FLOPs with and without cache")
    print(f"  {'prompt':>8} {'new':>6} {'without':>12} {'with':>12} {'speedup':>9}")
    for prompt_len, num_new in ((128, 32), (512, 100), (1024, 100), (2048, 256)):
        r = flops_comparison(prompt_len, num_new, num_heads=32, head_dim=128)
        print(f"  {prompt_len:>8} {num_new:>6} {r['flops_without']:>12.2e} "
              f"{r['flops_with']:>12.2e} {r['speedup']:>8.0f}x")
        assert r["speedup"] > num_new / 2

    # The ratio does not depend on the size of the model
    result = flops_comparison(1024, 100, num_heads=32, head_dim=128)
    small = flops_comparison(1024, 100, num_heads=12, head_dim=64)
    assert abs(result["speedup"] - small["speedup"]) < 1e-9
    print(f"  1024 + 100 tokens: {result['speedup']:.1f}x fewer attention FLOPs")
    assert round(result["speedup"]) == 109
    print("  PASS")


# =============================================================================
# Runner
# =============================================================================

if __name__ == "__main__":
    tests = [
        test_basic_cache_update,
        test_cached_vs_non_cached,
        test_variable_lengths,
        test_incremental_decoder,
        test_paged_cache,
        test_quantized_cache,
        test_memory_growth,
        test_flops_comparison,
    ]
    for test in tests:
        test()

    print()
    print(f"All {len(tests)} tests passed.")
