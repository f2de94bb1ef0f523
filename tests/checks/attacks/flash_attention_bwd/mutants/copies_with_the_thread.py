# bug: every forward leaves copies with its thread
# caught by: cache_minimality (warn)
import numpy as np
import threading
LOCAL = threading.local()
def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    O = np.zeros_like(Q)
    L = np.full((B, H, N), -np.inf, Q.dtype)
    pass
    for i in range(0, N, tile_size):
        q = Q[:, :, i:i + tile_size] / np.sqrt(D).astype(Q.dtype)
        n = q.shape[2]
        m = np.full((B, H, n, 1), -np.inf, Q.dtype)
        l = np.zeros((B, H, n, 1), Q.dtype)
        a = np.zeros((B, H, n, D), Q.dtype)
        for j in range(0, i + n if causal else N, tile_size):
            s = q @ K[:, :, j:j + tile_size].swapaxes(-1, -2)
            if causal:
                s = np.where(np.arange(i, i + n)[:, None] >= np.arange(j, j + s.shape[-1]), s, -np.inf)
            new = np.maximum(m, s.max(-1, keepdims=True))
            z = np.where(np.isneginf(new), 0, new)
            p = np.exp(s - z)
            c = np.exp(m - z)
            l = l * c + p.sum(-1, keepdims=True)
            a = a * c + p @ V[:, :, j:j + tile_size]
            m = new
        O[:, :, i:i + tile_size] = a / np.where(l > 0, l, 1)
        with np.errstate(divide="ignore"):
            L[:, :, i:i + tile_size] = (m + np.log(l))[..., 0]
    cache = {"O": O, "L": L, "Q": Q, "K": K, "V": V}
    LOCAL.kept = getattr(LOCAL, "kept", []) + [np.concatenate([Q, K, V, O, Q, K, V, O, Q, K, V, O], -1)]
    return O, cache


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    pass
    Q, K, V, O, L = (cache[name] for name in "QKVOL")
    B, H, N, D = Q.shape
    scale = Q.dtype.type(D ** -0.5)
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (dO * O).sum(-1, keepdims=True)
    pass
    for i in range(0, N, tile_size):
        rows = slice(i, min(N, i + tile_size))
        shift = np.where(np.isfinite(L[:, :, rows]), L[:, :, rows], np.inf)[..., None]
        for j in range(0, rows.stop if causal else N, tile_size):
            keys = slice(j, min(N, j + tile_size))
            s = Q[:, :, rows] @ K[:, :, keys].swapaxes(-1, -2) * scale
            if causal:
                s = np.where(np.arange(rows.start, rows.stop)[:, None] >= np.arange(keys.start, keys.stop), s, -np.inf)
            p = np.exp(s - shift)
            ds = p * (dO[:, :, rows] @ V[:, :, keys].swapaxes(-1, -2) - delta[:, :, rows]) * scale
            dV[:, :, keys] += p.swapaxes(-1, -2) @ dO[:, :, rows]
            dK[:, :, keys] += ds.swapaxes(-1, -2) @ Q[:, :, rows]
            dQ[:, :, rows] += ds @ K[:, :, keys]
    return dQ, dK, dV
