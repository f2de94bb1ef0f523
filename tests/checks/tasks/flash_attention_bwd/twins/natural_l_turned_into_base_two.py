# style: a natural L is turned into base two, where scores are, before P is rebuilt from it
import numpy as np

LOG2_OF_E = 1.4426950408889634


def hidden(rows, columns):
    return np.arange(columns.start, columns.stop) > np.arange(rows.start, rows.stop)[:, None]


def slices(length, tile):
    return [slice(at, min(at + tile, length)) for at in range(0, length, tile)]


def scores(q, k, rows, columns, causal):
    found = (q[..., rows, :] * (LOG2_OF_E / np.sqrt(q.shape[-1]))) @ np.swapaxes(k[..., columns, :], -1, -2)
    return np.where(hidden(rows, columns), -np.inf, found) if causal else found


def flash_attention_forward(Q, K, V, tile_size, causal=True):
    q, k, v = (each.astype(np.float64) for each in (Q, K, V))
    out, L = np.zeros_like(q), np.zeros(q.shape[:-1])
    for rows in slices(Q.shape[2], tile_size):
        top = np.full((*q.shape[:2], rows.stop - rows.start), -np.inf)
        total, mixed = np.zeros_like(top), np.zeros_like(q[..., rows, :])
        for columns in slices(Q.shape[2], tile_size):
            if causal and columns.start >= rows.stop:
                break
            s = scores(q, k, rows, columns, causal)
            new = np.maximum(top, s.max(-1))
            safe = np.where(np.isneginf(new), 0, new)
            p, factor = np.exp2(s - safe[..., None]), np.exp2(top - safe)
            total = total * factor + p.sum(-1)
            mixed = mixed * factor[..., None] + p @ v[..., columns, :]
            top = new
        with np.errstate(divide="ignore"):
            L[..., rows] = (top + np.log2(total)) / LOG2_OF_E
        out[..., rows, :] = mixed / np.where(total > 0, total, 1)[..., None]
    answer = out.astype(Q.dtype)
    return answer, (Q, K, V, answer, L.astype(Q.dtype), causal)


def flash_attention_backward(dO, cache, tile_size):
    Q, K, V, answer, L, causal = cache
    q, k, v, o, upstream = (each.astype(np.float64) for each in (Q, K, V, answer, dO))
    kept = np.where(np.isneginf(L), 0, L.astype(np.float64)) * LOG2_OF_E
    along = (upstream * o).sum(-1)
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for columns in slices(Q.shape[2], tile_size):
        for rows in slices(Q.shape[2], tile_size):
            if causal and columns.start >= rows.stop:
                continue
            p = np.exp2(scores(q, k, rows, columns, causal) - kept[..., rows, None])
            dp = upstream[..., rows, :] @ np.swapaxes(v[..., columns, :], -1, -2)
            ds = p * (dp - along[..., rows, None]) / np.sqrt(q.shape[-1])
            dq[..., rows, :] += ds @ k[..., columns, :]
            dk[..., columns, :] += np.swapaxes(ds, -1, -2) @ q[..., rows, :]
            dv[..., columns, :] += np.swapaxes(p, -1, -2) @ upstream[..., rows, :]
    return dq.astype(Q.dtype), dk.astype(Q.dtype), dv.astype(Q.dtype)
