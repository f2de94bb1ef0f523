# style: BitNet b1.58: activations quantized to 8 bits as well, no bias
# only: projection, ste
import numpy as np


class BitLinear158:
    def __init__(self, in_features, out_features, group_size=128, bias=False):
        self.group_size = group_size
        self.weight = np.random.normal(size=(out_features, in_features))

    def weight_quant(self):
        w, g = self.weight, self.group_size
        q = np.empty_like(w)
        for i in range(0, w.shape[1], g):
            block = w[:, i:i + g]
            scale = np.clip(np.mean(np.abs(block), axis=-1, keepdims=True), 1e-5, None)
            q[:, i:i + g] = np.clip(np.round(block / scale), -1, 1) * scale
        return q

    def act_quant(self, x):
        scale = 127.0 / np.clip(np.abs(x).max(axis=-1, keepdims=True), 1e-5, None)
        return np.clip(np.round(x * scale), -128, 127) / scale

    def forward(self, x):
        self._x, self._w = self.act_quant(x), self.weight_quant()
        return self._x @ self._w.T

    def backward(self, g):
        self.weight_grad = g.T @ self._x
        return g @ self._w
