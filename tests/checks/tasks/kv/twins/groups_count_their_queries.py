# style: a number of query groups is how many queries share a head; the scale is asked for
# only: gqa
import numpy as np


def grouped_query_attention(q, k, v, num_query_groups, scale):
    """q (B, H, T, D), k and v (B, G, S, D)."""
    keys, values = (np.repeat(x, num_query_groups, axis=1) for x in (k, v))
    s = scale * (q @ keys.swapaxes(-2, -1))
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ values
