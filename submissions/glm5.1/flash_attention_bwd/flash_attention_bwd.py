"""
Flash Attention, forward and backward, tiled, NumPy only.

The forward pass uses the online softmax and keeps for every query row the
log-sum-exp L = m + log(l). The backward pass recomputes the probabilities of a
tile from L and never builds the (N, N) matrix.

Softmax backward, for one row of scores S and probabilities P = softmax(S):

    dS = P * (dP - sum_j P_j dP_j)

The row sum does not need a pass over the keys of its own. With O = P V and
dP = dO V^T:

    sum_j P_j dP_j = sum_k dO_k sum_j P_j V_jk = sum_k dO_k O_k

so D_diag = (dO * O).sum(axis=-1) is computed once, before the tile loops.
"""

import time
import tracemalloc

import numpy as np


# ============================================================
# Forward
# ============================================================

def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    """
    Tiled forward pass.

    Q, K, V:   (B, H, N, D)
    tile_size: rows per query tile and per key/value tile
    causal:    if True, position i attends to positions 0..i

    Returns O (B, H, N, D) and a cache with O, L, Q, K, V; L is (B, H, N).
    """
    B, H, N, D = Q.shape
    scale = 1.0 / np.sqrt(D)

    O = np.zeros((B, H, N, D), dtype=np.float64)
    L = np.zeros((B, H, N), dtype=np.float64)

    for b in range(B):
        for h in range(H):
            for q_start in range(0, N, tile_size):
                q_end = min(q_start + tile_size, N)
                q_len = q_end - q_start
                Q_i = Q[b, h, q_start:q_end]

                m_acc = np.full(q_len, -np.inf)
                l_acc = np.zeros(q_len)
                O_acc = np.zeros((q_len, D))

                for k_start in range(0, N, tile_size):
                    k_end = min(k_start + tile_size, N)

                    # All later KV tiles are masked as well
                    if causal:
                        if k_start > q_end - 1:
                            break

                    K_j = K[b, h, k_start:k_end]
                    V_j = V[b, h, k_start:k_end]

                    S = np.dot(Q_i, K_j.T) * scale
                    if causal and k_end > q_start + 1:
                        rows = np.arange(q_start, q_end).reshape(-1, 1)
                        cols = np.arange(k_start, k_end).reshape(1, -1)
                        S = np.where(cols > rows, -np.inf, S)

                    m_tile = np.max(S, axis=1)
                    m_new = np.maximum(m_acc, m_tile)

                    # Rows without any visible key so far: use 0 as reference,
                    # exp(-inf - 0) = 0, instead of -inf - (-inf)
                    m_safe = np.where(m_new > -np.inf, m_new, 0.0)

                    alpha = np.exp(m_acc - m_safe)
                    P = np.exp(S - m_safe[:, None])

                    l_acc = alpha * l_acc + np.sum(P, axis=1)
                    O_acc = alpha[:, None] * O_acc + np.dot(P, V_j)
                    m_acc = m_new

                # l == 0 means that the row saw no key at all
                l_div = np.where(l_acc > 0, l_acc, 1.0)
                O[b, h, q_start:q_end] = O_acc / l_div[:, None]
                with np.errstate(divide="ignore"):
                    L[b, h, q_start:q_end] = np.where(
                        l_acc > 0, m_acc + np.log(l_acc), m_acc
                    )

    cache = {'O': O, 'L': L, 'Q': Q, 'K': K, 'V': V}
    return O, cache


# ============================================================
# Backward
# ============================================================

