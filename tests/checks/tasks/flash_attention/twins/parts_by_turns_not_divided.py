# right: every PARTS-th tile of keys goes to one worker, which hands on its maximum, its sum and what is not divided yet
import numpy as np

PARTS = 4


def run(q, tiles):
    """(maximum, sum, weighted values) over the tiles of one worker."""
    m = np.full(q.shape[:-1], -np.inf)
    l = np.zeros(q.shape[:-1])
    acc = np.zeros(q.shape)
    for k, v, hide in tiles:
        s = np.einsum("...qd,...kd->...qk", q, k)
        s[..., hide] = -np.inf
        new = np.maximum(m, s.max(-1))
        ref = np.where(new == -np.inf, 0.0, new)
        f, p = np.exp(m - ref), np.exp(s - ref[..., None])
        l = f * l + p.sum(-1)
        acc = f[..., None] * acc + np.einsum("...qk,...kd->...qd", p, v)
        m = new
    return m, l, acc


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    N, D = Q.shape[-2], Q.shape[-1]
    O = np.zeros(Q.shape, Q.dtype)
    for i in range(0, N, tile_size):
        rows = slice(i, min(i + tile_size, N))
        q = Q[:, :, rows] * D**-0.5
        shares = [[] for _ in range(PARTS)]
        last = rows.stop if causal else N
        for turn, j in enumerate(range(0, last, tile_size)):
            keys = slice(j, min(j + tile_size, last))
            hide = (
                np.arange(keys.start, keys.stop) > np.arange(i, rows.stop)[:, None]
                if causal
                else np.zeros((rows.stop - i, keys.stop - j), bool)
            )
            shares[turn % PARTS].append((K[:, :, keys], V[:, :, keys], hide))
        done = [run(q, share) for share in shares if share]
        top = np.maximum.reduce([m for m, _, _ in done])
        top = np.where(top == -np.inf, 0.0, top)
        scale = [np.exp(m - top) for m, _, _ in done]
        total = sum(f * l for f, (_, l, _) in zip(scale, done))
        acc = sum(f[..., None] * a for f, (_, _, a) in zip(scale, done))
        O[:, :, rows] = acc / np.where(total > 0, total, 1.0)[..., None]
    return O
