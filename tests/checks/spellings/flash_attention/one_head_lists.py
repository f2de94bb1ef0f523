"""Pure Python for one head: lists of rows."""
import math


def flash_attention(q, k, v, tile_size, causal=True):
    if isinstance(q[0][0], list):
        raise TypeError("rows of numbers are wanted")
    width, out = len(q[0]), []
    for i, row in enumerate(q):
        top, total, acc = -math.inf, 0.0, [0.0] * width
        stop = i + 1 if causal else len(k)
        for start in range(0, stop, tile_size):
            scores = [
                math.fsum(a * b for a, b in zip(row, k[j])) / math.sqrt(width)
                for j in range(start, min(start + tile_size, stop))
            ]
            new = max([top, *scores])
            if new == -math.inf:
                continue
            shrink = math.exp(top - new)
            weights = [math.exp(s - new) for s in scores]
            total = total * shrink + sum(weights)
            acc = [
                a * shrink + sum(w * v[start + t][c] for t, w in enumerate(weights)) for c, a in enumerate(acc)
            ]
            top = new
        out.append([a / total if total else 0.0 for a in acc])
    return out
