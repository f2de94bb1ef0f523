# style: plain Python on nested lists; backward(cache, dO) with a dict of dicts
# skips: kv_passes
# slow: peak_memory, rescaling_direction, nan_masked_tiles, cache_minimality
import math


def _dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    Q, K, V = (X.tolist() if hasattr(X, "tolist") else X for X in (Q, K, V))
    width = len(Q[0][0][0])
    out, stats = [], []
    for q, k, v in zip(Q, K, V):
        out.append([])
        stats.append([])
        for qh, kh, vh in zip(q, k, v):
            rows, lse = [], []
            for i, qi in enumerate(qh):
                top, total, acc = -math.inf, 0.0, [0.0] * width
                for j0 in range(0, i + 1 if causal else len(kh), tile_size):
                    tile = range(j0, min(j0 + tile_size, i + 1 if causal else len(kh)))
                    s = [_dot(qi, kh[j]) / math.sqrt(width) for j in tile]
                    new = max(top, max(s))
                    if new == -math.inf:
                        continue
                    shrink = math.exp(top - new)
                    w = [math.exp(x - new) for x in s]
                    total = total * shrink + sum(w)
                    acc = [a * shrink + sum(wj * vh[j][c] for wj, j in zip(w, tile)) for c, a in enumerate(acc)]
                    top = new
                rows.append([a / total for a in acc] if total else acc)
                lse.append(top + math.log(total) if total else -math.inf)
            out[-1].append(rows)
            stats[-1].append(lse)
    return out, {"O": out, "L": stats, "Q": Q, "K": K, "V": V}


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    dO = dO.tolist() if hasattr(dO, "tolist") else dO
    Q, K, V, O, L = (cache[name] for name in "QKVOL")
    n, width = len(Q[0][0]), len(Q[0][0][0])
    zeros = lambda: [[[[0.0] * width for _ in range(n)] for _ in q] for q in Q]
    dQ, dK, dV = zeros(), zeros(), zeros()
    for b in range(len(Q)):
        for h in range(len(Q[b])):
            for i in range(n):
                if L[b][h][i] == -math.inf:
                    continue
                qi, gi = Q[b][h][i], dO[b][h][i]
                delta = _dot(gi, O[b][h][i])
                for j in range(i + 1 if causal else n):
                    p = math.exp(_dot(qi, K[b][h][j]) / math.sqrt(width) - L[b][h][i])
                    ds = p * (_dot(gi, V[b][h][j]) - delta) / math.sqrt(width)
                    for c in range(width):
                        dV[b][h][j][c] += p * gi[c]
                        dQ[b][h][i][c] += ds * K[b][h][j][c]
                        dK[b][h][j][c] += ds * qi[c]
    return dQ, dK, dV
