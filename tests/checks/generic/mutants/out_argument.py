# bug: out= names the argument, in a class
# fails: purity
# says: forward leaves x alone: modified
import numpy as np


class Scale:
    def forward(self, x, factor):
        self.x, self.factor = x.copy(), factor
        np.multiply(x, factor, out=x)
        return x.copy()

    def backward(self, dy):
        return dy * self.factor, (dy * self.x).sum(axis=0)