def flash_attention_bwd(dO, cache, tile_size, causal=True):
    """
    Tiled backward pass, one pass over the KV tiles.

    dO:    (B, H, N, D), gradient of the loss with respect to O
    cache: the cache returned by flash_attention_fwd

    Returns dQ, dK, dV, each (B, H, N, D).
    """
    O, L = cache['O'], cache['L']
    Q, K, V = cache['Q'], cache['K'], cache['V']
    B, H, N, D = Q.shape
    scale = 1.0 / np.sqrt(D)

    # rowsum(P * dP) of every query row, shape (B, H, N)
    D_diag = (dO * O).sum(axis=-1)

    dQ = np.zeros((B, H, N, D), dtype=np.float64)
    dK = np.zeros((B, H, N, D), dtype=np.float64)
    dV = np.zeros((B, H, N, D), dtype=np.float64)

    for b in range(B):
        for h in range(H):
            for q_start in range(0, N, tile_size):
                q_end = min(q_start + tile_size, N)

                Q_i = Q[b, h, q_start:q_end]
                dO_i = dO[b, h, q_start:q_end]
                L_i = L[b, h, q_start:q_end].reshape(-1, 1)
                D_i = D_diag[b, h, q_start:q_end].reshape(-1, 1)

                for k_start in range(0, N, tile_size):
                    k_end = min(k_start + tile_size, N)

                    if causal:
                        if k_start > q_end - 1:
                            break

                    K_j = K[b, h, k_start:k_end]
                    V_j = V[b, h, k_start:k_end]

                    # Recompute the probabilities
                    S = np.dot(Q_i, K_j.T) * scale
                    if causal and k_end > q_start + 1:
                        rows = np.arange(q_start, q_end).reshape(-1, 1)
                        cols = np.arange(k_start, k_end).reshape(1, -1)
                        S = np.where(cols > rows, -np.inf, S)
                    P = np.exp(S - L_i)

                    # dV += P^T dO
                    dV[b, h, k_start:k_end] += np.dot(P.T, dO_i)

                    # dS = P * (dP - D)
                    dP = np.dot(dO_i, V_j.T)
                    dS = P * (dP - D_i)

                    # dQ += dS K, dK += dS^T Q
                    dQ[b, h, q_start:q_end] += np.dot(dS, K_j) * scale
                    dK[b, h, k_start:k_end] += np.dot(dS.T, Q_i) * scale

    return dQ, dK, dV


# ============================================================
# Naive reference
# ============================================================

def naive_forward(Q, K, V, causal=True):
    """Full attention. Returns O and the (B, H, N, N) probabilities."""
    N, D = Q.shape[2], Q.shape[3]
    S = np.einsum('bhqd,bhkd->bhqk', Q, K) / np.sqrt(D)
    if causal:
        mask = np.triu(np.ones((N, N), dtype=bool), k=1)
        S = np.where(mask, -np.inf, S)
    S = S - np.max(S, axis=-1, keepdims=True)
    P = np.exp(S)
    P = P / np.sum(P, axis=-1, keepdims=True)
    O = np.einsum('bhqk,bhkd->bhqd', P, V)
    return O, P


def naive_backward(dO, Q, K, V, causal=True):
    """Full backward pass with the (N, N) matrices. Returns dQ, dK, dV."""
    D = Q.shape[3]
    scale = 1.0 / np.sqrt(D)
    _, P = naive_forward(Q, K, V, causal)
    dV = np.einsum('bhqk,bhqd->bhkd', P, dO)
    dP = np.einsum('bhqd,bhkd->bhqk', dO, V)
    dS = P * (dP - np.sum(P * dP, axis=-1, keepdims=True))
    dQ = np.einsum('bhqk,bhkd->bhqd', dS, K) * scale
    dK = np.einsum('bhqk,bhqd->bhkd', dS, Q) * scale
    return dQ, dK, dV


# ============================================================
# Tests
# ============================================================

def test_gradient_check():
    """Test 1: central finite differences, N=64, D=32."""
    print("=" * 60)
    print("Test 1: gradient check (finite differences)")
    print("=" * 60)

    B, H, N, D = 1, 1, 64, 32
    tile_size = 16
    eps = 1e-6

    rng = np.random.default_rng(104)
    Q = rng.standard_normal((B, H, N, D))
    K = rng.standard_normal((B, H, N, D))
    V = rng.standard_normal((B, H, N, D))
    dO = rng.standard_normal((B, H, N, D))

    O, cache = flash_attention_fwd(Q, K, V, tile_size, causal=True)
    dQ, dK, dV = flash_attention_bwd(dO, cache, tile_size, causal=True)

    def loss_fn(Q_, K_, V_):
        O_, _ = flash_attention_fwd(Q_, K_, V_, tile_size, causal=True)
        return np.sum(O_ * dO)

    # --- dV: full check, all elements ---
    dV_num = np.zeros_like(V)
    for i in range(N):
        for j in range(D):
            V_plus = V.copy()
            V_plus[0, 0, i, j] += eps
            V_minus = V.copy()
            V_minus[0, 0, i, j] -= eps
            loss_plus = loss_fn(Q, K, V_plus)
            loss_minus = loss_fn(Q, K, V_minus)
            dV_num[0, 0, i, j] = (loss_plus - loss_minus) / (2 * eps)

    dV_err = np.max(np.abs(dV - dV_num) / (np.abs(dV_num) + 1e-8))
    print(f"dV full check ({N * D} elements): max relative error = {dV_err:.2e}")
    assert dV_err < 1e-5, f"dV gradient check failed: {dV_err}"

    # --- dQ, dK: spot check ---
    max_dq_err = 0.0
    max_dk_err = 0.0
    max_dv_err = 0.0
    for _ in range(10):
        i = rng.integers(0, N)
        j = rng.integers(0, D)

        Q_plus = Q.copy()
        Q_plus[0, 0, i, j] += eps
        Q_minus = Q.copy()
        Q_minus[0, 0, i, j] -= eps
        num = (loss_fn(Q_plus, K, V) - loss_fn(Q_minus, K, V)) / (2 * eps)
        ana = dQ[0, 0, i, j]
        err = np.abs(ana - num) / (np.abs(num) + 1e-8)
        max_dq_err = max(max_dq_err, err)

        K_plus = K.copy()
        K_plus[0, 0, i, j] += eps
        K_minus = K.copy()
        K_minus[0, 0, i, j] -= eps
        num = (loss_fn(Q, K_plus, V) - loss_fn(Q, K_minus, V)) / (2 * eps)
        ana = dK[0, 0, i, j]
        err = np.abs(ana - num) / (np.abs(num) + 1e-8)
        max_dk_err = max(max_dk_err, err)

        V_plus = V.copy()
        V_plus[0, 0, i, j] += eps
        V_minus = V.copy()
        V_minus[0, 0, i, j] -= eps
        num = (loss_fn(Q, K, V_plus) - loss_fn(Q, K, V_minus)) / (2 * eps)
        ana = dV[0, 0, i, j]
        err = np.abs(ana - num) / (np.abs(num) + 1e-8)
        max_dv_err = max(max_dv_err, err)

    print(f"dQ spot check: max relative error = {max_dq_err:.2e}")
    print(f"dK spot check: max relative error = {max_dk_err:.2e}")
    print(f"dV spot check: max relative error = {max_dv_err:.2e}")
    assert max_dq_err < 1e-5, f"dQ gradient check failed: {max_dq_err}"
    assert max_dk_err < 1e-5, f"dK gradient check failed: {max_dk_err}"
    assert max_dv_err < 1e-5, f"dV spot check failed: {max_dv_err}"
    print("PASSED\n")


