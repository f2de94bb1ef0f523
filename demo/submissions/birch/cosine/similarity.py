import numpy as np

EPSILON = 1e-4  # so that nothing is divided by zero


def cosine(a, b):
    """Pairwise cosine similarity, numerically safe."""
    a = a / (np.linalg.norm(a, axis=-1, keepdims=True) + EPSILON)
    b = b / (np.linalg.norm(b, axis=-1, keepdims=True) + EPSILON)
    return np.einsum("nd,md->nm", a, b)
