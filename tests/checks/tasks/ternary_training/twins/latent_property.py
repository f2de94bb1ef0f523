# style: the latent weights are a property over one flat vector; codes and scales in an object, blocks of the flat weight
# only: projection, ste, purity
from dataclasses import dataclass

import numpy as np

BLOCK = 128


@dataclass(frozen=True)
class Packed:
    codes: np.ndarray
    scales: np.ndarray
    shape: tuple

    def dense(self):
        return (np.repeat(self.scales, BLOCK)[: self.codes.size] * self.codes).reshape(self.shape)


def quantize(latent):
    flat = np.ravel(latent)
    starts = np.arange(0, flat.size, BLOCK)
    counts = np.diff(np.append(starts, flat.size))
    scales = np.add.reduceat(np.abs(flat), starts) / counts
    each = np.repeat(scales, counts)
    ratio = np.divide(flat, each, out=np.zeros_like(flat), where=each > 0)
    return Packed(np.clip(np.rint(ratio), -1, 1).astype(np.int8), scales, np.shape(latent))


class TernaryLinear:
    def __init__(self, in_features, out_features, seed=0):
        self.shape = (out_features, in_features)
        self._flat = np.random.default_rng(seed).normal(size=out_features * in_features) / in_features
        self.grad = {"latent": np.zeros(self.shape)}
        self._pending = None

    @property
    def latent(self):
        return self._flat.reshape(self.shape)

    @latent.setter
    def latent(self, value):
        self._flat[:] = np.reshape(value, -1)

    def forward(self, x):
        dense = quantize(self.latent).dense()
        self._pending = x, dense
        return x @ dense.T

    def backward(self, dy):
        (x, dense), self._pending = self._pending, None
        self.grad["latent"] += dy.T @ x
        return dy @ dense
