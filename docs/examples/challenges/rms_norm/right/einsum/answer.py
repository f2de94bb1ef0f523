import numpy as np


def rms_norm(x, gain, eps=1e-3):
    scale = np.einsum("bd,bd->b", x, x) / x.shape[1] + eps
    return x * scale[:, None] ** -0.5 * gain
