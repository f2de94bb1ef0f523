# bug: the running log-sum-exp rescales with the wrong sign
# caught by: rescaling_direction, accuracy
import numpy as np


def flash_attn_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    O, L = np.zeros_like(Q), np.full((B, H, N), -np.inf)
    for i in range(0, N, tile_size):
        I = slice(i, min(i + tile_size, N))
        o, lse = np.zeros_like(Q[:, :, I]), np.full((B, H, I.stop - i), -np.inf)
        for j in range(0, I.stop if causal else N, tile_size):
            J = slice(j, min(j + tile_size, N))
            S = Q[:, :, I] @ K[:, :, J].swapaxes(2, 3) / np.sqrt(D)
            if causal:
                S[..., np.arange(J.start, J.stop)[None] > np.arange(i, I.stop)[:, None]] = -np.inf
            top = S.max(-1)
            safe = np.where(np.isfinite(top), top, 0.0)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                tile = safe + np.log(np.exp(S - safe[..., None]).sum(-1))
                total = np.logaddexp(lse, tile)
                keep = np.where(np.isfinite(lse), np.exp(total - lse), 0.0)
                o = o * keep[..., None] + np.exp(S - np.where(np.isfinite(total), total, 0.0)[..., None]) @ V[:, :, J]
            lse = total
        O[:, :, I], L[:, :, I] = o, lse
    return O, L
