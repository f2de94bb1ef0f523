import numpy as np


def forward(scores, *, temperature=1.0):
    """One pass for the maximum and the sum, block by block."""
    rows, n = scores.shape
    z = (scores / temperature).astype(np.float64)
    m = np.full((rows, 1), -np.inf)
    total = np.zeros((rows, 1))
    for j in range(0, n, 128):
        block = z[:, j : j + 128]
        new = np.maximum(m, block.max(1, keepdims=True))
        safe = np.where(np.isneginf(new), 0.0, new)
        total = total * np.exp(np.where(np.isneginf(m), -np.inf, m - safe)) + np.exp(block - safe).sum(1, keepdims=True)
        m = new
    safe = np.where(np.isneginf(m), 0.0, m)
    return (np.exp(z - safe) / np.maximum(total, 1e-300)).astype(scores.dtype)
