import numpy as np

def flash_attention(Q, K, V, mask=None, block_size=16):
    """mask: additive (N, N), 0 or -inf; None for full attention."""
    B, H, N, D = Q.shape
    O = np.zeros_like(Q)
    for i in range(0, N, block_size):
        Qi = Q[:, :, i:i + block_size]
        m = np.full(Qi.shape[:3], -np.inf); l = np.zeros(Qi.shape[:3]); acc = np.zeros(Qi.shape)
        for j in range(0, N, block_size):
            Kj, Vj = K[:, :, j:j + block_size], V[:, :, j:j + block_size]
            if mask is not None:
                tile = mask[i:i + block_size, j:j + block_size]
                if np.all(np.isneginf(tile)):
                    continue
            S = Qi @ Kj.transpose(0, 1, 3, 2) / np.sqrt(D)
            if mask is not None:
                S = S + tile
            mn = np.maximum(m, S.max(-1))
            z = np.where(np.isneginf(mn), 0.0, mn)
            P = np.exp(S - z[..., None]); c = np.exp(m - z)
            l = c * l + P.sum(-1); acc = c[..., None] * acc + P @ Vj; m = mn
        O[:, :, i:i + block_size] = np.where(l[..., None] > 0, acc / np.maximum(l, 1e-300)[..., None], 0)
    return O
