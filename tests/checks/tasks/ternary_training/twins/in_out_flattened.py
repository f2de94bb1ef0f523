# style: (in, out) weights, groups of the flattened matrix, gradients in a dict of the layer, an rng in the constructor
# only: projection, ste
import numpy as np


def absmean_ternary(weight, block_size=128):
    flat = weight.ravel()
    out = np.empty_like(flat)
    for i in range(0, flat.size, block_size):
        chunk = flat[i:i + block_size]
        scale = np.mean(np.abs(chunk))
        if scale == 0.0:
            out[i:i + block_size] = 0.0
            continue
        ratio = chunk / scale
        out[i:i + block_size] = scale * np.sign(ratio) * (np.abs(ratio) >= 0.5)
    return out.reshape(weight.shape)


class BitLinear:
    def __init__(self, n_in, n_out, rng):
        self.params = {"W": rng.standard_normal((n_in, n_out)) * 0.02, "b": np.zeros(n_out)}
        self.grads = {}

    def __call__(self, x):
        self.saved = x, absmean_ternary(self.params["W"])
        return x @ self.saved[1] + self.params["b"]

    def backward(self, dy):
        x, wq = self.saved
        self.grads["W"] = x.T @ dy
        self.grads["b"] = np.sum(dy, axis=0)
        return dy @ wq.T
