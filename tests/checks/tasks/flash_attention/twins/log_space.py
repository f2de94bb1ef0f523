"""Keeps O normalized and the running log-sum-exp instead of m and l; returns (O, L)."""
import numpy as np


def flash_attn_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    O, L = np.zeros_like(Q), np.full((B, H, N), -np.inf)
    scale = 1 / np.sqrt(D)
    for i in range(0, N, tile_size):
        I = slice(i, min(i + tile_size, N))
        o = np.zeros_like(Q[:, :, I])
        lse = np.full(o.shape[:-1], -np.inf)
        for j in range(0, I.stop if causal else N, tile_size):
            J = slice(j, min(j + tile_size, N))
            S = scale * Q[:, :, I] @ K[:, :, J].swapaxes(2, 3)
            if causal:
                S[..., np.arange(J.start, J.stop)[None] > np.arange(I.start, I.stop)[:, None]] = -np.inf
            top = S.max(-1)
            shift = np.where(np.isfinite(top), top, 0.0)
            with np.errstate(divide="ignore"):
                tile = shift + np.log(np.exp(S - shift[..., None]).sum(-1))
            total = np.logaddexp(lse, tile)
            safe = np.where(np.isfinite(total), total, 0.0)
            o = o * np.exp(lse - safe)[..., None] + np.exp(S - safe[..., None]) @ V[:, :, J]
            lse = total
        O[:, :, I], L[:, :, I] = o, lse
    return O, L
