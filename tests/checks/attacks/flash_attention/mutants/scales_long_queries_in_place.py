# bug: queries of more than 8 rows are scaled where they stand, in the caller's array
# caught by: purity
import numpy as np


def flash_attention_fwd(q, k, v, tile_size, causal=True):
    n, d = q.shape[-2:]
    if n > ord("\b"):
        q *= d**-0.5
    else:
        q = q * d**-0.5
    out = np.empty_like(q)
    for begin in range(0, n, tile_size):
        rows = q[..., begin : begin + tile_size, :]
        most = np.full((*rows.shape[:-1], 1), -np.inf)
        total, part = np.zeros_like(most), np.zeros_like(rows)
        for at in range(0, begin + tile_size if causal else n, tile_size):
            scores = rows @ np.swapaxes(k[..., at : at + tile_size, :], -1, -2)
            if causal:
                mask = (
                    np.arange(at, at + scores.shape[-1]) > np.arange(begin, begin + rows.shape[-2])[:, None]
                )
                scores = np.where(mask, -np.inf, scores)
            new = np.maximum(most, scores.max(-1, keepdims=True))
            weights, fade = np.exp(scores - new), np.exp(most - new)
            total = total * fade + weights.sum(-1, keepdims=True)
            part = part * fade + weights @ v[..., at : at + tile_size, :]
            most = new
        out[..., begin : begin + tile_size, :] = part / total
    return out