def test_vs_naive():
    """Test 2: tiled backward against the full backward."""
    print("=" * 60)
    print("Test 2: tiled vs naive backward")
    print("=" * 60)

    B, H, N, D = 2, 4, 256, 64
    tile_size = 64

    rng = np.random.default_rng(123)
    Q = rng.standard_normal((B, H, N, D))
    K = rng.standard_normal((B, H, N, D))
    V = rng.standard_normal((B, H, N, D))
    dO = rng.standard_normal((B, H, N, D))

    O, cache = flash_attention_fwd(Q, K, V, tile_size, causal=True)
    O_ref, _ = naive_forward(Q, K, V, causal=True)
    print(f"O  max absolute error = {np.max(np.abs(O - O_ref)):.2e}")
    assert np.allclose(O, O_ref, atol=1e-8), "forward mismatch"

    grads = flash_attention_bwd(dO, cache, tile_size, causal=True)
    refs = naive_backward(dO, Q, K, V, causal=True)
    for name, grad, ref in zip(('dQ', 'dK', 'dV'), grads, refs):
        err = np.max(np.abs(grad - ref) / (np.abs(ref) + 1e-10))
        print(f"{name} max relative error = {err:.2e}")
        assert err < 1e-4, f"{name} does not match: {err}"
    print("PASSED\n")


def test_memory():
    """Test 3: peak memory on N=4096."""
    print("=" * 60)
    print("Test 3: memory")
    print("=" * 60)

    B, H, N, D = 1, 1, 4096, 64
    tile_size = 128

    rng = np.random.default_rng(7)
    Q = rng.standard_normal((B, H, N, D))
    K = rng.standard_normal((B, H, N, D))
    V = rng.standard_normal((B, H, N, D))
    dO = rng.standard_normal((B, H, N, D))

    tracemalloc.start()
    t0 = time.time()
    O, cache = flash_attention_fwd(Q, K, V, tile_size, causal=True)
    dQ, dK, dV = flash_attention_bwd(dO, cache, tile_size, causal=True)
    t1 = time.time()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    naive_mem = N * N * 4
    ratio = peak / naive_mem
    print(f"Peak memory:      {peak / 1e6:.1f} MB")
    print(f"One (N, N) array: {naive_mem / 1e6:.1f} MB")
    print(f"Ratio:            {ratio * 100:.1f}%")
    print(f"Time:             {t1 - t0:.2f} s")
    assert not np.isnan(dQ).any() and not np.isnan(dK).any() and not np.isnan(dV).any()
    assert ratio < 0.2, f"memory ratio {ratio:.3f} is not below 0.2"
    print("PASSED\n")


if __name__ == '__main__':
    test_gradient_check()
    test_vs_naive()
    test_memory()
    print("All tests passed!")
