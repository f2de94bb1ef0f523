# bug: weights of hidden keys are set to 0 behind the sum that l takes of them
# caught by: accuracy
# only: accuracy, purity
import numpy as np


def attention_tile(q, keys, values, state, visible):
    """Fold a tile of keys into (m, l, o)."""
    m, l, o = state
    scores = q @ keys.T
    grown = np.maximum(m, np.where(visible, scores, -np.inf).max(axis=1))
    p = np.exp(scores - grown[:, None])
    fade = np.exp(m - grown)
    l = l * fade + p.sum(axis=1)
    p[~visible] = 0.0
    return grown, l, o * fade[:, None] + p @ values


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    O = np.zeros_like(Q)
    for b, h in np.ndindex(B, H):
        for i in range(0, N, tile_size):
            q = Q[b, h, i : i + tile_size] * D**-0.5
            state = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), D))
            for j in range(0, min(i + tile_size, N) if causal else N, tile_size):
                k = K[b, h, j : j + tile_size]
                visible = np.ones((len(q), len(k)), dtype=bool)
                if causal:
                    visible = np.arange(i, i + len(q))[:, None] >= np.arange(j, j + len(k))
                state = attention_tile(q, k, V[b, h, j : j + tile_size], state, visible)
            O[b, h, i : i + tile_size] = state[2] / state[1][:, None]
    return O
