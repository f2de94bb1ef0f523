"""
Flash Attention: tiled forward and backward passes in pure NumPy.

The (N, N) attention matrix is never materialized in either direction.

Forward
-------
Online softmax over KV tiles. Besides the output O we keep the log-sum-exp of
every query row,

    L_i = m_i + log(l_i)

so that the backward pass can rebuild any tile of probabilities directly:

    P_ij = exp(S_ij - L_i)

Backward
--------
For every query tile, two passes over the KV tiles:

    Pass 1:  rowsum_PdP = sum_j P_ij * dP_ij          (over ALL keys of the row)
    Pass 2:  dS = P * (dP - rowsum_PdP)
             dV += P^T dO,   dQ += dS K * scale,   dK += dS^T Q * scale

The softmax gradient couples all keys of a row, so the row sum has to be
complete before the first dS tile can be formed.
"""

import time
import tracemalloc

import numpy as np


# =============================================================================
# Shared helpers
# =============================================================================


def _scores(Q_tile, K_tile, q_start, kv_start, scale, causal):
    """
    Scaled scores of one tile pair, with future keys set to -inf.

    Args:
        Q_tile: (Tq, D) query rows starting at position q_start
        K_tile: (Tk, D) key rows starting at position kv_start

    Returns:
        S: (Tq, Tk)
    """
    S = (Q_tile * scale) @ K_tile.T
    if causal:
        q_idx = q_start + np.arange(Q_tile.shape[0])
        kv_idx = kv_start + np.arange(K_tile.shape[0])
        S = np.where(kv_idx[None, :] > q_idx[:, None], -np.inf, S)
    return S


# =============================================================================
# Forward pass
# =============================================================================


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    """
    Tiled attention forward pass.

    Args:
        Q, K, V:   (B, H, N, D)
        tile_size: number of rows per query tile and per KV tile
        causal:    if True, query i attends to keys j <= i only

    Returns:
        O:     (B, H, N, D) attention output
        cache: dict with O, L, Q, K, V for the backward pass; L is (B, H, N)
    """
    B, H, N, D = Q.shape
    scale = 1.0 / np.sqrt(D)

    O = np.zeros((B, H, N, D), dtype=np.float64)
    L = np.zeros((B, H, N), dtype=np.float64)

    for b in range(B):
        for h in range(H):
            for q_start in range(0, N, tile_size):
                q_end = min(q_start + tile_size, N)
                Q_tile = Q[b, h, q_start:q_end]

                # Running statistics of this query tile
                m = np.full(q_end - q_start, -np.inf)
                l = np.zeros(q_end - q_start)
                acc = np.zeros((q_end - q_start, D))

                for kv_start in range(0, N, tile_size):
                    kv_end = min(kv_start + tile_size, N)

                    # The whole KV tile lies in the future of the whole Q tile
                    if causal:
                        if kv_start > q_end - 1: continue

                    S = _scores(Q_tile, K[b, h, kv_start:kv_end],
                                q_start, kv_start, scale, causal)

                    m_new = np.maximum(m, S.max(axis=1))

                    # Masked positions are -inf. If everything seen so far is
                    # masked, m_new is -inf as well and S - m_new is
                    # (-inf) - (-inf) = NaN, so these entries are set to zero
                    # explicitly. The same holds for the rescaling factor.
                    with np.errstate(invalid="ignore"):
                        exp_S = np.exp(S - m_new[:, None])
                        exp_m = np.exp(m - m_new)
                    exp_S = np.where(np.isinf(S), 0.0, exp_S)
                    exp_m = np.where(np.isinf(m), 0.0, exp_m)

                    l = l * exp_m + exp_S.sum(axis=1)
                    acc = acc * exp_m[:, None] + exp_S @ V[b, h, kv_start:kv_end]
                    m = m_new

                O[b, h, q_start:q_end] = acc / l[:, None]
                L[b, h, q_start:q_end] = m + np.log(l)

    cache = {"O": O, "L": L, "Q": Q, "K": K, "V": V}
    return O, cache


