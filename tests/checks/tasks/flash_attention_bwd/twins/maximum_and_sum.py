# style: keeps m and l in place of L; cache is a list; one array of gradients (3, B, H, N, D)
# warns: peak_memory (strips of N x T scores)
import numpy as np


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    m = np.full((B, H, N), -np.inf)
    l = np.zeros((B, H, N))
    O = np.zeros((B, H, N, D))
    for lo in range(0, N, tile_size):
        hi = min(N, lo + tile_size)
        for b in range(B):
            for h in range(H):
                first = lo if causal else 0
                S = Q[b, h, first:] @ K[b, h, lo:hi].T / np.sqrt(D)
                if causal:
                    S[np.arange(first, N)[:, None] < np.arange(lo, hi)] = -np.inf
                new = np.maximum(m[b, h, first:], S.max(1))
                ref = np.maximum(new, np.finfo(float).min)
                P = np.exp(S - ref[:, None])
                f = np.exp(m[b, h, first:] - ref)
                l[b, h, first:] = f * l[b, h, first:] + P.sum(1)
                O[b, h, first:] = f[:, None] * O[b, h, first:] + P @ V[b, h, lo:hi]
                m[b, h, first:] = new
    O /= np.where(l == 0, 1, l)[..., None]
    return O, [Q, K, V, O, m, l]


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    Q, K, V, O, m, l = cache
    B, H, N, D = Q.shape
    dQKV = np.zeros((3, B, H, N, D))
    r = (dO * O).sum(-1)
    ref = np.maximum(m, np.finfo(float).min)
    inv = 1 / np.where(l == 0, 1, l)
    for lo in range(0, N, tile_size):
        hi = min(N, lo + tile_size)
        for b in range(B):
            for h in range(H):
                first = lo if causal else 0
                S = Q[b, h, first:] @ K[b, h, lo:hi].T / np.sqrt(D)
                if causal:
                    S[np.arange(first, N)[:, None] < np.arange(lo, hi)] = -np.inf
                P = np.exp(S - ref[b, h, first:, None]) * inv[b, h, first:, None]
                dS = P * (dO[b, h, first:] @ V[b, h, lo:hi].T - r[b, h, first:, None]) / np.sqrt(D)
                dQKV[0, b, h, first:] += dS @ K[b, h, lo:hi]
                dQKV[1, b, h, lo:hi] += dS.T @ Q[b, h, first:]
                dQKV[2, b, h, lo:hi] += P.T @ dO[b, h, first:]
    return dQKV[0], dQKV[1], dQKV[2]
