# style: a configured object inside, sequence first, keys from the last tile down, a read-only view as answer
"""Works in (N, B*H, D) order inside; the answer is a read-only transposed view."""
import numpy as np


class TiledAttention:
    """Config in the constructor, call with (Q, K, V)."""

    def __init__(self, tile_size: int, *, is_causal: bool = True, softmax_scale: float | None = None):
        self.tile, self.is_causal, self.softmax_scale = tile_size, is_causal, softmax_scale

    def __call__(self, query, key, value):
        b, h, n, d = query.shape
        scale = self.softmax_scale if self.softmax_scale is not None else 1 / d ** 0.5
        q, k, v = (np.moveaxis(x, 2, 0).reshape(x.shape[2], b * h, d) for x in (query, key, value))
        out = np.zeros_like(q)
        for i0 in range(0, n, self.tile):
            i1 = min(n, i0 + self.tile)
            num = np.zeros((i1 - i0, b * h, d), query.dtype)
            den = np.zeros((i1 - i0, b * h), query.dtype)
            top = np.full((i1 - i0, b * h), -np.inf, query.dtype)
            for j0 in reversed(range(0, i1 if self.is_causal else n, self.tile)):
                j1 = min(n, j0 + self.tile)
                s = np.einsum("ixd,jxd->ijx", q[i0:i1], k[j0:j1]) * np.asarray(scale, query.dtype)
                if self.is_causal:
                    s[np.arange(i0, i1)[:, None] < np.arange(j0, j1)] = -np.inf
                new = np.maximum(top, s.max(axis=1))
                safe = np.where(new > -np.inf, new, 0)
                e = np.exp(s - safe[:, None])
                f = np.exp(top - safe)
                den = den * f + e.sum(axis=1)
                num = num * f[..., None] + np.einsum("ijx,jxd->ixd", e, v[j0:j1])
                top = new
            out[i0:i1] = num / np.where(den > 0, den, 1)[..., None]
        answer = np.moveaxis(out.reshape(n, b, h, d), 0, 2)
        answer.flags.writeable = False
        return answer


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    return TiledAttention(tile_size, is_causal=causal)(Q, K, V)
