# bug: two partial results are merged rightly, but go on with the larger logsumexp of both: a third one weighs too much
# caught by: accuracy, rescaling_direction
import numpy as np


def partial(q, k, v, mask):
    """Attention to a tile of keys and its logsumexp, for each query."""
    s = np.where(mask, q @ np.moveaxis(k, -1, -2), -np.inf)
    top = np.max(s, axis=-1)
    level = np.where(top > -np.inf, top, 0.0)
    p = np.exp(s - level[..., None])
    mass = p.sum(axis=-1)
    with np.errstate(divide="ignore"):
        lse = level + np.log(mass)
    return (p @ v) / np.where(mass > 0, mass, 1.0)[..., None], lse


def merged(one, other):
    (o1, l1), (o2, l2) = one, other
    high = np.maximum(l1, l2)
    base = np.where(high > -np.inf, high, 0.0)
    w1, w2 = np.exp(l1 - base), np.exp(l2 - base)
    share = np.where(w1 + w2 > 0, w1 / np.where(w1 + w2 > 0, w1 + w2, 1.0), 0.0)[..., None]
    return share * o1 + (1.0 - share) * o2, high


def flash_attention_fwd(Q, K, V, tile_size=64, causal=True):
    length, width = Q.shape[2], Q.shape[3]
    result = np.zeros_like(Q)
    for i in range(0, length, tile_size):
        rows = np.arange(i, min(i + tile_size, length))
        q = Q[:, :, rows] / np.sqrt(width)
        state = None
        for j in range(0, rows[-1] + 1 if causal else length, tile_size):
            keys = np.arange(j, min(j + tile_size, length))
            mask = keys <= rows[:, None] if causal else np.ones((len(rows), len(keys)), bool)
            part = partial(q, K[:, :, keys], V[:, :, keys], mask)
            state = part if state is None else merged(state, part)
        result[:, :, rows] = state[0]
    return result
