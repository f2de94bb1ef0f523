# bug: the bias is subtracted in the forward, and its gradient is that of one that is added
# caught by: ste
# passes: projection
"""Ternary dense layer in the manner of Keras: kernel (in, out), call, gradients."""
import numpy as np


class TernaryDense:
    group_size = 128

    def __init__(self, in_features, out_features, seed=0):
        generator = np.random.default_rng(seed)
        limit = np.sqrt(6.0 / (in_features + out_features))
        self.kernel = generator.uniform(-limit, limit, (in_features, out_features))
        self.bias = np.zeros(out_features)

    def ternary_kernel(self):
        q = np.empty_like(self.kernel)
        for lo in range(0, self.kernel.shape[0], self.group_size):
            part = self.kernel[lo : lo + self.group_size]
            scale = np.mean(np.abs(part), axis=0)
            codes = (part > scale / 2).astype(part.dtype) - (part < -scale / 2)
            q[lo : lo + self.group_size] = codes * scale
        return q

    def forward(self, x):
        self._inputs, self._q = x, self.ternary_kernel()
        return x @ self._q - self.bias

    def backward(self, dy):
        self.d_kernel = self._inputs.T @ dy
        self.d_bias = np.sum(dy, axis=0)
        return dy @ self._q.T
