"""
Flash attention with a memory-efficient backward pass, in pure NumPy.

Forward, per (batch, head):

    for each Q tile i:
        for each KV tile j (skipped if causal and entirely in the future):
            S          = Q_i K_j^T / sqrt(D)
            m_new      = max(m_i, rowmax(S))
            correction = exp(m_i - m_new)
            P          = exp(S - m_new)
            l_i        = l_i * correction + rowsum(P)
            O_i        = O_i * correction + P V_j
    O = O / l
    L = m + log(l)

Only L (one number per row) is kept for the backward pass, never P or S.

Backward, per (batch, head):

    for each Q tile i:
        pass 1:  rowsum_i  = sum over ALL KV tiles j of rowsum(P_ij * dP_ij)
        pass 2:  dS_ij     = P_ij * (dP_ij - rowsum_i)
                 dV_j     += P_ij^T dO_i
                 dQ_i     += dS_ij K_j / sqrt(D)
                 dK_j     += dS_ij^T Q_i / sqrt(D)

with P_ij = exp(S_ij - L_i) and dP_ij = dO_i V_j^T recomputed tile by tile.

Everything is computed in the dtype of Q. Run this file to execute the tests.
"""

import math
import time
import tracemalloc

import numpy as np


# ---------------------------------------------------------------------------
# Tiling
# ---------------------------------------------------------------------------


def _tile_ranges(N, tile_size):
    """[(start, end), ...] covering 0..N; the last tile may be shorter."""
    return [(s, min(s + tile_size, N)) for s in range(0, N, tile_size)]


def _valid_mask(q_start, q_end, kv_start, kv_end, causal):
    """(Tq, Tk) boolean mask of the key positions that each query may see."""
    if not causal:
        return np.ones((q_end - q_start, kv_end - kv_start), dtype=bool)
    q_pos = np.arange(q_start, q_end)[:, None]
    kv_pos = np.arange(kv_start, kv_end)[None, :]
    return kv_pos <= q_pos


# ---------------------------------------------------------------------------
# Forward
# ---------------------------------------------------------------------------


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    """
    Tiled attention with an online softmax.

    Args:
        Q, K, V: (B, H, N, D)
        tile_size: rows per Q tile and per KV tile. N does not have to be a
            multiple of it.
        causal: mask out keys j > i for query i.

    Returns:
        O: (B, H, N, D)
        cache: dict with "O", "L", "Q", "K", "V"; L has shape (B, H, N)
    """
    B, H, N, D = Q.shape
    scale = 1.0 / math.sqrt(D)
    dtype = Q.dtype
    tiles = _tile_ranges(N, tile_size)

    O = np.zeros((B, H, N, D), dtype=dtype)
    L = np.zeros((B, H, N), dtype=dtype)

    for b in range(B):
        for h in range(H):
            # Running statistics for every row of this head.
            m = np.full(N, -np.inf, dtype=dtype)
            l = np.zeros(N, dtype=dtype)
            O_bh = np.zeros((N, D), dtype=dtype)

            for q_start, q_end in tiles:
                Q_tile = Q[b, h, q_start:q_end]

                for kv_start, kv_end in tiles:
                    if causal and kv_start > q_end - 1:
                        continue

                    S = (Q_tile @ K[b, h, kv_start:kv_end].T) * scale
                    mask = _valid_mask(q_start, q_end, kv_start, kv_end, causal)
                    S = np.where(mask, S, -np.inf)

                    m_old = m[q_start:q_end]
                    m_new = np.maximum(m_old, S.max(axis=1))

                    # Rows that have not seen any key yet have m_new == -inf,
                    # for them both differences below are -inf - (-inf). They
                    # keep their accumulators (factor 1) and add nothing.
                    valid = m_new > -np.inf
                    with np.errstate(invalid="ignore"):
                        correction = np.where(valid, np.exp(m_old - m_new), 1.0)
                        P = np.where(valid[:, None], np.exp(S - m_new[:, None]), 0.0)

                    l[q_start:q_end] = l[q_start:q_end] * correction + P.sum(axis=1)
                    O_bh[q_start:q_end] *= correction[:, None]
                    O_bh[q_start:q_end] += P @ V[b, h, kv_start:kv_end]
                    m[q_start:q_end] = m_new

            # Normalize all rows of the head at once.
            O[b, h] = O_bh / l[:, None]
            L[b, h] = m + np.log(l)

    return O, {"O": O, "L": L, "Q": Q, "K": K, "V": V}


