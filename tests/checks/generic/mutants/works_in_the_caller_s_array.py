# bug: backward of a layer works in the array that forward was handed, as if it were room of its own
# fails: purity
# says: backward leaves x of the forward alone: modified
import numpy as np


class BorrowingScale:
    def forward(self, x, factor):
        self.room, self.kept, self.factor = x, x.copy(), factor
        return x * factor

    def backward(self, dy):
        dfactor = (dy * self.kept).sum(axis=0)
        np.multiply(dy, self.factor, out=self.room)
        return self.room.copy(), dfactor


def test_scale():
    assert BorrowingScale().forward(np.ones(2), np.ones(2)).sum() == 2.0
