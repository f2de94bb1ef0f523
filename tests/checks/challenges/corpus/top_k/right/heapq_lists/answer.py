import heapq


def select_top_k(x, k):
    """Pure Python. Returns (values, indices)."""
    values, indices = [], []
    for row in x.tolist():
        if k > len(row):
            raise ValueError("k too large")
        best = heapq.nsmallest(k, range(len(row)), key=lambda i: (-row[i], i))
        indices.append(best)
        values.append([row[i] for i in best])
    return values, indices
