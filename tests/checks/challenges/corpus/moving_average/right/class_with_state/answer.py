import numpy as np


class MovingAverage:
    def __init__(self, window: int):
        if window <= 0:
            raise ValueError("window")
        self.window = window

    def forward(self, data):
        self.n = len(data)
        self.counts = np.minimum(np.arange(1, self.n + 1), self.window)
        padded = np.concatenate([np.zeros(self.window - 1, data.dtype), data])
        sums = np.lib.stride_tricks.sliding_window_view(padded, self.window).sum(-1)
        return sums / self.counts.astype(data.dtype)

    def backward(self, dout):
        share = dout / self.counts.astype(dout.dtype)
        padded = np.concatenate([share, np.zeros(self.window - 1, dout.dtype)])
        return np.lib.stride_tricks.sliding_window_view(padded, self.window).sum(-1)
