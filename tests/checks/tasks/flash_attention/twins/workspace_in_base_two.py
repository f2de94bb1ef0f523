# style: one workspace for all tiles, base 2, heads folded, keys from the diagonal down; statistics on demand
"""FlashAttention-2 style forward: base-2 softmax, (B*H) folded, query-parallel, workspace allocated once."""
from dataclasses import dataclass
import numpy as np

LOG2E = 1.4426950408889634
LN2 = 0.6931471805599453


@dataclass(frozen=True)
class AttentionStats:
    lse: np.ndarray         # (B, H, N) natural-log sum of exponentials
    tiles_visited: int
    tiles_skipped: int


class _Workspace:
    """One allocation for all tiles; views are cut for ragged edges."""

    def __init__(self, bh, t, d, dtype):
        self.s = np.empty((bh, t, t), dtype)
        self.pv = np.empty((bh, t, d), dtype)

    def scores(self, tq, tk):
        return self.s[:, :tq, :tk]

    def product(self, tq):
        return self.pv[:, :tq]


def _fold(x):
    b, h, n, d = x.shape
    return np.ascontiguousarray(x).reshape(b * h, n, d)


def flash_attention_fwd(Q, K, V, *, tile_size=64, causal=True, return_stats=False):
    B, H, N, D = Q.shape
    dtype = Q.dtype
    q, k, v = _fold(Q), _fold(K), _fold(V)
    T = min(tile_size, N)
    c = dtype.type(LOG2E / np.sqrt(D))
    out = np.zeros_like(q)
    lse2 = np.full((B * H, N), -np.inf, dtype)
    ws = _Workspace(B * H, T, D, dtype)
    visited = skipped = 0

    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        q0 = 0
        while q0 < N:
            q1 = min(q0 + T, N)
            tq = q1 - q0
            acc = np.zeros((B * H, tq, D), dtype)
            m = np.full((B * H, tq), -np.inf, dtype)
            l = np.zeros((B * H, tq), dtype)
            k_end = q1 if causal else N
            # walk the keys from the diagonal down to zero: the diagonal tile always holds a visible key,
            # so the running maximum is finite from the first step on
            starts = list(range(0, k_end, T))[::-1]
            skipped += (N - k_end + T - 1) // T
            for k0 in starts:
                k1 = min(k0 + T, k_end)
                visited += 1
                s = ws.scores(tq, k1 - k0)
                np.matmul(q[:, q0:q1], k[:, k0:k1].transpose(0, 2, 1), out=s)
                s *= c
                if causal and k1 > q0 + 1:
                    r = np.arange(q0, q1)[:, None]
                    s[:, np.arange(k0, k1)[None, :] > r] = -np.inf
                m_new = np.maximum(m, s.max(axis=2))
                ref = np.where(m_new == -np.inf, dtype.type(0), m_new)
                s -= ref[:, :, None]
                np.exp2(s, out=s)
                alpha = np.exp2(m - ref)
                l = l * alpha + s.sum(axis=2)
                pv = ws.product(tq)
                np.matmul(s, v[:, k0:k1], out=pv)
                acc *= alpha[:, :, None]
                acc += pv
                m = m_new
            seen = l > 0
            inv = np.where(seen, 1 / np.where(seen, l, 1), 0)
            out[:, q0:q1] = acc * inv[:, :, None]
            lse2[:, q0:q1] = np.where(seen, m + np.log2(np.where(seen, l, 1)), -np.inf)
            q0 = q1
    O = out.reshape(B, H, N, D)
    if return_stats:
        return O, AttentionStats((lse2 * dtype.type(LN2)).reshape(B, H, N), visited, skipped)
    return O


def _reference(Q, K, V, causal):
    S = np.einsum("bhqd,bhkd->bhqk", Q, K) / np.sqrt(Q.shape[-1])
    if causal:
        S[..., np.triu(np.ones(S.shape[-2:], bool), 1)] = -np.inf
    P = np.exp(S - S.max(-1, keepdims=True))
    return np.einsum("bhqk,bhkd->bhqd", P / P.sum(-1, keepdims=True), V)


def main():
    g = np.random.Generator(np.random.PCG64(1234))
    worst = 0.0
    for (b, h, n, d, t) in [(1, 1, 16, 4, 4), (2, 2, 33, 8, 8), (1, 3, 100, 16, 32), (1, 1, 5, 4, 128)]:
        for causal in (False, True):
            Q, K, V = g.normal(size=(3, b, h, n, d))
            O, st = flash_attention_fwd(Q, K, V, tile_size=t, causal=causal, return_stats=True)
            worst = max(worst, float(np.abs(O - _reference(Q, K, V, causal)).max()))
            print(f"{(b, h, n, d)} T={t} causal={causal}: visited {st.tiles_visited}, skipped {st.tiles_skipped}")
    print("max abs error", worst)
    assert worst < 1e-12


if __name__ == "__main__":
    main()
