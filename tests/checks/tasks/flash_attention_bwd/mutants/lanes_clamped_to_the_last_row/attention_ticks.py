# bug: lanes past the end are clamped to the last row, and += on an index that stands twice adds once
# caught by: gradients, gradient_identities
# passes: accuracy, logsumexp, rescaling_direction
"""Flash attention, forward and backward, over structure-of-arrays storage.

    O, frame = forward_tick(Q, K, V, width=32, causal=True)
    dQ, dK, dV = backward_tick(frame, dO, width=16)

`frame` is what the forward tick leaves for the backward tick: a dict of
arrays (Q, K, V as given, O, and L, the log-sum-exp per row) and the causal flag.
The heads of all batches advance in lockstep in the leading axis.
"""
import numpy as np

from lanes import LaneTable, visible


def _flat(x):
    """(B, H, N, D) -> (B*H, N, D) in float64."""
    x = np.asarray(x)
    return x.reshape(-1, *x.shape[2:]).astype(np.float64, copy=False)


def forward_tick(Q, K, V, width=32, causal=True):
    """Online-softmax attention; returns (O, frame)."""
    if np.ndim(Q) != 4 or not (np.shape(Q) == np.shape(K) == np.shape(V)):
        raise ValueError("Q, K, V: three arrays of one shape (B, H, N, D)")
    q, k, v = _flat(Q), _flat(K), _flat(V)
    heads, n, d = q.shape
    scale = 1.0 / np.sqrt(d)
    lanes = LaneTable(n, width)
    o = np.empty_like(q)
    lse = np.empty((heads, n))

    for gi in range(lanes.groups):
        qi, q_live = lanes.index[gi], lanes.live[gi]
        q_tile = q[:, qi] * scale
        top = np.full((heads, width), -np.inf)
        total = np.zeros((heads, width))
        acc = np.zeros((heads, width, d))
        for gj in range(gi + 1 if causal else lanes.groups):
            kj, k_live = lanes.index[gj], lanes.live[gj]
            s = q_tile @ k[:, kj].transpose(0, 2, 1)
            s = np.where(visible(qi, q_live, kj, k_live, causal), s, -np.inf)
            new_top = np.maximum(top, s.max(axis=-1))
            ref = np.where(np.isneginf(new_top), 0.0, new_top)
            fade = np.exp(top - ref)
            p = np.exp(s - ref[..., None])
            total = total * fade + p.sum(axis=-1)
            acc = acc * fade[..., None] + p @ v[:, kj]
            top = new_top
        hit = total > 0.0
        norm = np.where(hit, total, 1.0)
        rows = qi[q_live]
        o[:, rows] = (acc / norm[..., None])[:, q_live]
        lse[:, rows] = np.where(hit, top + np.log(norm), -np.inf)[:, q_live]

    O = o.reshape(np.shape(Q))
    frame = {"Q": Q, "K": K, "V": V, "O": O, "L": lse.reshape(np.shape(Q)[:3]), "causal": causal}
    return O, frame


def backward_tick(frame, dO, width=32, causal=None):
    """Gradients (dQ, dK, dV) of sum(O * dO); the lane width is free to differ
    from the forward's.  `causal` defaults to what the forward used."""
    if causal is None:
        causal = frame["causal"]
    q, k, v, o, g = (_flat(x) for x in (frame["Q"], frame["K"], frame["V"], frame["O"], dO))
    heads, n, d = q.shape
    lse = np.asarray(frame["L"]).reshape(heads, n)
    ref = np.where(np.isneginf(lse), 0.0, lse)
    delta = np.einsum("hnd,hnd->hn", g, o)
    scale = 1.0 / np.sqrt(d)
    lanes = LaneTable(n, width)
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)

    for gi in range(lanes.groups):
        qi, q_live = lanes.index[gi], lanes.live[gi]
        q_tile, g_tile = q[:, qi] * scale, g[:, qi]
        dq_acc = np.zeros((heads, width, d))
        for gj in range(gi + 1 if causal else lanes.groups):
            kj, k_live = lanes.index[gj], lanes.live[gj]
            k_tile = k[:, kj]
            s = q_tile @ k_tile.transpose(0, 2, 1)
            s = np.where(visible(qi, q_live, kj, k_live, causal), s, -np.inf)
            p = np.exp(s - ref[:, qi, None])
            dp = g_tile @ v[:, kj].transpose(0, 2, 1)
            ds = p * (dp - delta[:, qi, None])
            dq_acc += ds @ k_tile
            # dead lanes have p = ds = 0, so they add nothing to their row
            dv[:, kj] += p.transpose(0, 2, 1) @ g_tile
            dk[:, kj] += ds.transpose(0, 2, 1) @ q_tile
        dq[:, qi[q_live]] = dq_acc[:, q_live] * scale

    shape = np.shape(dO)
    return dq.reshape(shape), dk.reshape(shape), dv.reshape(shape)
