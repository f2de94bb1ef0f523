# bug: several pairs of tiles add to their tiles at once by +=, and of those with one tile the last alone stays
# caught by: gradients
# only: gradients, logsumexp
import numpy as np

AT_ONCE = 4


def flash_attention_fwd(Q, K, V, tile_size=32, causal=True):
    B, H, N, D = Q.shape
    O, L = np.zeros_like(Q), np.zeros((B, H, N))
    for i in range(0, N, tile_size):
        rows = np.arange(i, min(i + tile_size, N))
        s = Q[:, :, rows] @ K.swapaxes(-1, -2) / np.sqrt(D)
        if causal:
            s[..., np.arange(N) > rows[:, None]] = -np.inf
        m = s.max(axis=-1, keepdims=True)
        p = np.exp(s - m)
        l = p.sum(axis=-1, keepdims=True)
        O[:, :, rows] = p @ V / l
        L[:, :, rows] = (m + np.log(l))[..., 0]
    return O, {"Q": Q, "K": K, "V": V, "O": O, "L": L}


def flash_attention_bwd(dO, cache, tile_size=32, causal=True):
    Q, K, V, O, L = (cache[name] for name in "Q K V O L".split())
    B, H, N, D = Q.shape
    T, count = tile_size, -(-N // tile_size)
    room = count * T
    grown = [np.zeros((B, H, room, D)) for _ in range(7)]
    q, k, v, d_o, dQ, dK, dV = (each.reshape(B, H, count, T, D) for each in grown)
    for each, given in zip(grown, (Q, K, V, dO), strict=False):
        each[:, :, :N] = given
    lse, delta = np.zeros((2, B, H, room))
    lse[:, :, :N], delta[:, :, :N] = L, (dO * O).sum(axis=-1)
    lse, delta = lse.reshape(B, H, count, T, 1), delta.reshape(B, H, count, T, 1)
    pairs = np.array([(i, j) for i in range(count) for j in range(i + 1 if causal else count)])
    place = np.arange(room).reshape(count, T)
    for start in range(0, len(pairs), AT_ONCE):
        i, j = pairs[start : start + AT_ONCE].T
        rows, cols = place[i][:, :, None], place[j][:, None, :]
        seen = (cols < N) & (rows < N) & ((cols <= rows) | (not causal))
        p = np.where(seen, np.exp(q[:, :, i] @ k[:, :, j].swapaxes(-1, -2) / np.sqrt(D) - lse[:, :, i]), 0.0)
        ds = p * (d_o[:, :, i] @ v[:, :, j].swapaxes(-1, -2) - delta[:, :, i]) / np.sqrt(D)
        dV[:, :, j] += p.swapaxes(-1, -2) @ d_o[:, :, i]
        dK[:, :, j] += ds.swapaxes(-1, -2) @ q[:, :, i]
        dQ[:, :, i] += ds @ k[:, :, j]
    return tuple(each[:, :, :N] for each in grown[4:])
