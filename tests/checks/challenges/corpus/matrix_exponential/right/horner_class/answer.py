import numpy as np


class MatrixExponential:
    """Horner's scheme over a scaled matrix."""

    def __init__(self, order=18):
        self.order = order

    def forward(self, A):
        norm = np.linalg.norm(A, np.inf)
        s = 0 if norm == 0 else max(0, int(np.ceil(np.log2(norm))) + 3)
        M = A / np.asarray(2.0**s, dtype=A.dtype)
        eye = np.eye(A.shape[0], dtype=A.dtype)
        P = eye
        for k in range(self.order, 0, -1):
            P = eye + M @ P / k
        for _ in range(s):
            P = P @ P
        return P
