"""
Tiled Flash Attention Forward Pass (NumPy)
==========================================

Implements the forward pass of Flash Attention with:
  1. Tiling over the query dimension and over the key/value dimension
  2. Online softmax with running max (m) and running sum (l)
  3. Causal masking with skipping of fully masked KV tiles
  4. No materialization of the full (N, N) attention matrix

Tensor layout: (B, H, N, D) = (batch, heads, sequence, head_dim)
"""

import numpy as np


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    """
    Tiled flash attention forward pass with online softmax.

    Args:
        Q: Query tensor of shape (B, H, N, D)
        K: Key tensor of shape (B, H, N, D)
        V: Value tensor of shape (B, H, N, D)
        tile_size: Number of rows per query tile and per key/value tile
        causal: Whether to apply a causal mask

    Returns:
        O: Attention output of shape (B, H, N, D)

    The online softmax and its rescaling factor
    -------------------------------------------
    For every query row we keep a running maximum m, a running denominator l
    and an unnormalized output O. When a new KV tile arrives the maximum may
    change from m_old to m_new = max(m_old, max(S)), and everything that was
    accumulated with m_old has to be rescaled to m_new.

    Which direction does the rescaling go? Let's think about it.

    The maximum went up, from m_old to m_new. So the accumulated values have to
    go up as well to catch up with the new maximum, which gives the ratio of
    new to old:

        O_new = O_old * exp(m_new - m_old) + P @ V
        l_new = l_old * exp(m_new - m_old) + sum(P)

    So the correction factor is exp(m_new - m_old).

    Hmm wait. Let's check this with numbers. Say m_old = 1 and m_new = 3. Then
    exp(m_new - m_old) = exp(2) = 7.39, so the old values get bigger each time
    the maximum grows. After many tiles this would grow without bound, which is
    what subtracting the maximum was supposed to prevent...

        O_new = O_old * exp(m_new - m_old)  # This is WRONG! Unless...

    Unless O_old is stored in normalized form (divided by l_old)? Then it would
    be O_new = (l_old * O_old * exp(m_new - m_old) + P @ V) / l_new. But no, the
    exponential is still the same one, the normalization does not flip its
    sign. And we store the unnormalized O anyway. So that's not it.

    Unless the new tile is the one that must be rescaled? We could leave O_old
    alone and multiply P by exp(m_new - m_old) instead. Then P would be
    exp(S - m_new) * exp(m_new - m_old) = exp(S - m_old), so we'd be using the
    old maximum for everything, and there would be no point in tracking m.
    So no.

    Actually, maybe both directions work, because the factor appears in both O
    and l, and O / l cancels it? Multiply both by c: (c*O) / (c*l) = O / l. So
    the correction wouldn't matter at all!

    No wait, that only holds if c multiplies *everything*. It multiplies the
    old part, but the new part P @ V is added without c. So it does matter how
    the old part is weighted against the new part.

    OK let's go back to the definitions. The old accumulator is

        O_old = sum_j exp(S_j - m_old) * V_j

    and we want

        O_want = sum_j exp(S_j - m_new) * V_j

    What do we have to multiply by? Look at a single term:

        exp(S_j - m_new) / exp(S_j - m_old)
            = exp(S_j - m_new - S_j + m_old)
            = exp(m_old - m_new)

    So the factor is exp(m_old - m_new)! That's the other direction from what is
    written above. Check with m_old = 1, m_new = 3: exp(-2) = 0.135, the old
    values shrink. This makes sense: relative to a larger maximum, the old terms
    are smaller. And since m_new >= m_old the factor is always <= 1.

    So the FINAL answer is:

        correction = exp(m_old - m_new)        (<= 1)
        l = l * correction + sum(exp(S - m_new))
        O = O * correction + exp(S - m_new) @ V

    What about m_old = -inf (nothing seen yet)? If m_new is finite then
    exp(-inf) = 0 and O_old = 0, fine. If m_new is also -inf (all scores in the
    tile are masked) then -inf - (-inf) = NaN, so this case has to be excluded
    with a mask: no correction (factor 1) and no contribution (P = 0).
    """
    B, H, N, D = Q.shape
    scale = 1.0 / np.sqrt(D)
    O = np.zeros((B, H, N, D), dtype=np.float64)

    for b in range(B):
        for h in range(H):
            for q_tile_start in range(0, N, tile_size):
                q_tile_end = min(q_tile_start + tile_size, N)
                Q_tile = Q[b, h, q_tile_start:q_tile_end].astype(np.float64)

                # Running statistics for this query tile
                m = np.full(q_tile_end - q_tile_start, -np.inf)
                l = np.zeros(q_tile_end - q_tile_start)
                acc = np.zeros((q_tile_end - q_tile_start, D))

                for kv_tile_start in range(0, N, tile_size):
                    # Causal: all keys of this tile are in the future
                    if causal:
                        if kv_tile_start >= q_tile_end: continue

                    kv_tile_end = min(kv_tile_start + tile_size, N)
                    S = _tile_scores(Q_tile, K[b, h], q_tile_start, q_tile_end,
                                     kv_tile_start, kv_tile_end, scale, causal)
                    V_tile = V[b, h, kv_tile_start:kv_tile_end]
                    m, l, acc = _online_softmax_update(S, V_tile, m, l, acc)

                # Final normalization; l == 0 means all KV tiles were masked
                l_is_zero = l == 0
                l_safe = np.where(l_is_zero, 1.0, l)
                O[b, h, q_tile_start:q_tile_end] = acc / l_safe[:, None]
    return O


