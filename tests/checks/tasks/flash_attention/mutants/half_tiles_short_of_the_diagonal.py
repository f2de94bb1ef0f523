# bug: keys come in half tiles, and the causal bound takes two of them for one tile of queries: an odd tile loses keys
# caught by: accuracy
# passes: rescaling_direction
"""FlashAttention forward pass (tiled, online softmax), NumPy.

Layout: heads are folded into one leading axis, (B, H, N, D) -> (B*H, N, D), and each tile product
is one batched matmul.  The block shape is rectangular: a query block has `tile_size` rows, a key
block half as many columns.  That keeps (scores + K block + V block) in about the footprint of one
square tile, at two key blocks per query block.
"""
import numpy as np

NEG = -np.inf


def _block_shape(tile_size, n):
    rows = max(1, min(int(tile_size), n))
    return rows, max(1, rows // 2)


def _key_blocks(i, rows, cols, n, causal):
    """How many key blocks query block `i` has to visit."""
    total = -(-n // cols)
    if not causal:
        return total
    per_row_block = rows // cols                 # key blocks per query block
    return min(total, (i + 1) * per_row_block)


def _online_step(s, v, m, l, acc):
    """One online-softmax update. s (G, r, c), v (G, c, D); returns the new (m, l, acc)."""
    m_new = np.maximum(m, s.max(axis=-1))
    m_use = np.where(np.isneginf(m_new), 0.0, m_new).astype(s.dtype, copy=False)
    alpha = np.exp(m - m_use)
    p = np.exp(s - m_use[..., None])
    l = alpha * l + p.sum(axis=-1)
    acc = alpha[..., None] * acc + np.matmul(p, v)
    return m_new, l, acc


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    """Exact attention, one tile at a time.

    Args:
        Q, K, V: arrays (B, H, N, D).
        tile_size: rows of a query block.
        causal: mask keys after the query.

    Returns:
        O (B, H, N, D) in the dtype of Q, and L (B, H, N), the row-wise log-sum-exp.
    """
    B, H, N, D = Q.shape
    G = B * H
    work = np.float64 if Q.dtype == np.float64 else np.float32
    q_all, k_all, v_all = (x.reshape(G, N, D) for x in (Q, K, V))
    rows, cols = _block_shape(tile_size, N)
    scale = work(1.0 / np.sqrt(D))

    O = np.empty((G, N, D), dtype=Q.dtype)
    L = np.empty((G, N), dtype=work)
    for i in range(-(-N // rows)):
        i0, i1 = i * rows, min((i + 1) * rows, N)
        q = q_all[:, i0:i1].astype(work) * scale
        m = np.full((G, i1 - i0), NEG, dtype=work)
        l = np.zeros((G, i1 - i0), dtype=work)
        acc = np.zeros((G, i1 - i0, D), dtype=work)
        for j in range(_key_blocks(i, rows, cols, N, causal)):
            j0, j1 = j * cols, min((j + 1) * cols, N)
            if causal and j0 >= i1:
                break
            s = np.matmul(q, k_all[:, j0:j1].astype(work, copy=False).transpose(0, 2, 1))
            if causal and j1 - 1 > i0:
                hidden = np.arange(j0, j1)[None, :] > np.arange(i0, i1)[:, None]
                s[:, hidden] = NEG
            m, l, acc = _online_step(s, v_all[:, j0:j1].astype(work, copy=False), m, l, acc)
        empty = l == 0
        norm = np.where(empty, 1.0, l).astype(work, copy=False)
        O[:, i0:i1] = acc / norm[..., None]
        L[:, i0:i1] = np.where(empty, NEG, m + np.log(norm))
    return O.reshape(B, H, N, D), L.reshape(B, H, N)


def naive_attention(Q, K, V, causal=True):
    S = np.matmul(Q, K.transpose(0, 1, 3, 2)) / np.sqrt(Q.shape[-1])
    if causal:
        n = S.shape[-1]
        S = np.where(np.arange(n)[None, :] > np.arange(n)[:, None], NEG, S)
    P = np.exp(S - S.max(axis=-1, keepdims=True))
    return np.matmul(P / P.sum(axis=-1, keepdims=True), V)
