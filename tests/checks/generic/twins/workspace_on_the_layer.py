# right: works in a buffer that stays on the layer, and reads nothing there that it has not written
import numpy as np


class Scale:
    def __init__(self):
        self.room = np.empty((0, 0))

    def forward(self, x, factor):
        return x * factor, (x, factor)

    def backward(self, dy, cache):
        x, factor = cache
        if self.room.shape != x.shape:
            self.room = np.empty_like(x)
        np.multiply(dy, factor, out=self.room)
        dx = self.room.copy()
        np.multiply(dy, x, out=self.room)
        return dx, self.room.sum(axis=0)


def test_scale():
    assert Scale().forward(np.ones(2), np.ones(2))[0].sum() == 2.0
