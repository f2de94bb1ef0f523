"""
Tiled flash attention with a backward pass, in NumPy.

The forward pass streams over KV tiles with an online softmax and stores, next
to the output O, one number per query row: L = m + log(l), the log-sum-exp of
the row's scores. The backward pass recomputes each probability tile from it as
exp(S - L) and visits every (query tile, KV tile) pair exactly once.

Nothing of size (N, N) is ever allocated, in either direction.
"""

import tracemalloc

import numpy as np


def _masked_scores(q_tile, k_tile, q_start, k_start, scale, causal):
    """Scores of one tile pair, (Tq, Tk); future keys are -inf when causal."""
    s = q_tile @ k_tile.T * scale
    # Only tiles that straddle the diagonal need the element-wise mask.
    if causal and k_start + k_tile.shape[0] - 1 > q_start:
        q_idx = np.arange(q_start, q_start + q_tile.shape[0])[:, None]
        k_idx = np.arange(k_start, k_start + k_tile.shape[0])[None, :]
        s = np.where(k_idx <= q_idx, s, -np.inf)
    return s


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    """
    Flash attention forward.

    Args:
        Q, K, V:   (B, H, N, D)
        tile_size: rows per query tile and per KV tile
        causal:    query i sees only keys j <= i

    Returns:
        O:     (B, H, N, D)
        cache: {"O", "L", "Q", "K", "V"}, with L = m + log(l) of shape (B, H, N)
    """
    B, H, N, D = Q.shape
    scale = 1.0 / np.sqrt(D)
    O = np.zeros((B, H, N, D))
    L = np.zeros((B, H, N))

    for b in range(B):
        for h in range(H):
            for q_start in range(0, N, tile_size):
                q_end = min(q_start + tile_size, N)
                q_tile = Q[b, h, q_start:q_end]
                m = np.full(q_end - q_start, -np.inf)
                l = np.zeros(q_end - q_start)
                acc = np.zeros((q_end - q_start, D))

                for k_start in range(0, N, tile_size):
                    k_end = min(k_start + tile_size, N)
                    if causal and k_start > q_end - 1:
                        continue

                    S = _masked_scores(q_tile, K[b, h, k_start:k_end],
                                       q_start, k_start, scale, causal)
                    m_new = np.maximum(m, S.max(axis=-1))

                    # A finite reference keeps -inf - (-inf) out of exp for
                    # rows whose keys so far are all masked.
                    m_ref = np.where(np.isinf(m_new), 0.0, m_new)
                    P = np.exp(S - m_ref[:, None])

                    # Stored sums are relative to the old max. Rescale by
                    # exp(m_old - m_new), which is <= 1.
                    correction = np.exp(m - m_ref)
                    l = l * correction + P.sum(axis=-1)
                    acc = acc * correction[:, None] + P @ V[b, h, k_start:k_end]
                    m = m_new

                O[b, h, q_start:q_end] = acc / l[:, None]
                L[b, h, q_start:q_end] = m + np.log(l)

    return O, {"O": O, "L": L, "Q": Q, "K": K, "V": V}


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    """
    Flash attention backward.

    Args:
        dO:        (B, H, N, D), gradient of the loss with respect to O
        cache:     as returned by flash_attention_fwd
        tile_size: rows per tile; may differ from the forward tile size
        causal:    as in the forward pass

    Returns:
        dQ, dK, dV: (B, H, N, D) each
    """
    O, L = cache["O"], cache["L"]
    Q, K, V = cache["Q"], cache["K"], cache["V"]
    B, H, N, D = Q.shape
    scale = 1.0 / np.sqrt(D)
    dQ = np.zeros((B, H, N, D))
    dK = np.zeros((B, H, N, D))
    dV = np.zeros((B, H, N, D))

    for b in range(B):
        for h in range(H):
            for q_start in range(0, N, tile_size):
                q_end = min(q_start + tile_size, N)
                q_tile = Q[b, h, q_start:q_end]
                o_tile = O[b, h, q_start:q_end]
                do_tile = dO[b, h, q_start:q_end]
                L_tile = L[b, h, q_start:q_end, None]
                dq_tile = np.zeros((q_end - q_start, D))

                # One value per query row, (Tq, 1), before any KV tile is read.
                Di = (do_tile * o_tile).sum(axis=-1, keepdims=True)

                for k_start in range(0, N, tile_size):
                    k_end = min(k_start + tile_size, N)
                    if causal and k_start > q_end - 1:
                        continue

                    k_tile = K[b, h, k_start:k_end]
                    v_tile = V[b, h, k_start:k_end]

                    S = _masked_scores(q_tile, k_tile, q_start, k_start, scale, causal)
                    P = np.exp(S - L_tile)
                    dP = do_tile @ v_tile.T
                    dS = P * (dP - Di)

                    dV[b, h, k_start:k_end] += P.T @ do_tile
                    dK[b, h, k_start:k_end] += dS.T @ q_tile * scale
                    dq_tile += dS @ k_tile * scale

                dQ[b, h, q_start:q_end] = dq_tile

    return dQ, dK, dV


