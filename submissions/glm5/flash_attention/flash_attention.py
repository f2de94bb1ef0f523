"""
Tiled flash attention (forward pass) in NumPy with an online softmax.

The full (N, N) score matrix is never materialized. For every query tile we
stream over the key/value tiles and keep three running quantities per query row:

    m : running maximum of the scores seen so far          (T,)
    l : running sum of exp(score - m)                      (T,)
    O : running sum of exp(score - m) * V, unnormalized    (T, D)

After the last KV tile the output is O / l.

Extra memory per query tile is O(T * D + T * T): one score tile, one probability
tile and the accumulators. It does not depend on N. All arithmetic is float64.
"""

import time
import tracemalloc

import numpy as np


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    """
    Flash attention forward pass.

    Args:
        Q, K, V:   arrays of shape (B, H, N, D)
        tile_size: number of query rows / key rows per tile
        causal:    if True, query i may only attend to keys j <= i

    Returns:
        O: attention output of shape (B, H, N, D), float64
    """
    B, H, N, D = Q.shape
    scale = 1.0 / np.sqrt(D)
    O = np.zeros((B, H, N, D), dtype=np.float64)

    # One (b, h) pair at a time. On a GPU each (b, h, q_tile) triple would be
    # one thread block; the loop order here mirrors that decomposition.
    for b in range(B):
        for h in range(H):
            for q_start in range(0, N, tile_size):
                q_end = min(q_start + tile_size, N)
                O[b, h, q_start:q_end] = _attend_one_query_tile(
                    Q[b, h, q_start:q_end].astype(np.float64) * scale,
                    K[b, h],
                    V[b, h],
                    q_start,
                    q_end,
                    tile_size,
                    causal,
                )
    return O


def _attend_one_query_tile(Q_tile, K_bh, V_bh, q_start, q_end, tile_size, causal):
    """Online softmax of one (already scaled) query tile over all KV tiles."""
    N, D = K_bh.shape
    n_rows = q_end - q_start

    m_tile = np.full(n_rows, -np.inf)
    l_tile = np.zeros(n_rows)
    O_tile = np.zeros((n_rows, D))

    for k_start in range(0, N, tile_size):
        k_end = min(k_start + tile_size, N)

        # Causal skip: the first key of this tile lies after the last query of
        # the query tile, so every score would be masked. Nothing to compute.
        # This halves the number of score tiles as N / T grows.
        if causal and k_start > q_end - 1:
            continue

        K_tile = K_bh[k_start:k_end].astype(np.float64)
        V_tile = V_bh[k_start:k_end].astype(np.float64)

        S_tile = Q_tile @ K_tile.T  # (n_rows, n_keys)

        if causal and k_end - 1 > q_start:
            # Only tiles that straddle the diagonal need an element-wise mask.
            q_idx = np.arange(q_start, q_end)[:, None]
            k_idx = np.arange(k_start, k_end)[None, :]
            S_tile = np.where(k_idx <= q_idx, S_tile, -np.inf)

        m_new = np.maximum(m_tile, S_tile.max(axis=1))

        # A row that has not seen a single visible key yet has m_new == -inf.
        # For such a row S - m_new and m_tile - m_new are both -inf - (-inf),
        # which is NaN. The subtraction is allowed to happen and the affected
        # rows are replaced right below, before anything is accumulated.
        safe_mask = np.isfinite(m_new)

        with np.errstate(invalid="ignore"):
            # ---- The rescaling factor: exp(m_old - m_new) -------------------
            # What is stored is relative to the OLD maximum:
            #
            #     O_old = sum_j exp(s_j - m_old) * v_j
            #
            # What is needed is the same sum relative to the NEW maximum:
            #
            #     sum_j exp(s_j - m_new) * v_j
            #       = sum_j exp(s_j - m_old + m_old - m_new) * v_j
            #       = exp(m_old - m_new) * O_old
            #
            # so the factor is exp(m_old - m_new) and NOT exp(m_new - m_old).
            # Since m_new >= m_old it always lies in [0, 1]: old contributions
            # can only shrink, and nothing overflows. Concretely, with
            # m_old = 2 and m_new = 5 a key with s = 2 was stored with weight
            # exp(2 - 2) = 1 and must now weigh exp(2 - 5) = 0.0498:
            #
            #     1 * exp(2 - 5) = 0.0498    correct
            #     1 * exp(5 - 2) = 20.09     wrong, old keys get 400x too much
            #
            # On the first tile m_old = -inf, the factor is exp(-inf) = 0 and
            # the (empty) accumulators are multiplied by zero, as they should.
            correction = np.exp(m_tile - m_new)
            P_tile = np.exp(S_tile - m_new[:, None])

        P_tile = np.where(safe_mask[:, None], P_tile, 0.0)
        # Guarding P alone is not enough: a NaN factor would poison l and O
        # for good (NaN * 0 = NaN). Rows still empty keep their zeros.
        correction = np.where(safe_mask, correction, 1.0)

        l_tile = l_tile * correction + P_tile.sum(axis=1)
        O_tile = O_tile * correction[:, None] + P_tile @ V_tile
        m_tile = m_new

    # Normalize once at the end. Rows that never saw a visible key have l == 0;
    # their output is defined as 0 instead of 0 / 0.
    nonzero = l_tile > 0
    l_div = np.where(nonzero, l_tile, 1.0)
    return np.where(nonzero[:, None], O_tile / l_div[:, None], 0.0)


