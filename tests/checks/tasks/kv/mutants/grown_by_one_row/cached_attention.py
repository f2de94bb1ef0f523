"""Attention that reads a KvVector.  Every function takes (kv, row, ...): one sequence at a time."""
import numpy as np


def attend(kv, row, q, out=None):
    """Causal attention of the last n tokens of `row`, which are already stored.

    q: [n][q_heads][head_dim].  Query i is token size - n + i and sees all tokens up to itself.
    q_heads may be a multiple of kv_heads (GQA; kv_heads == 1 is MQA): head h reads h / group.
    Returns [n][q_heads][head_dim], in `out` if given.
    """
    q = np.asarray(q)
    n, q_heads, dim = q.shape
    total, kv_heads = kv.size(row), kv.kv_heads()
    if n > total:
        raise ValueError(f"{n} queries but only {total} tokens stored")
    if q_heads % kv_heads:
        raise ValueError("q_heads must be a multiple of kv_heads")
    group = q_heads // kv_heads
    if out is None:
        out = np.empty_like(q)
    keys, values = kv.keys(row), kv.values(row)
    scale = q.dtype.type(1.0 / np.sqrt(dim))
    visible = np.arange(total)[None, :] <= np.arange(total - n, total)[:, None]
    for g in range(kv_heads):
        heads = slice(g * group, (g + 1) * group)
        qg = q[:, heads].transpose(1, 0, 2) * scale           # [group][n][dim]
        score = qg @ keys[g].T                                # [group][n][total]
        score[:, ~visible] = -np.inf
        score -= score.max(axis=2, keepdims=True)
        np.exp(score, out=score)
        score /= score.sum(axis=2, keepdims=True)
        out[:, heads] = (score @ values[g]).transpose(1, 0, 2)
    return out


def prefill(kv, row, q, k, v, chunk=0):
    """Store a prompt and attend over it; chunk > 0 bounds the score matrix to [chunk][total].

    q: [n][q_heads][dim]; k, v: [n][kv_heads][dim].  May be called again to continue a prompt.
    """
    q, k, v = np.asarray(q), np.asarray(k), np.asarray(v)
    out = np.empty_like(q)
    step = chunk if chunk > 0 else max(1, len(q))
    for b in range(0, len(q), step):
        e = min(b + step, len(q))
        kv.append_range(row, k[b:e], v[b:e])
        attend(kv, row, q[b:e], out[b:e])
    return out


def decode(kv, q, k, v, active=None):
    """One token for every row; q: [rows][q_heads][dim], k, v: [rows][kv_heads][dim].

    Rows with active[row] == False (finished sequences) are neither stored nor attended: zeros.
    """
    q = np.asarray(q)
    out = np.zeros_like(q)
    for row in range(kv.rows()):
        if active is not None and not active[row]:
            continue
        kv.push_back(row, k[row], v[row])
        attend(kv, row, q[row:row + 1], out[row:row + 1])
    return out


def kv_bytes_per_token(layers, kv_heads, head_dim, itemsize):
    return 2 * layers * kv_heads * head_dim * itemsize


def max_tokens(budget_bytes, layers, kv_heads, head_dim, itemsize):
    """How many tokens, over all sequences, fit in a budget given in bytes."""
    return int(budget_bytes) // kv_bytes_per_token(layers, kv_heads, head_dim, itemsize)
