# style: training writes to the layer's weights and sets its flag; the layer projects when it finds it set
# only: projection
import numpy as np


class TernaryLinear:
    def __init__(self, weight, bias):
        self.weight, self.bias = weight, bias
        self.stale = True

    def project(self, rows):
        for row, into in zip(rows, self.codes):
            for start in range(0, row.size, 128):
                group = row[start:start + 128]
                scale = np.sum(np.abs(group)) / group.size
                into[start:start + 128] = scale * ((group > scale / 2) * 1.0 - (group < -scale / 2))

    def forward(self, x):
        if self.stale:
            self.codes = np.zeros(self.weight.shape)
            self.project(self.weight)
            self.stale = False
        self.inputs = x
        return x @ self.codes.T + self.bias

    def backward(self, dy):
        self.dweight, self.dbias = dy.T @ self.inputs, dy.sum(axis=0)
        return dy @ self.codes


def train(layer, batches, rate=0.02):
    for x, target in batches:
        layer.backward(layer.forward(x) - target)
        layer.weight -= rate * layer.dweight
        layer.bias -= rate * layer.dbias
        layer.stale = True
