# bug: keys are attended to in chunks of 24, and the chunks' answers are averaged, whatever their sums of exponentials
# caught by: accuracy
import numpy as np

CHUNK = 24


class ChunkedAttention:
    def __init__(self, tile_size=16, causal=True):
        self.tile_size = tile_size
        self.causal = causal

    def _softmax_av(self, scores, v):
        shift = scores.max(-1, keepdims=True)
        e = np.exp(scores - np.where(np.isfinite(shift), shift, 0))
        mass = e.sum(-1, keepdims=True)
        return e @ v / np.where(mass > 0, mass, 1)

    def _chunk(self, q, first_row, k, v, first_key):
        s = np.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
        if self.causal:
            later = first_key + np.arange(k.shape[2]) > first_row + np.arange(q.shape[2])[:, None]
            s[..., later] = -np.inf
        return self._softmax_av(s, v)

    def forward(self, q, k, v):
        n = q.shape[2]
        out = np.empty(q.shape, dtype=q.dtype)
        for i in range(0, n, self.tile_size):
            rows = q[:, :, i : i + self.tile_size]
            total, count = np.zeros(rows.shape), np.zeros((rows.shape[2], 1))
            for j in range(0, n, CHUNK):
                if self.causal and j > i + rows.shape[2] - 1:
                    break
                total += self._chunk(rows, i, k[:, :, j : j + CHUNK], v[:, :, j : j + CHUNK], j)
                count += (j <= i + np.arange(rows.shape[2])[:, None]) if self.causal else 1
            out[:, :, i : i + self.tile_size] = total / count
        return out


def flash_attention_fwd(Q, K, V, tile_size=16, causal=True):
    return ChunkedAttention(tile_size, causal).forward(Q, K, V)
