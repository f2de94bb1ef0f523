"""
Ten end-to-end demos of the KV-cache. Run ``python demo.py`` for all of them, or
``python demo.py 2 7`` for some. Every demo checks its result with an assertion.
"""

from __future__ import annotations

import sys
import time
from typing import Callable, List, Tuple

import numpy as np

import gpu_mapping as gpu
import memory_analysis as mem
from attention import cached_attention, gqa_attention, masked_attention, mqa_attention
from attention import repeat_kv, standard_attention
from kv_cache import BatchedKVCache, CacheConfig, KVCache
from optimizations import ChunkedPrefill, HybridKVCache, PagedKVCache, QuantizedKVCache
from transformer import TransformerConfig, TransformerDecoder

SEED = 4
ACTIVATION_STD = 0.006     # small, as in a freshly initialized model


def random_qkv(
    rng: np.random.Generator, batch: int, heads: int, tokens: int, head_dim: int
) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three float32 tensors (batch, heads, tokens, head_dim)."""
    shape = (3, batch, heads, tokens, head_dim)
    q, k, v = (rng.standard_normal(shape) * ACTIVATION_STD).astype(np.float32)
    return q, k, v


def max_diff(a: np.ndarray, b: np.ndarray) -> float:
    """Largest absolute difference, in float64."""
    return float(np.max(np.abs(a.astype(np.float64) - b.astype(np.float64))))


def float64_reference(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Full causal attention that stays in float64 to the end."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    return standard_attention(q, k, v, causal=True)


def demo_1_basic_operations() -> None:
    """Basic KV cache operations"""
    rng = np.random.default_rng(SEED)
    config = CacheConfig(batch_size=2, num_heads=4, head_dim=16, max_seq_len=32)
    cache = BatchedKVCache(num_layers=3, config=config)
    _, k, v = random_qkv(rng, 2, 4, 10, 16)

    for t in range(10):
        for layer in range(cache.num_layers):
            cache.update(layer, k[:, :, t:t + 1] * (layer + 1), v[:, :, t:t + 1])
    for layer in range(cache.num_layers):
        keys, values = cache.get_all(layer)
        assert np.array_equal(keys, k * (layer + 1)), "keys changed in the cache"
        assert np.array_equal(values, v), "values changed in the cache"

    print(f"  layout {config.shape} (BHSD), {cache.num_layers} layers, lengths {cache.seq_lens}")
    print(f"  used {cache.used_bytes:,} of {cache.allocated_bytes:,} bytes; data intact")
    try:
        cache[0].prefill(np.zeros((2, 4, 23, 16)), np.zeros((2, 4, 23, 16)))
        raise AssertionError("overflow was not detected")
    except ValueError as error:
        print(f"  overflow: {error}")
    assert np.array_equal(cache.get_all(0)[0], k)


def demo_2_cached_attention() -> None:
    """Cached attention computation"""
    rng = np.random.default_rng(SEED)
    batch, heads, tokens, dim = 2, 4, 12, 16
    q, k, v = random_qkv(rng, batch, heads, tokens, dim)
    cache = KVCache(CacheConfig(batch, heads, dim, max_seq_len=16))

    worst = 0.0
    for t in range(tokens):
        cache.update(k[:, :, t:t + 1], v[:, :, t:t + 1])
        out = cached_attention(q[:, :, t:t + 1], cache)
        for b in range(batch):
            for h in range(heads):        # by hand, in float64
                past_k, past_v = k[b, h, :t + 1].astype(float), v[b, h, :t + 1].astype(float)
                scores = past_k @ q[b, h, t].astype(float) / np.sqrt(dim)
                weights = np.exp(scores) / np.exp(scores).sum()
                worst = max(worst, max_diff(out[b, h, 0], weights @ past_v))
    print(f"  {tokens} decode steps, max diff from manual: {worst:.2e}")
    assert worst < 1e-8

    wide_q = rng.standard_normal((2, 8, 5, 16))
    kv = rng.standard_normal((2, 2, 2, 9, 16))
    repeated = standard_attention(wide_q, repeat_kv(kv[0], 4), repeat_kv(kv[1], 4), causal=True)
    gqa = max_diff(gqa_attention(wide_q, kv[0], kv[1], causal=True), repeated)
    one_k, one_v = kv[0][:, :1], kv[1][:, :1]
    repeated = standard_attention(wide_q, repeat_kv(one_k, 8), repeat_kv(one_v, 8))
    mqa = max_diff(mqa_attention(wide_q, one_k, one_v), repeated)
    print(f"  GQA / MQA against repeated heads: {gqa:.2e} / {mqa:.2e}")
    assert gqa < 1e-12 and mqa < 1e-12


def demo_3_transformer_generation() -> None:
    """Full transformer: prefill + 5-step generation"""
    config = TransformerConfig(vocab_size=100, d_model=64, num_layers=2, num_heads=4, d_ff=256)
    model = TransformerDecoder(config, seed=SEED)
    prompt = np.random.default_rng(SEED).integers(0, config.vocab_size, size=(2, 8))

    cache = model.new_cache(batch_size=2)
    logits = model.prefill(prompt, cache)
    tokens = prompt
    for step in range(5):
        next_tokens = np.argmax(logits, axis=-1)
        tokens = np.concatenate([tokens, next_tokens[:, None]], axis=1)
        logits = model.decode_step(next_tokens, cache)
        diff = max_diff(logits, model.forward(tokens)[:, -1])
        print(f"  step {step + 1}: tokens {next_tokens}, cached vs full logits {diff:.2e}")
        assert diff < 1e-5

    sampled = model.generate(prompt.tolist(), max_new_tokens=5, temperature=0.8, top_k=10, seed=7)
    print(f"  sampled (temperature 0.8, top-k 10): {sampled}")
    assert all(len(s) == 5 for s in sampled)


def demo_4_variable_lengths() -> None:
    """Variable-length batching"""
    rng = np.random.default_rng(SEED)
    lengths = np.array([8, 5, 10, 3])
    q, k, v = random_qkv(rng, 4, 4, 10, 16)

    prefill = masked_attention(q, k, v, lengths)
    cache = KVCache(CacheConfig(batch_size=4, num_heads=4, head_dim=16, max_seq_len=16))
    cache.prefill(k, v, lengths)
    new_q, new_k, new_v = random_qkv(rng, 4, 4, 1, 16)
    cache.update(new_k, new_v)
    step = cached_attention(new_q, cache)

    for b, n in enumerate(lengths):
        one = slice(b, b + 1)
        alone = standard_attention(q[one, :, :n], k[one, :, :n], v[one, :, :n], causal=True)
        diff = max_diff(prefill[one, :, :n], alone)
        full_k = np.concatenate([k[one, :, :n], new_k[one]], axis=2)
        full_v = np.concatenate([v[one, :, :n], new_v[one]], axis=2)
        step_diff = max_diff(step[one], standard_attention(new_q[one], full_k, full_v))
        print(f"  sequence {b}, length {n:>2}: prefill {diff:.2e}, next step {step_diff:.2e}")
        assert diff < 1e-8 and step_diff < 1e-8
    print(f"  lengths after the step: {cache.seq_lens}")


def demo_5_paged_attention() -> None:
    """Paged attention (vLLM style, block_size=4)"""
    rng = np.random.default_rng(SEED)
    lengths = np.array([8, 5, 10])
    q, k, v = random_qkv(rng, 3, 2, 10, 8)
    paged = PagedKVCache(num_pages=24, block_size=4, num_heads=2, head_dim=8, batch_size=3)
    flat = KVCache(CacheConfig(batch_size=3, num_heads=2, head_dim=8, max_seq_len=16))
    paged.prefill(k, v, lengths)
    flat.prefill(k, v, lengths)

    diff = max_diff(cached_attention(q[:, :, :1], paged), cached_attention(q[:, :, :1], flat))
    for b in range(3):
        table = np.stack(paged.page_tables[b], axis=1).tolist()
        print(f"  sequence {b}, length {lengths[b]:>2}: page table per head {table}")
    stats = paged.stats()
    print(f"  free {stats.free_pages}/{stats.total_pages}, utilization {stats.utilization:.1%}")

    freed = paged.free(1)
    paged.append(1, k[1], v[1])
    assert np.array_equal(paged.get(1)[0], k[1]) and np.array_equal(paged.get(0)[0], k[0, :, :8])
    print(f"  freed {freed} pages and reused them; paged vs contiguous: {diff:.2e}")
    assert diff < 1e-8


def demo_6_quantized_cache() -> None:
    """Quantized cache (int8)"""
    rng = np.random.default_rng(SEED)
    k, v = rng.standard_normal((2, 1, 4, 64, 32)).astype(np.float32)
    cache = QuantizedKVCache(CacheConfig(batch_size=1, num_heads=4, head_dim=32, max_seq_len=64))
    cache.prefill(k[:, :, :48], v[:, :, :48])
    for t in range(48, 64):
        cache.update(k[:, :, t:t + 1], v[:, :, t:t + 1])

    keys, _ = cache.get_all()
    prefill_error = max_diff(keys[:, :, :48], k[:, :, :48])
    decode_error = max_diff(keys[:, :, 48:], k[:, :, 48:])
    half_step = float(cache.k.scale[:, :, :48].max()) / 2
    print(f"  key error: prefill {prefill_error:.4f} (half a step: {half_step:.4f}), "
          f"decode {decode_error:.4f}")
    report = cache.memory_report()
    print(f"  codes {report['code_bytes']:,} B + scales and zeros {report['metadata_bytes']:,} B "
          f"= {report['bytes_per_element']:.0f} bytes per element")
    print(f"  savings vs fp32: {report['savings_vs_fp32']:+.0f}%, "
          f"vs fp16: {report['savings_vs_fp16']:+.0f}%")
    print("  NOTE: a scale and a zero per position cost more than int8 saves. Production")
    print("  systems share them per channel: "
          f"{report['shared_savings_vs_fp32']:+.0f}% vs fp32 at this length.")
    assert prefill_error <= half_step * 1.001


def demo_7_chunked_prefill() -> None:
    """Chunked prefill"""
    rng = np.random.default_rng(SEED)
    q, k, v = random_qkv(rng, 1, 4, 50, 32)
    reference = float64_reference(q, k, v)
    for chunk_size in (1, 8, 16, 50):
        cache = KVCache(CacheConfig(batch_size=1, num_heads=4, head_dim=32, max_seq_len=64))
        chunked = ChunkedPrefill(chunk_size)
        diff = max_diff(chunked.run(q, k, v, cache), reference)
        print(f"  chunk {chunk_size:>2}: max diff from full attention {diff:.2e}, "
              f"peak scores {chunked.peak_scores:>4} of {50 * 50}")
        assert diff < 1e-8 and np.array_equal(cache.get_all()[0], k)


def demo_8_optimization_comparison() -> None:
    """Optimization comparison (5 strategies)"""
    rng = np.random.default_rng(SEED)
    batch, heads, tokens, dim, max_len = 2, 4, 64, 32, 128
    q, k, v = rng.standard_normal((3, batch, heads, tokens, dim)).astype(np.float32)
    config = CacheConfig(batch, heads, dim, max_len)
    pages = dict(num_pages=256, block_size=16, num_heads=heads, head_dim=dim, batch_size=batch)
    strategies = [
        ("contiguous fp32", KVCache(config), tokens),
        ("paged", PagedKVCache(**pages), tokens),
        ("quantized int8", QuantizedKVCache(config), tokens),
        ("chunked prefill", KVCache(config), 16),
        ("hybrid paged+int8", HybridKVCache(**pages), tokens),
    ]
    reference = float64_reference(q, k, v)
    print(f"  {'strategy':<18} {'KV bytes':>9} {'vs fp32':>8} {'peak scores':>12} {'max error':>10}")
    for name, cache, chunk_size in strategies:
        prefill = ChunkedPrefill(chunk_size)
        error = max_diff(prefill.run(q, k, v, cache), reference)
        held = cache.used_bytes if isinstance(cache, PagedKVCache) else cache.allocated_bytes
        saving = 100.0 * (1.0 - held / config.total_bytes)
        print(f"  {name:<18} {held:>9,} {saving:>+7.0f}% {prefill.peak_scores:>12,} {error:>10.1e}")
        assert error < (0.05 if "int8" in name else 1e-5)


def demo_9_memory_growth() -> None:
    """Memory growth analysis"""
    llama, h100 = mem.get_model("Llama-2-7B"), mem.get_gpu("H100")
    mem.print_growth_table(llama, [512, 1024, 4096, 16384, 65536])
    mem.print_model_table()
    mem.print_max_context_table()
    tokens = mem.find_max_context(llama, h100)
    print(f"  max context of {llama.name} on {h100.name}: {tokens // 1000}K tokens")
    assert 121_000 <= tokens < 122_000 and len(mem.MODELS) == 6


def demo_10_tensor_cores() -> None:
    """GPU Tensor Core arithmetic intensity"""
    for device in gpu.TENSOR_CORE_GPUS:
        decode = gpu.roofline(gpu.decode_cost(4096, 32, 32, 128), device)
        prefill = gpu.roofline(gpu.prefill_cost(4096, 32, 32, 128), device)
        print(f"  {device.name:<10} ridge {device.ridge:>4.0f} FLOP/byte: "
              f"decode {decode['intensity']:.1f} ({decode['bound']}), "
              f"prefill {prefill['intensity']:.0f} ({prefill['bound']})")
        assert decode["bound"] == "memory" and prefill["bound"] == "compute"
    gpu.print_intensity_table()


DEMOS: List[Callable[[], None]] = [
    demo_1_basic_operations, demo_2_cached_attention, demo_3_transformer_generation,
    demo_4_variable_lengths, demo_5_paged_attention, demo_6_quantized_cache,
    demo_7_chunked_prefill, demo_8_optimization_comparison, demo_9_memory_growth,
    demo_10_tensor_cores,
]


def main() -> None:
    """Run the demos named on the command line, or all of them."""
    chosen = [int(arg) for arg in sys.argv[1:]] or list(range(1, len(DEMOS) + 1))
    start = time.perf_counter()
    for number in chosen:
        demo = DEMOS[number - 1]
        print(f"\n=== Demo {number}: {demo.__doc__} ===")
        demo()
        print("  PASS")
    print(f"\n{len(chosen)} demos passed in {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
