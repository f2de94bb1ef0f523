"""
Flash attention forward pass with tiling and online softmax, in pure NumPy.

All batches and heads are processed at once: the only Python loops run over
query tiles and key/value tiles. Scores exist one (T, T) tile per (batch, head)
at a time, so the (N, N) attention matrix is never built.

Algorithm, for each query tile i:

    m   = -inf      running row maximum
    l   = 0         running softmax denominator
    acc = 0         running sum of exp(s - m) * v

    for each KV tile j (skipped if causal and entirely in the future):
        S          = Q_i K_j^T / sqrt(D)
        m_new      = max(m, rowmax(S))
        correction = exp(m - m_new)
        P          = exp(S - m_new)
        l          = l * correction + rowsum(P)
        acc        = acc * correction + P V_j
        m          = m_new

    O_i = acc / l

Run this file to execute the tests.
"""

import time
import tracemalloc

import numpy as np


# ---------------------------------------------------------------------------
# Tiled forward pass
# ---------------------------------------------------------------------------


def _split_into_tiles(X, tile_size):
    """Split (B, H, N, D) along N into contiguous tiles; the last may be short."""
    N = X.shape[2]
    return [
        np.array(X[:, :, start:start + tile_size, :], dtype=np.float32, order="C")
        for start in range(0, N, tile_size)
    ]


def _check_inputs(Q, K, V, tile_size):
    """Fail early with a readable message instead of deep inside an einsum."""
    if Q.ndim != 4:
        raise ValueError(f"expected (B, H, N, D) inputs, got shape {Q.shape}")
    if Q.shape != K.shape or Q.shape != V.shape:
        raise ValueError(f"shape mismatch: Q {Q.shape}, K {K.shape}, V {V.shape}")
    if tile_size < 1:
        raise ValueError(f"tile_size must be positive, got {tile_size}")


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    """
    Tiled attention: softmax(Q K^T / sqrt(D)) V without the (N, N) matrix.

    Args:
        Q: queries, (B, H, N, D)
        K: keys,    (B, H, N, D)
        V: values,  (B, H, N, D)
        tile_size: rows per query tile and per key/value tile. N does not have
            to be a multiple of it.
        causal: mask out keys j > i for query i.

    Returns:
        O: (B, H, N, D), float32
    """
    _check_inputs(Q, K, V, tile_size)
    B, H, N, D = Q.shape
    scale = np.float32(1.0 / np.sqrt(D))

    # Tiling is separated from the computation: cut everything once up front.
    Q_tiles = _split_into_tiles(Q, tile_size)
    K_tiles = _split_into_tiles(K, tile_size)
    V_tiles = _split_into_tiles(V, tile_size)
    num_tiles = len(Q_tiles)

    O = np.zeros((B, H, N, D), dtype=np.float32)

    for i in range(num_tiles):
        Q_i = Q_tiles[i]
        q_start = i * tile_size
        q_end = q_start + Q_i.shape[2]
        q_len = q_end - q_start

        # Running statistics for this query tile.
        m = np.full((B, H, q_len), -np.inf, dtype=np.float32)   # running max
        l = np.zeros((B, H, q_len), dtype=np.float32)           # running denominator
        acc = np.zeros((B, H, q_len, D), dtype=np.float32)      # unnormalized output

        for j in range(num_tiles):
            K_j = K_tiles[j]
            V_j = V_tiles[j]
            k_start = j * tile_size
            k_end = k_start + K_j.shape[2]

            # Causal skip: the whole KV tile lies strictly above the diagonal.
            if causal and k_start > q_end - 1:
                continue

            # Scores for all (batch, head) pairs at once: (B, H, q_len, k_len)
            S = np.einsum("bhqd,bhkd->bhqk", Q_i, K_j, optimize=True) * scale

            if causal and k_end - 1 > q_start:
                q_pos = np.arange(q_start, q_end)
                k_pos = np.arange(k_start, k_end)
                future = k_pos[np.newaxis, :] > q_pos[:, np.newaxis]
                S = np.where(future, np.float32(-np.inf), S)

            # A row with no visible key in this tile has row_max == -inf. If it
            # saw nothing earlier either, m_new is -inf too and S - m_new would
            # be -inf - (-inf) = NaN, so such rows must not contribute.
            row_max = np.max(S, axis=-1)
            row_valid = row_max > -np.inf
            m_new = np.maximum(m, row_max)

            with np.errstate(invalid="ignore"):
                # acc and l are relative to the old max m. Moving them to m_new
                # takes exp(m - m_new) (old minus new, always <= 1). The inverse
                # would inflate old contributions every time the max rises.
                # Invalid rows get exp(0) = 1: their accumulators stay as is.
                correction = np.exp(np.where(row_valid, m - m_new, 0.0))
                P = np.exp(S - m_new[:, :, :, np.newaxis])
            P = np.where(row_valid[:, :, :, np.newaxis], P, 0.0)

            l = l * correction + np.sum(P, axis=-1)
            acc = acc * correction[:, :, :, np.newaxis]
            acc += np.einsum("bhqk,bhkd->bhqd", P, V_j, optimize=True)
            m = m_new

        # Rows that never saw a key have l == 0 and acc == 0; dividing by one
        # leaves them at zero.
        l_safe = np.where(l > 0, l, 1.0)
        O[:, :, q_start:q_end, :] = acc / l_safe[:, :, :, np.newaxis]

    return O


# ---------------------------------------------------------------------------
# Reference implementation
# ---------------------------------------------------------------------------