def _tile_scores(Q_tile, K_head, q_tile_start, q_tile_end,
                 kv_tile_start, kv_tile_end, scale, causal):
    """Scaled (and masked) scores for one (query tile, KV tile) pair."""
    K_tile = K_head[kv_tile_start:kv_tile_end].astype(np.float64)
    S = np.matmul(Q_tile, K_tile.T) * scale

    if causal:
        q_positions = np.arange(q_tile_start, q_tile_end)
        k_positions = np.arange(kv_tile_start, kv_tile_end)
        causal_mask = k_positions[None, :] > q_positions[:, None]
        S[causal_mask] = -np.inf

    return S


def _online_softmax_update(S, V_tile, m, l, acc):
    """
    One step of the online softmax recurrence.

    Args:
        S: Scores of the current tile, shape (q_len, kv_len)
        V_tile: Values of the current tile, shape (kv_len, D)
        m, l, acc: Running max, running sum and unnormalized output

    Returns:
        Updated (m, l, acc)
    """
    # Step 1: new running maximum
    row_max = np.max(S, axis=1, keepdims=True)
    m_new = np.maximum(m[:, None], row_max)
    m_new_flat = m_new.reshape(-1)

    # Step 2: find the rows where the correction is well defined
    m_old_is_neg_inf = m == -np.inf
    m_new_is_neg_inf = m_new_flat == -np.inf
    need_correction = ~(m_old_is_neg_inf & m_new_is_neg_inf)

    # Step 3: correction = exp(m_old - m_new), 1 where nothing was seen yet
    correction = np.ones_like(m)
    valid_corr_mask = need_correction
    correction[valid_corr_mask] = np.exp(m[valid_corr_mask] - m_new_flat[valid_corr_mask])

    # Step 4: exp(S - m_new), row by row so that rows with m_new = -inf
    # keep their zeros instead of producing NaN
    exp_S_minus_m_new = np.zeros_like(S)
    for i in range(S.shape[0]):
        if not np.isinf(m_new_flat[i]):
            exp_S_minus_m_new[i] = np.exp(S[i] - m_new_flat[i])

    # Step 5: update the running sum and the output accumulator
    l_new = l * correction + np.sum(exp_S_minus_m_new, axis=1)
    acc_new = acc * correction[:, None] + np.matmul(exp_S_minus_m_new, V_tile)

    return m_new_flat, l_new, acc_new


def naive_attention(Q, K, V, causal=True):
    """
    Reference implementation that materializes the full attention matrix.

    Args:
        Q, K, V: Tensors of shape (B, H, N, D)
        causal: Whether to apply a causal mask

    Returns:
        Output tensor of shape (B, H, N, D)
    """
    B, H, N, D = Q.shape
    scale = 1.0 / np.sqrt(D)
    output = np.zeros((B, H, N, D), dtype=np.float64)

    for b in range(B):
        for h in range(H):
            scores = np.matmul(Q[b, h], K[b, h].T) * scale
            if causal:
                mask = np.triu(np.ones((N, N), dtype=bool), k=1)
                scores[mask] = -np.inf

            scores_max = np.max(scores, axis=-1, keepdims=True)
            exp_scores = np.exp(scores - scores_max)
            weights = exp_scores / np.sum(exp_scores, axis=-1, keepdims=True)
            output[b, h] = np.matmul(weights, V[b, h])

    return output


def max_relative_error(actual, expected):
    """Maximum element-wise relative error."""
    return np.max(np.abs(actual - expected) / (np.abs(expected) + 1e-12))


# =============================================================================
# TESTS
# =============================================================================