# ---------------------------------------------------------------------------
# Backward
# ---------------------------------------------------------------------------


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    """
    Gradients of tiled attention, with P recomputed from L.

    Args:
        dO: (B, H, N, D), upstream gradient
        cache: the dict returned by flash_attention_fwd
        tile_size: rows per tile; may differ from the forward tile size
        causal: must be the same as in the forward pass

    Returns:
        dQ, dK, dV: (B, H, N, D) each
    """
    Q, K, V, L = cache["Q"], cache["K"], cache["V"], cache["L"]
    B, H, N, D = Q.shape
    scale = 1.0 / math.sqrt(D)
    tiles = _tile_ranges(N, tile_size)

    dQ = np.zeros_like(Q)
    dK = np.zeros_like(K)
    dV = np.zeros_like(V)

    for b in range(B):
        for h in range(H):
            for q_start, q_end in tiles:
                Q_tile = Q[b, h, q_start:q_end]
                dO_tile = dO[b, h, q_start:q_end]
                L_tile = L[b, h, q_start:q_end, None]

                # Collect the visible KV tiles (views) and their masks once;
                # both passes walk over the same list.
                kv_data = []
                for kv_start, kv_end in tiles:
                    if causal and kv_start > q_end - 1:
                        continue
                    mask = _valid_mask(q_start, q_end, kv_start, kv_end, causal)
                    kv_data.append((
                        kv_start,
                        kv_end,
                        K[b, h, kv_start:kv_end],
                        V[b, h, kv_start:kv_end],
                        mask,
                    ))

                # ---- Pass 1: rowsum(P * dP) over all KV tiles --------------
                rowsum = np.zeros((q_end - q_start, 1), dtype=Q.dtype)
                for _, _, K_tile, V_tile, mask in kv_data:
                    S = (Q_tile @ K_tile.T) * scale
                    S = np.where(mask, S, -np.inf)
                    P = np.exp(S - L_tile)
                    dP = dO_tile @ V_tile.T
                    rowsum += (P * dP).sum(axis=1, keepdims=True)

                # ---- Pass 2: gradients -------------------------------------
                for kv_start, kv_end, K_tile, V_tile, mask in kv_data:
                    S = (Q_tile @ K_tile.T) * scale
                    S = np.where(mask, S, -np.inf)
                    P = np.exp(S - L_tile)
                    dP = dO_tile @ V_tile.T

                    # Multiply by P, subtract the row sum of the WHOLE row.
                    dS = P * (dP - rowsum)

                    dV[b, h, kv_start:kv_end] += P.T @ dO_tile
                    dQ[b, h, q_start:q_end] += (dS @ K_tile) * scale
                    dK[b, h, kv_start:kv_end] += (dS.T @ Q_tile) * scale

    return dQ, dK, dV


# ---------------------------------------------------------------------------
# Reference
# ---------------------------------------------------------------------------


def naive_attention_fwd(Q, K, V, causal=True):
    """Full-matrix forward for one or more heads. Returns O and P."""
    N, D = Q.shape[2], Q.shape[3]
    S = (Q @ K.transpose(0, 1, 3, 2)) / math.sqrt(D)
    if causal:
        future = np.triu(np.ones((N, N), dtype=bool), k=1)
        S = np.where(future, -np.inf, S)
    P = np.exp(S - S.max(axis=-1, keepdims=True))
    P /= P.sum(axis=-1, keepdims=True)
    return P @ V, P


def naive_attention_bwd(Q, K, V, dO, causal=True):
    """Full-matrix backward. Returns dQ, dK, dV."""
    scale = 1.0 / math.sqrt(Q.shape[3])
    _, P = naive_attention_fwd(Q, K, V, causal)
    dV = P.transpose(0, 1, 3, 2) @ dO
    dP = dO @ V.transpose(0, 1, 3, 2)
    dS = P * (dP - (P * dP).sum(axis=-1, keepdims=True))
    dQ = (dS @ K) * scale
    dK = (dS.transpose(0, 1, 3, 2) @ Q) * scale
    return dQ, dK, dV


def relative_error(a, b, floor=1e-8):
    """Largest element-wise |a - b| / max(|a|, |b|, floor)."""
    a, b = np.asarray(a), np.asarray(b)
    return np.max(np.abs(a - b) / np.maximum(np.maximum(np.abs(a), np.abs(b)), floor))


def make_inputs(B, H, N, D, seed, dtype=np.float64):
    """Random Q, K, V, dO of shape (B, H, N, D)."""
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal((B, H, N, D)).astype(dtype) for _ in range(4))


# ---------------------------------------------------------------------------
# Tests
# ---------------------------------------------------------------------------