# =============================================================================
# Backward pass
# =============================================================================


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    """
    Tiled attention backward pass with recomputation.

    Args:
        dO:        (B, H, N, D) gradient of the loss with respect to O
        cache:     the dict returned by flash_attention_fwd
        tile_size: number of rows per tile (need not match the forward pass)
        causal:    must match the forward pass

    Returns:
        dQ, dK, dV: each (B, H, N, D)
    """
    Q, K, V, L = cache["Q"], cache["K"], cache["V"], cache["L"]
    B, H, N, D = Q.shape
    scale = 1.0 / np.sqrt(D)

    dQ = np.zeros((B, H, N, D), dtype=np.float64)
    dK = np.zeros((B, H, N, D), dtype=np.float64)
    dV = np.zeros((B, H, N, D), dtype=np.float64)

    for b in range(B):
        for h in range(H):
            # dK and dV of a head receive a contribution from every Q tile
            dK_head = np.zeros((N, D))
            dV_head = np.zeros((N, D))

            for q_start in range(0, N, tile_size):
                q_end = min(q_start + tile_size, N)
                Q_tile = Q[b, h, q_start:q_end]
                dO_tile = dO[b, h, q_start:q_end]
                L_tile = L[b, h, q_start:q_end]

                # ---- Pass 1: rowsum(P * dP) over all KV tiles ---------------
                rowsum_PdP = np.zeros(q_end - q_start)

                for kv_start in range(0, N, tile_size):
                    kv_end = min(kv_start + tile_size, N)
                    if causal:
                        if kv_start > q_end - 1: continue

                    K_tile = K[b, h, kv_start:kv_end]
                    V_tile = V[b, h, kv_start:kv_end]

                    # P = exp(S - L), already normalized
                    P = np.exp(_scores(Q_tile, K_tile, q_start, kv_start, scale, causal)
                               - L_tile[:, None])
                    dP = dO_tile @ V_tile.T
                    rowsum_PdP += (P * dP).sum(axis=1)

                # ---- Pass 2: gradients --------------------------------------
                for kv_start in range(0, N, tile_size):
                    kv_end = min(kv_start + tile_size, N)
                    if causal:
                        if kv_start > q_end - 1: continue

                    K_tile = K[b, h, kv_start:kv_end]
                    V_tile = V[b, h, kv_start:kv_end]

                    P = np.exp(_scores(Q_tile, K_tile, q_start, kv_start, scale, causal)
                               - L_tile[:, None])
                    dP = dO_tile @ V_tile.T

                    # Softmax backward: dS = P * (dP - rowsum(P * dP))
                    dS = P * (dP - rowsum_PdP[:, None])

                    dV_head[kv_start:kv_end] += P.T @ dO_tile
                    dK_head[kv_start:kv_end] += (dS.T @ Q_tile) * scale
                    dQ[b, h, q_start:q_end] += (dS @ K_tile) * scale

            dK[b, h] = dK_head
            dV[b, h] = dV_head

    return dQ, dK, dV


# =============================================================================
# Naive reference (full attention matrix, tests only)
# =============================================================================


def naive_attention_bwd(Q, K, V, dO, causal=True):
    """
    Full-matrix attention, forward and backward.

    Returns:
        O, dQ, dK, dV: each (B, H, N, D)
    """
    N, D = Q.shape[2], Q.shape[3]
    scale = 1.0 / np.sqrt(D)

    S = np.einsum("bhid,bhjd->bhij", Q, K) * scale
    if causal:
        S = np.where(np.tril(np.ones((N, N), dtype=bool)), S, -np.inf)

    P = np.exp(S - S.max(axis=-1, keepdims=True))
    P = P / P.sum(axis=-1, keepdims=True)
    O = np.einsum("bhij,bhjd->bhid", P, V)

    dV = np.einsum("bhij,bhid->bhjd", P, dO)
    dP = np.einsum("bhid,bhjd->bhij", dO, V)
    dS = P * (dP - (P * dP).sum(axis=-1, keepdims=True))
    dQ = np.einsum("bhij,bhjd->bhid", dS, K) * scale
    dK = np.einsum("bhij,bhid->bhjd", dS, Q) * scale
    return O, dQ, dK, dV


# =============================================================================
# Test utilities
# =============================================================================


def random_inputs(B, H, N, D, seed):
    """Standard normal Q, K, V and dO, each (B, H, N, D)."""
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal((B, H, N, D)) for _ in range(4))


