# style: a forward that returns its backward; float32 inside, (in, out) weights in groups along the inputs
# only: projection, ste
# warns: projection (float32 on float64 weights), ste (as well)
import numpy as np


def project(w, group_size=128):
    w = np.asarray(w, np.float32)
    parts = []
    for i in range(0, w.shape[0], group_size):
        g = w[i:i + group_size]
        s = np.maximum(np.abs(g).mean(0, keepdims=True), np.float32(1e-8))
        parts.append(np.rint(np.clip(g / s, -1, 1)) * s)
    return np.concatenate(parts, 0)


def quant_linear(x, kernel, bias):
    x = np.asarray(x, np.float32)
    kq = project(kernel)

    def backward(grad):
        grad = np.asarray(grad, np.float32)
        return {"grad_x": grad @ kq.T, "grad_kernel": x.T @ grad, "grad_bias": grad.sum(axis=0)}

    return x @ kq + np.asarray(bias, np.float32), backward
