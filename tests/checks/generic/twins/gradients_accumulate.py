# right: the factor's gradient is added to what the instance holds, as frameworks do
import numpy as np


class ScaleLayer:
    """Multiplies by a factor."""

    def __init__(self):
        self.dfactor = None

    def forward(self, x, factor):
        self.x, self.factor = x, factor
        if self.dfactor is None:
            self.dfactor = np.zeros_like(factor)
        return x * factor

    def backward(self, dy):
        self.dfactor = self.dfactor + (dy * self.x).sum(axis=0)
        return dy * self.factor


class TestScaleLayer:
    def test_forward(self):
        layer = ScaleLayer()
        assert (layer.forward(np.ones(2), np.ones(2)) == 1).all()
