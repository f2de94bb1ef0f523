import numpy as np

from .online import OnlineSoftmax


class FlashAttention:
    def __call__(self, query, key, value, q_block_size=64, kv_block_size=64, use_causal_mask=True):
        *lead, n, d = query.shape
        out = np.empty(query.shape)
        for r in range(0, n, q_block_size):
            q = query[..., r : r + q_block_size, :] / np.sqrt(d)
            run = OnlineSoftmax(q.shape[:-1], d)
            for c in range(0, n, kv_block_size):
                if use_causal_mask and c > r + q.shape[-2] - 1:
                    continue
                k = key[..., c : c + kv_block_size, :]
                s = q @ np.swapaxes(k, -1, -2)
                if use_causal_mask:
                    i, j = np.ogrid[r : r + q.shape[-2], c : c + k.shape[-2]]
                    s = np.where(j <= i, s, -np.inf)
                run.update(s, value[..., c : c + kv_block_size, :])
            out[..., r : r + q_block_size, :] = run.result()
        return out