def finite_difference(Q, K, V, dO, name, index, tile_size, causal, eps):
    """
    Central difference of sum(O * dO) with respect to one input element.

    The two outputs are subtracted before they are reduced, which avoids the
    cancellation of two large, nearly equal losses.
    """
    inputs = {"Q": Q, "K": K, "V": V}
    X = inputs[name].copy()
    inputs[name] = X
    center = X[index]

    X[index] = center + eps
    O_plus, _ = flash_attention_fwd(inputs["Q"], inputs["K"], inputs["V"], tile_size, causal)
    X[index] = center - eps
    O_minus, _ = flash_attention_fwd(inputs["Q"], inputs["K"], inputs["V"], tile_size, causal)

    return np.sum((O_plus - O_minus) * dO) / (2.0 * eps)


def max_rel_error(actual, expected, floor=1e-8):
    """Largest element-wise relative error, |a - e| / (|a| + |e| + floor)."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    return float(np.max(np.abs(actual - expected)
                        / (np.abs(actual) + np.abs(expected) + floor)))


# =============================================================================
# Tests
# =============================================================================


def test_gradient_check():
    """Test 1: finite differences. N=64, D=32, threshold 1e-5."""
    N, D, T, eps = 64, 32, 16, 1e-4
    Q, K, V, dO = random_inputs(1, 1, N, D, seed=1)

    _, cache = flash_attention_fwd(Q, K, V, T, causal=True)
    dQ, dK, dV = flash_attention_bwd(dO, cache, T, causal=True)

    # dV: ALL elements
    dV_fd = np.zeros_like(V)
    for index in np.ndindex(*V.shape):
        dV_fd[index] = finite_difference(Q, K, V, dO, "V", index, T, True, eps)
    err_dV = max_rel_error(dV, dV_fd)
    print(f"  dV (all {V.size} elements): max rel error {err_dV:.1e}")
    if not err_dV < 1e-5:
        raise AssertionError(f"dV gradient check failed: {err_dV:.3e}")

    # dQ, dK: a random sample
    rng = np.random.default_rng(7)
    for name, grad in (("Q", dQ), ("K", dK)):
        flat = rng.choice(grad.size, size=10, replace=False)
        indices = [np.unravel_index(i, grad.shape) for i in flat]
        fd = [finite_difference(Q, K, V, dO, name, i, T, True, eps) for i in indices]
        err = max_rel_error([grad[i] for i in indices], fd)
        print(f"  d{name} (10 random elements): max rel error {err:.1e}")
        if not err < 1e-5:
            raise AssertionError(f"d{name} gradient check failed: {err:.3e}")


def test_against_naive():
    """Test 2: tiled backward against the full-matrix backward, threshold 1e-4."""
    Q, K, V, dO = random_inputs(2, 2, 256, 64, seed=0)
    T = 64

    O, cache = flash_attention_fwd(Q, K, V, T, causal=True)
    grads = flash_attention_bwd(dO, cache, T, causal=True)
    O_ref, *grads_ref = naive_attention_bwd(Q, K, V, dO, causal=True)

    pairs = zip(("O", "dQ", "dK", "dV"), (O, *grads), (O_ref, *grads_ref))
    for name, actual, expected in pairs:
        err = max_rel_error(actual, expected)
        print(f"  {name:2s} vs naive: max rel error {err:.1e}")
        if not err < 1e-4:
            raise AssertionError(f"{name} does not match the naive result: {err:.3e}")


def test_memory():
    """Test 3: N=4096 stays below 20% of one (N, N) matrix."""
    N, D, T = 4096, 64, 128
    Q, K, V, dO = random_inputs(1, 1, N, D, seed=2)

    tracemalloc.start()
    start = time.perf_counter()
    _, cache = flash_attention_fwd(Q, K, V, T, causal=True)
    dQ, dK, dV = flash_attention_bwd(dO, cache, T, causal=True)
    elapsed = time.perf_counter() - start
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    full_matrix = N * N * 4
    ratio = peak / full_matrix
    print(f"  peak: {peak / 1e6:.1f} MB, full (N, N) matrix: {full_matrix / 1e6:.1f} MB, "
          f"ratio: {ratio:.1%}, time: {elapsed:.2f} s")
    if not all(np.all(np.isfinite(g)) for g in (dQ, dK, dV)):
        raise AssertionError("non-finite gradient")
    if not ratio < 0.20:
        raise AssertionError(f"peak memory is {ratio:.2%} of the full matrix")


if __name__ == "__main__":
    for test in (test_gradient_check, test_against_naive, test_memory):
        print(test.__doc__.strip())
        test()
        print("  PASS\n")
    print("All tests passed.")
