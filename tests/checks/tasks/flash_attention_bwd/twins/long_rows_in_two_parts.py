# style: past 700 positions dK and dV are gathered in two parts of the queries
# only: gradients, accuracy, rescaling_direction
import numpy as np

LONG = 700


def _scores(q, k, rows, causal):
    s = q @ k.swapaxes(-2, -1) / np.sqrt(q.shape[-1])
    return np.where(np.arange(k.shape[2]) <= rows[:, None], s, -np.inf) if causal else s


def flash_attention_fwd(Q, K, V, tile_size=64, causal=True):
    O, L = np.empty_like(Q), np.empty(Q.shape[:3], Q.dtype)
    for at in range(0, Q.shape[2], tile_size):
        span = slice(at, at + tile_size)
        q = Q[:, :, span]
        m = np.full((*q.shape[:3], 1), -np.inf)
        l, o, rows = np.zeros_like(m), np.zeros_like(q), np.arange(at, at + q.shape[2])
        for to in range(0, rows[-1] + 1 if causal else Q.shape[2], tile_size):
            k, v = K[:, :, to : to + tile_size], V[:, :, to : to + tile_size]
            s = _scores(q, k, rows - to, causal)
            new = np.maximum(m, s.max(-1, keepdims=True))
            p, a = np.exp(s - new), np.exp(m - new)
            m, l, o = new, l * a + p.sum(-1, keepdims=True), o * a + p @ v
        O[:, :, span], L[:, :, span] = o / l, (m + np.log(l))[..., 0]
    return O, {"O": O, "L": L, "Q": Q, "K": K, "V": V}


def flash_attention_bwd(dO, cache, tile_size=64, causal=True):
    Q, K, V, O, L = (cache[name] for name in "QKVOL")
    length = Q.shape[2]
    cuts = [0, length // 2, length] if length > LONG else [0, length]
    dQ, found = np.zeros_like(Q), []
    for begin, end in zip(cuts, cuts[1:]):
        dK, dV = np.zeros_like(K), np.zeros_like(V)
        for at in range(begin, end, tile_size):
            span = slice(at, min(at + tile_size, end))
            q, do, rows = Q[:, :, span], dO[:, :, span], np.arange(length)[span]
            delta = (do * O[:, :, span]).sum(-1, keepdims=True)
            for to in range(0, rows[-1] + 1 if causal else length, tile_size):
                other = slice(to, to + tile_size)
                k, v = K[:, :, other], V[:, :, other]
                p = np.exp(_scores(q, k, rows - to, causal) - L[:, :, span, None])
                dV[:, :, other] += p.swapaxes(-2, -1) @ do
                ds = p * (do @ v.swapaxes(-2, -1) - delta) / np.sqrt(Q.shape[-1])
                dQ[:, :, span] += ds @ k
                dK[:, :, other] += ds.swapaxes(-2, -1) @ q
        found.append((dK, dV))
    return dQ, sum(one for one, _ in found), sum(other for _, other in found)