def naive_attention_bwd(Q, K, V, dO, causal=True):
    """Forward and backward with the full (N, N) matrix. Tests only."""
    B, H, N, D = Q.shape
    scale = 1.0 / np.sqrt(D)
    O, dQ, dK, dV = (np.zeros((B, H, N, D)) for _ in range(4))
    for b in range(B):
        for h in range(H):
            S = Q[b, h] @ K[b, h].T * scale
            if causal:
                S[np.triu_indices(N, k=1)] = -np.inf
            P = np.exp(S - S.max(axis=-1, keepdims=True))
            P /= P.sum(axis=-1, keepdims=True)
            O[b, h] = P @ V[b, h]
            dV[b, h] = P.T @ dO[b, h]
            dP = dO[b, h] @ V[b, h].T
            dS = P * (dP - (P * dP).sum(axis=-1, keepdims=True))
            dQ[b, h] = dS @ K[b, h] * scale
            dK[b, h] = dS.T @ Q[b, h] * scale
    return O, dQ, dK, dV


if __name__ == '__main__':
    # ---- Forward/backward sanity check on a tiny case ------------------------
    print("Sanity check: B=1, H=1, N=8, D=4, tile=4")
    rng = np.random.default_rng(0)
    Q, K, V, dO = (rng.standard_normal((1, 1, 8, 4)) for _ in range(4))
    O, cache = flash_attention_fwd(Q, K, V, 4, causal=True)
    grads = flash_attention_bwd(dO, cache, 4, causal=True)
    O_ref, *grads_ref = naive_attention_bwd(Q, K, V, dO, causal=True)
    assert sorted(cache) == ["K", "L", "O", "Q", "V"]
    assert np.allclose(O, O_ref), "forward mismatch"
    for name, g, g_ref in zip(("dQ", "dK", "dV"), grads, grads_ref):
        assert g.shape == (1, 1, 8, 4), f"{name} has shape {g.shape}"
        assert np.allclose(g, g_ref), f"{name} mismatch"
    print("  PASS")

    # ---- Test 1: central finite differences ----------------------------------
    print("Test 1: gradient check, N=64, D=32, tile=16")
    B, H, N, D, T = 1, 1, 64, 32, 16
    eps = 1e-5
    rng = np.random.default_rng(7)
    Q, K, V, dO = (rng.standard_normal((B, H, N, D)) for _ in range(4))
    O, cache = flash_attention_fwd(Q, K, V, T, causal=True)
    dQ, dK, dV = flash_attention_bwd(dO, cache, T, causal=True)

    # dV: every one of the 64 x 32 = 2048 elements.
    max_err = 0.0
    for n in range(N):
        for d in range(D):
            V_p, V_m = V.copy(), V.copy()
            V_p[0, 0, n, d] += eps
            V_m[0, 0, n, d] -= eps
            O_p, _ = flash_attention_fwd(Q, K, V_p, T, causal=True)
            O_m, _ = flash_attention_fwd(Q, K, V_m, T, causal=True)
            num = np.sum((O_p - O_m) * dO) / (2 * eps)
            ana = dV[0, 0, n, d]
            max_err = max(max_err, abs(num - ana) / max(abs(num), abs(ana), 1e-8))
    print(f"  dV (2048 elements): max rel err {max_err:.1e}")
    assert max_err < 1e-5, "dV gradient check failed"

    # dQ and dK: spot checks.
    for name, X, dX in (("dQ", Q, dQ), ("dK", K, dK)):
        max_err = 0.0
        for _ in range(10):
            n, d = rng.integers(N), rng.integers(D)
            saved = X[0, 0, n, d]
            X[0, 0, n, d] = saved + eps
            O_p, _ = flash_attention_fwd(Q, K, V, T, causal=True)
            X[0, 0, n, d] = saved - eps
            O_m, _ = flash_attention_fwd(Q, K, V, T, causal=True)
            X[0, 0, n, d] = saved
            num = np.sum((O_p - O_m) * dO) / (2 * eps)
            ana = dX[0, 0, n, d]
            max_err = max(max_err, abs(num - ana) / max(abs(num), abs(ana), 1e-8))
        print(f"  {name} (10 elements): max rel err {max_err:.1e}")
        assert max_err < 1e-5, f"{name} gradient check failed"
    print("  PASS")

    # ---- Test 2: against the naive backward ----------------------------------
    print("Test 2: tiled vs. naive backward, B=2, H=4, N=256, D=64, tile=64")
    rng = np.random.default_rng(2)
    Q, K, V, dO = (rng.standard_normal((2, 4, 256, 64)) for _ in range(4))
    O, cache = flash_attention_fwd(Q, K, V, 64, causal=True)
    grads = flash_attention_bwd(dO, cache, 64, causal=True)
    _, *grads_ref = naive_attention_bwd(Q, K, V, dO, causal=True)
    for name, g, g_ref in zip(("dQ", "dK", "dV"), grads, grads_ref):
        err = np.max(np.abs(g - g_ref)) / np.max(np.abs(g_ref))
        print(f"  {name}: rel err {err:.10f}")
        assert err < 1e-4, f"{name} does not match the naive backward"
    print("  PASS")

    # ---- Test 3: memory ------------------------------------------------------
    print("Test 3: memory, N=4096, D=64, tile=128")
    N, D, T = 4096, 64, 128
    rng = np.random.default_rng(3)
    Q, K, V = (rng.standard_normal((1, 1, N, D)) for _ in range(3))
    tracemalloc.start()
    O, cache = flash_attention_fwd(Q, K, V, T, causal=True)
    dO = rng.standard_normal(O.shape)
    dQ, dK, dV = flash_attention_bwd(dO, cache, T, causal=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    full = N * N * 4
    print(f"  peak {peak / 1e6:.1f} MB of {full / 1e6:.1f} MB ({peak / full:.1%})")
    assert np.isfinite(dQ).all() and np.isfinite(dK).all() and np.isfinite(dV).all()
    assert peak < 0.20 * full, "peak memory too high"
    print("  PASS")
    print("All tests passed.")