def naive_attention(Q, K, V, causal=True):
    """Full-matrix softmax attention in float64, used as ground truth."""
    Q, K, V = (X.astype(np.float64) for X in (Q, K, V))
    N, D = Q.shape[2], Q.shape[3]
    S = np.einsum("bhqd,bhkd->bhqk", Q, K, optimize=True) / np.sqrt(D)
    if causal:
        future = np.triu(np.ones((N, N), dtype=bool), k=1)
        S = np.where(future, -np.inf, S)
    S -= S.max(axis=-1, keepdims=True)
    P = np.exp(S)
    P /= P.sum(axis=-1, keepdims=True)
    return np.einsum("bhqk,bhkd->bhqd", P, V, optimize=True)


def relative_error(out, ref):
    """Frobenius-norm relative error."""
    return np.linalg.norm(out - ref) / np.linalg.norm(ref)


def make_qkv(B, H, N, D, seed):
    """Random float32 Q, K, V of shape (B, H, N, D)."""
    rng = np.random.default_rng(seed)
    shape = (B, H, N, D)
    return tuple(rng.standard_normal(shape, dtype=np.float32) for _ in range(3))


# ---------------------------------------------------------------------------
# Tests
# ---------------------------------------------------------------------------


def test_1_accuracy_causal():
    """
    Test 1: Causal accuracy on a small problem.

    B=1, H=1, N=256, D=64, tile_size=64 against naive attention.
    Threshold: relative error < 1e-4.
    """
    Q, K, V = make_qkv(B=1, H=1, N=256, D=64, seed=0)

    out = flash_attention_fwd(Q, K, V, tile_size=64, causal=True)
    ref = naive_attention(Q, K, V, causal=True)

    err = relative_error(out, ref)
    print(f"  relative error: {err:.2e}")
    assert out.shape == ref.shape
    assert np.all(np.isfinite(out)), "non-finite output"
    assert err < 1e-4, f"relative error {err:.2e} >= 1e-4"


def test_2_memory():
    """
    Test 2: Memory on a long sequence.

    N=4096, D=64. One naive float32 score matrix is 64 MiB per head. The traced
    peak includes the output and the copied tiles, but not Q, K and V.
    """
    B, H, N, D = 1, 6, 4096, 64
    tile_size = 128
    MB = 1e6
    Q, K, V = make_qkv(B, H, N, D, seed=1)

    tracemalloc.start()
    start = time.perf_counter()
    out = flash_attention_fwd(Q, K, V, tile_size=tile_size, causal=True)
    elapsed = time.perf_counter() - start
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    naive = N * N * 4
    print(f"  peak memory:        {peak / MB:.1f} MB")
    print(f"  naive score matrix: {naive / MB:.1f} MB per head, {H * naive / MB:.1f} MB in total")
    print(f"  elapsed:            {elapsed:.2f} s")
    assert np.all(np.isfinite(out)), "non-finite output"
    assert peak < naive, f"peak {peak / MB:.1f} MB is not below one score matrix"


def test_3_accuracy_non_causal():
    """
    Test 3: Non-causal accuracy.

    Without the mask every tile is visited by every query tile, so the running
    maximum is updated num_tiles times for every row.
    """
    Q, K, V = make_qkv(B=1, H=2, N=256, D=64, seed=2)

    out = flash_attention_fwd(Q, K, V, tile_size=64, causal=False)
    ref = naive_attention(Q, K, V, causal=False)

    err = relative_error(out, ref)
    print(f"  relative error: {err:.2e}")
    assert np.all(np.isfinite(out)), "non-finite output"
    assert err < 1e-4, f"relative error {err:.2e} >= 1e-4"


def test_4_larger_batch():
    """
    Test 4: Several batches and heads.

    B=2, H=8: the error is checked for each (batch, head) slice on its own, so
    that one mixed-up head cannot hide behind the others.
    """
    B, H = 2, 8
    Q, K, V = make_qkv(B, H, N=256, D=64, seed=3)

    out = flash_attention_fwd(Q, K, V, tile_size=64, causal=True)
    ref = naive_attention(Q, K, V, causal=True)

    worst = max(
        relative_error(out[b, h], ref[b, h]) for b in range(B) for h in range(H)
    )
    print(f"  worst relative error over {B * H} heads: {worst:.2e}")
    assert np.all(np.isfinite(out)), "non-finite output"
    assert worst < 1e-4, f"relative error {worst:.2e} >= 1e-4"


def test_5_uneven_tiles():
    """
    Test 5: N is not divisible by tile_size.

    N=300, tile_size=97 gives tiles of 97, 97, 97 and 9 rows. Catches off-by-one
    errors at tile boundaries, both with and without the causal mask.
    """
    Q, K, V = make_qkv(B=1, H=2, N=300, D=64, seed=4)

    for causal in (True, False):
        out = flash_attention_fwd(Q, K, V, tile_size=97, causal=causal)
        ref = naive_attention(Q, K, V, causal=causal)
        err = relative_error(out, ref)
        print(f"  causal={causal!s:5}  relative error: {err:.2e}")
        assert np.all(np.isfinite(out)), "non-finite output"
        assert err < 1e-4, f"relative error {err:.2e} >= 1e-4"


TESTS = [
    ("Test 1: accuracy, causal (N=256, D=64, tile=64)", test_1_accuracy_causal),
    ("Test 2: memory (N=4096, D=64, tile=128)", test_2_memory),
    ("Test 3: accuracy, non-causal", test_3_accuracy_non_causal),
    ("Test 4: larger batch (B=2, H=8)", test_4_larger_batch),
    ("Test 5: uneven tiles (N=300, tile=97)", test_5_uneven_tiles),
]


def main():
    for title, test in TESTS:
        print(title)
        test()
        print("  PASS")
    print(f"\nAll {len(TESTS)} tests passed.")


if __name__ == "__main__":
    main()