# ---------------------------------------------------------------------------
# Reference
# ---------------------------------------------------------------------------


def naive_attention(Q, K, V, causal=True):
    """Standard attention with the full (N, N) score matrix. Tests only."""
    N, D = Q.shape[-2:]
    S = (Q @ np.swapaxes(K, -1, -2)) / np.sqrt(D)
    if causal:
        mask = np.tril(np.ones((N, N), dtype=bool))
        S = np.where(mask, S, -np.inf)
    S = S - S.max(axis=-1, keepdims=True)
    P = np.exp(S)
    P /= P.sum(axis=-1, keepdims=True)
    return P @ V


# ---------------------------------------------------------------------------
# Tests
# ---------------------------------------------------------------------------


def test_accuracy():
    """Test 1: agrees with naive attention on a small causal problem."""
    rng = np.random.default_rng(42)
    B, H, N, D, T = 1, 1, 256, 64, 64
    Q = rng.standard_normal((B, H, N, D))
    K = rng.standard_normal((B, H, N, D))
    V = rng.standard_normal((B, H, N, D))

    out = flash_attention_fwd(Q, K, V, tile_size=T, causal=True)
    ref = naive_attention(Q, K, V, causal=True)

    rel_err = np.max(np.abs(out - ref)) / np.max(np.abs(ref))
    print(f"  max|out - ref| / max|ref| = {rel_err:.2e}")
    assert not np.any(np.isnan(out)), "NaN in output"
    assert rel_err < 1e-4, f"relative error too large: {rel_err}"


def test_memory():
    """
    Test 2: N=4096, D=64 runs without ever allocating an (N, N) matrix.

    Q, K and V are created before tracing starts, so the peak is the output plus
    whatever the algorithm allocates on top of it.
    """
    rng = np.random.default_rng(0)
    B, H, N, D, T = 2, 8, 4096, 64, 128
    Q = rng.standard_normal((B, H, N, D))
    K = rng.standard_normal((B, H, N, D))
    V = rng.standard_normal((B, H, N, D))

    tracemalloc.start()
    start = time.perf_counter()
    out = flash_attention_fwd(Q, K, V, tile_size=T, causal=True)
    elapsed = time.perf_counter() - start
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    # A single (b, h) slice of the naive score matrix, in float64.
    naive_bytes = N * N * 8
    print(f"  peak traced memory: {peak / 1e6:.2f} MB (output alone {out.nbytes / 1e6:.2f} MB)")
    print(f"  one naive (N, N) score matrix: {naive_bytes / 1e6:.2f} MB")
    print(f"  elapsed: {elapsed:.2f} s")
    assert np.all(np.isfinite(out)), "non-finite values in output"
    assert peak < naive_bytes / 2, "peak memory suggests a materialized score matrix"


if __name__ == "__main__":
    print("Test 1: accuracy (N=256, D=64, tile=64, causal)")
    test_accuracy()
    print("  PASS")
    print("Test 2: memory (B=2, H=8, N=4096, D=64, tile=128, causal)")
    test_memory()
    print("  PASS")
    print("All tests passed.")
