# bug: rowsum(dO * O) is summed over rows
# caught by: gradients, gradient_identities
import math

import numpy as np


class FlashAttention:
    """Tiled attention with a hand-written backward."""

    def __init__(self, tile_size=64, causal=True):
        self.tile_size = tile_size
        self.causal = causal
        self.saved = None

    def _blocks(self, n):
        return [slice(s, min(n, s + self.tile_size)) for s in range(0, n, self.tile_size)]

    def _scores(self, q, k, rows, cols):
        s = np.einsum("bhid,bhjd->bhij", q[:, :, rows], k[:, :, cols]) / math.sqrt(q.shape[-1])
        if self.causal:
            hidden = np.arange(cols.start, cols.stop)[None] > np.arange(rows.start, rows.stop)[:, None]
            s = np.where(hidden, -np.inf, s)
        return s

    def forward(self, q, k, v):
        n = q.shape[2]
        out = np.empty(q.shape)
        lse = np.empty(q.shape[:3])
        for rows in self._blocks(n):
            top = np.full((*q.shape[:2], rows.stop - rows.start), -np.inf)
            total = np.zeros_like(top)
            acc = np.zeros((*top.shape, q.shape[-1]))
            for cols in self._blocks(n):
                if self.causal and cols.start >= rows.stop:
                    break
                s = self._scores(q, k, rows, cols)
                new = np.maximum(top, s.max(-1))
                shift = np.where(new == -np.inf, 0.0, new)
                w = np.exp(s - shift[..., None])
                keep = np.exp(top - shift)
                total = total * keep + w.sum(-1)
                acc = acc * keep[..., None] + np.einsum("bhij,bhjd->bhid", w, v[:, :, cols])
                top = new
            seen = total > 0
            out[:, :, rows] = acc / np.where(seen, total, 1.0)[..., None]
            with np.errstate(divide="ignore"):
                lse[:, :, rows] = top + np.log(total)
        self.saved = (q, k, v, out, lse)
        return out

    def backward(self, grad_output):
        q, k, v, out, lse = self.saved
        scale = 1 / math.sqrt(q.shape[-1])
        grads = {name: np.zeros(q.shape) for name in ("dq", "dk", "dv")}
        blocks = self._blocks(q.shape[2])
        # Rows without a key have lse = -inf; any finite number gives them weights of exp(-inf) = 0.
        lse = np.where(np.isinf(lse), 0.0, lse)
        for rows in blocks:
            g = grad_output[:, :, rows]
            delta = np.einsum("bhid,bhid->bhd", g, out[:, :, rows]).sum(-1)[..., None, None]
            for cols in blocks:
                if self.causal and cols.start >= rows.stop:
                    break
                p = np.exp(self._scores(q, k, rows, cols) - lse[:, :, rows, None])
                dp = np.einsum("bhid,bhjd->bhij", g, v[:, :, cols])
                ds = scale * p * (dp - delta)
                grads["dv"][:, :, cols] += np.einsum("bhij,bhid->bhjd", p, g)
                grads["dk"][:, :, cols] += np.einsum("bhij,bhid->bhjd", ds, q[:, :, rows])
                grads["dq"][:, :, rows] += np.einsum("bhij,bhjd->bhid", ds, k[:, :, cols])
        return grads
