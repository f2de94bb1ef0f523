# bug: the row sum is that of the first head
# caught by: gradients, gradient_identities
"""Batch and heads folded into one axis; weights in base 2; tiles of queries stay, keys stream by."""
import numpy as np

LOG2_E = np.log2(np.e)


def fold(x):
    return x.reshape(-1, *x.shape[2:])


class KeyStream:
    """Tiles of keys and values that a tile of queries [lo, hi) needs, with their scores in base 2."""

    def __init__(self, k, v, tile, causal):
        self.k, self.v, self.tile, self.causal = k, v, tile, causal

    def __call__(self, q, lo):
        hi = lo + q.shape[1]
        factor = LOG2_E / np.sqrt(q.shape[2])
        for at in range(0, self.k.shape[1], self.tile):
            if self.causal and at >= hi:
                return
            keys, values = self.k[:, at : at + self.tile], self.v[:, at : at + self.tile]
            s = (q @ keys.swapaxes(1, 2)) * factor
            if self.causal:
                s = np.where(np.arange(lo, hi)[:, None] - np.arange(at, at + keys.shape[1])[None] < 0, -np.inf, s)
            yield slice(at, at + keys.shape[1]), keys, values, s


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    q, stream = fold(Q), KeyStream(fold(K), fold(V), tile_size, causal)
    o, lse = np.zeros_like(q), np.empty(q.shape[:2], q.dtype)
    for lo in range(0, q.shape[1], tile_size):
        rows = q[:, lo : lo + tile_size]
        m = np.full((*rows.shape[:2], 1), -np.inf)
        l, a = np.zeros(m.shape), np.zeros(rows.shape)
        for _span, _keys, values, s in stream(rows, lo):
            peak = np.maximum(m, s.max(2, keepdims=True))
            finite = np.where(peak > -np.inf, peak, 0)
            p, f = np.exp2(s - finite), np.exp2(m - finite)
            l, a, m = l * f + p.sum(2, keepdims=True), a * f + p @ values, peak
        o[:, lo : lo + tile_size] = np.divide(a, l, out=np.zeros(a.shape), where=l > 0)
        with np.errstate(divide="ignore"):
            lse[:, lo : lo + tile_size] = ((m + np.log2(l)) / LOG2_E)[..., 0]
    O, L = o.reshape(Q.shape), lse.reshape(Q.shape[:3])
    return O, {"O": O, "L": L, "Q": Q, "K": K, "V": V}


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    q, k, v, o, g = (fold(x) for x in (cache["Q"], cache["K"], cache["V"], cache["O"], dO))
    lse = fold(cache["L"]) * LOG2_E
    lse = np.where(lse == -np.inf, np.inf, lse)[..., None]
    delta = (g[0] * o[0]).sum(1)[None, :, None]
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    stream, scale = KeyStream(k, v, tile_size, causal), 1 / np.sqrt(q.shape[2])
    for lo in range(0, q.shape[1], tile_size):
        t = slice(lo, lo + tile_size)
        for span, keys, values, s in stream(q[:, t], lo):
            p = np.exp2(s - lse[:, t])
            ds = scale * p * (g[:, t] @ values.swapaxes(1, 2) - delta[:, t])
            dq[:, t] += ds @ keys
            dk[:, span] += ds.swapaxes(1, 2) @ q[:, t]
            dv[:, span] += p.swapaxes(1, 2) @ g[:, t]
    return tuple(x.reshape(dO.shape) for x in (dq, dk, dv))