def test_1_finite_differences():
    """
    Test 1: Gradients against central finite differences.

    B=1, H=1, N=64, D=32, tile_size=16, causal. All 2048 elements of dV and ten
    random elements each of dQ and dK. Threshold: relative error < 1e-5.
    """
    N, D, tile_size, eps = 64, 32, 16, 1e-5
    Q, K, V, dO = make_inputs(1, 1, N, D, seed=42)

    _, cache = flash_attention_fwd(Q, K, V, tile_size, causal=True)
    dQ, dK, dV = flash_attention_bwd(dO, cache, tile_size, causal=True)

    def loss():
        O, _ = flash_attention_fwd(Q, K, V, tile_size, causal=True)
        return np.sum(O * dO)

    def numerical(X, n, d):
        saved = X[0, 0, n, d]
        X[0, 0, n, d] = saved + eps
        loss_plus = loss()
        X[0, 0, n, d] = saved - eps
        loss_minus = loss()
        X[0, 0, n, d] = saved
        return (loss_plus - loss_minus) / (2 * eps)

    dV_num = np.zeros((N, D))
    for n in range(N):
        for d in range(D):
            dV_num[n, d] = numerical(V, n, d)
    err = relative_error(dV[0, 0], dV_num)
    print(f"  dV, all elements:    relative error {err:.1e}")
    assert err < 1e-5, f"dV relative error {err:.2e} >= 1e-5"

    rng = np.random.default_rng(100)
    for name, X, dX in (("dQ", Q, dQ), ("dK", K, dK)):
        spots = [(rng.integers(N), rng.integers(D)) for _ in range(10)]
        num = [numerical(X, n, d) for n, d in spots]
        ana = [dX[0, 0, n, d] for n, d in spots]
        err = relative_error(ana, num)
        print(f"  {name}, spot check:      relative error {err:.1e}")
        assert err < 1e-5, f"{name} relative error {err:.2e} >= 1e-5"


def _compare_with_naive(Q, K, V, dO, tile_size, causal):
    """Shared body of the comparisons with the full-matrix backward."""
    O, cache = flash_attention_fwd(Q, K, V, tile_size, causal=causal)
    O_ref, _ = naive_attention_fwd(Q, K, V, causal=causal)
    assert relative_error(O, O_ref) < 1e-4, "forward does not match"

    grads = flash_attention_bwd(dO, cache, tile_size, causal=causal)
    refs = naive_attention_bwd(Q, K, V, dO, causal=causal)
    for name, grad, ref in zip(("dQ", "dK", "dV"), grads, refs):
        err = relative_error(grad, ref)
        print(f"  {name}: relative error {err:.1e}")
        assert grad.shape == ref.shape
        assert np.all(np.isfinite(grad)), f"non-finite values in {name}"
        assert err < 1e-4, f"{name} relative error {err:.2e} >= 1e-4"


def test_2_against_naive():
    """
    Test 2: Causal backward against the full-matrix backward.

    B=2, H=4, N=256, D=64, tile_size=64. Threshold: relative error < 1e-4.
    """
    _compare_with_naive(*make_inputs(2, 4, 256, 64, seed=1), tile_size=64, causal=True)


def test_3_memory():
    """
    Test 3: Memory on a long sequence.

    N=4096, D=64, tile_size=128, float32. The traced peak covers the forward
    pass, dO and the backward pass, and must stay below 20% of one (N, N)
    float32 score matrix.
    """
    N, D, tile_size = 4096, 64, 128
    Q, K, V, _ = make_inputs(1, 1, N, D, seed=2, dtype=np.float32)
    rng = np.random.default_rng(3)

    tracemalloc.start()
    start = time.perf_counter()
    O, cache = flash_attention_fwd(Q, K, V, tile_size, causal=True)
    dO = rng.standard_normal(O.shape, dtype=np.float32)
    grads = flash_attention_bwd(dO, cache, tile_size, causal=True)
    elapsed = time.perf_counter() - start
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    naive = N * N * 4
    print(f"  peak memory:        {peak / 1e6:.1f} MB ({peak / naive:.1%})")
    print(f"  naive score matrix: {naive / 1e6:.1f} MB")
    print(f"  elapsed:            {elapsed:.2f} s")
    assert all(np.all(np.isfinite(g)) for g in grads), "non-finite gradients"
    assert peak < 0.2 * naive, f"peak {peak / 1e6:.1f} MB is not below 20%"


def test_4_non_causal():
    """
    Test 4: Non-causal backward.

    Every Q tile sees every KV tile, so no tile is skipped and every row sum
    runs over the whole sequence.
    """
    _compare_with_naive(*make_inputs(1, 2, 128, 32, seed=4), tile_size=32, causal=False)


def test_5_uneven_tiles():
    """
    Test 5: N is not divisible by tile_size.

    N=100, tile_size=32 gives tiles of 32, 32, 32 and 4 rows, with B=2, H=3 so
    that several batches and heads are covered as well.
    """
    _compare_with_naive(*make_inputs(2, 3, 100, 32, seed=5), tile_size=32, causal=True)


TESTS = [
    ("Test 1: finite differences (N=64, D=32, tile=16)", test_1_finite_differences),
    ("Test 2: naive backward (B=2, H=4, N=256, D=64)", test_2_against_naive),
    ("Test 3: memory (N=4096, D=64, tile=128)", test_3_memory),
    ("Test 4: non-causal", test_4_non_causal),
    ("Test 5: uneven tiles (N=100, tile=32)", test_5_uneven_tiles),
]


def main():
    for title, test in TESTS:
        print(title)
        test()
        print("  PASS")
    print(f"\nAll {len(TESTS)} tests passed.")


if __name__ == "__main__":
    main()
