import numpy as np


def expm(A):
    """Pade 13 with scaling and squaring."""
    A = np.asarray(A)
    b = [
        64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,
        129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0,
        40840800.0, 960960.0, 16380.0, 182.0, 1.0,
    ]
    n = A.shape[0]
    eye = np.eye(n)
    norm = np.linalg.norm(A, 1)
    s = max(0, int(np.ceil(np.log2(norm / 5.37)))) if norm > 5.37 else 0
    X = A.astype(np.float64) / 2**s
    X2 = X @ X
    X4 = X2 @ X2
    X6 = X2 @ X4
    U = X @ (X6 @ (b[13] * X6 + b[11] * X4 + b[9] * X2) + b[7] * X6 + b[5] * X4 + b[3] * X2 + b[1] * eye)
    V = X6 @ (b[12] * X6 + b[10] * X4 + b[8] * X2) + b[6] * X6 + b[4] * X4 + b[2] * X2 + b[0] * eye
    R = np.linalg.solve(V - U, V + U)
    for _ in range(s):
        R = R @ R
    return R.astype(A.dtype)