def test_correctness_small():
    """
    Test 1: Compare against naive attention on a small problem.

    Configuration: B=1, H=1, N=256, D=64, tile_size=64, causal=True
    """
    print("=" * 70)
    print("TEST 1: Correctness vs naive attention")
    print("=" * 70)

    np.random.seed(42)
    B, H, N, D = 1, 1, 256, 64
    tile_size = 64

    Q = np.random.randn(B, H, N, D)
    K = np.random.randn(B, H, N, D)
    V = np.random.randn(B, H, N, D)

    print(f"  Shape: B={B}, H={H}, N={N}, D={D}")
    print(f"  Tile size: {tile_size}")

    O_flash = flash_attention_fwd(Q, K, V, tile_size, causal=True)
    O_naive = naive_attention(Q, K, V, causal=True)

    abs_error = np.max(np.abs(O_flash - O_naive))
    rel_error = max_relative_error(O_flash, O_naive)

    print(f"  Max absolute error: {abs_error:.2e}")
    print(f"  Max relative error: {rel_error:.2e}")

    assert not np.any(np.isnan(O_flash)), "Output contains NaN!"
    assert rel_error < 1e-4, f"Relative error {rel_error:.2e} exceeds 1e-4"
    print("  PASSED")
    print()


def test_large_memory():
    """
    Test 2: Large sequence, N=4096, D=64.

    Runs the tiled forward pass on a problem where the naive attention matrix
    would be 128 MB per head and prints a memory analysis.
    """
    print("=" * 70)
    print("TEST 2: Large sequence and memory analysis")
    print("=" * 70)

    np.random.seed(123)
    B, H, N, D = 2, 8, 4096, 64
    tile_size = 128
    bytes_per_element = 8  # float64
    MB = 1024 * 1024

    Q = np.random.randn(B, H, N, D)
    K = np.random.randn(B, H, N, D)
    V = np.random.randn(B, H, N, D)

    print(f"  Shape: B={B}, H={H}, N={N}, D={D}")
    print(f"  Tile size: {tile_size}")
    print("  Running tiled flash attention...")

    O = flash_attention_fwd(Q, K, V, tile_size, causal=True)

    # Memory of the naive approach: one (N, N) matrix
    naive_matrix = N * N * bytes_per_element

    # Memory of the tiled approach
    output_bytes = B * H * N * D * bytes_per_element
    tile_elements = {
        "Q, K, V tiles": 3 * tile_size * D,
        "score tile S": tile_size * tile_size,
        "exp(S - m_new)": tile_size * tile_size,
        "output accumulator": tile_size * D,
        "P @ V": tile_size * D,
        "m, l, m_new, correction, row max, row sum": 6 * tile_size,
        "query and key positions": 2 * tile_size,
    }
    working_bytes = sum(tile_elements.values()) * bytes_per_element
    working_bytes += tile_size * tile_size  # boolean causal mask, 1 byte each
    total_bytes = output_bytes + working_bytes

    print()
    print("  Memory analysis:")
    print(f"    Naive (N, N) matrix (one head): {naive_matrix / MB:.2f} MB")
    print(f"    Output tensor:                  {output_bytes / MB:.2f} MB")
    for name, elements in tile_elements.items():
        print(f"      {name}: {elements * bytes_per_element / 1024:.1f} KB")
    print(f"    Working set per tile:           {working_bytes / MB:.2f} MB")
    print(f"    Peak memory (tiled):            {total_bytes / MB:.2f} MB")
    print(f"    Reduction per head:             {naive_matrix / total_bytes:.1f}x")
    print()

    assert O.shape == (B, H, N, D), f"Wrong output shape: {O.shape}"
    assert np.all(np.isfinite(O)), "Output contains NaN or Inf!"
    print("  PASSED")
    print()


def test_correctness_medium():
    """
    Test 3: Additional correctness verification on N=512.

    More tiles than Test 1, so the running maximum is updated more often and an
    error in the rescaling would be more visible.
    """
    print("=" * 70)
    print("TEST 3: Additional correctness verification (N=512)")
    print("=" * 70)

    np.random.seed(7)
    B, H, N, D = 1, 2, 512, 64
    tile_size = 64

    Q = np.random.randn(B, H, N, D)
    K = np.random.randn(B, H, N, D)
    V = np.random.randn(B, H, N, D)

    O_flash = flash_attention_fwd(Q, K, V, tile_size, causal=True)
    O_naive = naive_attention(Q, K, V, causal=True)

    abs_error = np.max(np.abs(O_flash - O_naive))
    rel_error = max_relative_error(O_flash, O_naive)

    print(f"  Shape: B={B}, H={H}, N={N}, D={D}")
    print(f"  KV tiles per row: {N // tile_size}")
    print(f"  Max absolute error: {abs_error:.2e}")
    print(f"  Max relative error: {rel_error:.2e}")

    assert not np.any(np.isnan(O_flash)), "Output contains NaN!"
    assert rel_error < 1e-4, f"Relative error {rel_error:.2e} exceeds 1e-4"
    print("  PASSED")
    print()


def main():
    print()
    print("Flash Attention Forward Pass - Test Suite")
    print()

    test_correctness_small()
    test_large_memory()
    test_correctness_medium()

    print("=" * 70)
    print("ALL TESTS PASSED")
    print("=" * 70)


if __name__ == "__main__":
    main()
