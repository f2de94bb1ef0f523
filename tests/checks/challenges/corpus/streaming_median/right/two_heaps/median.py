import heapq

import numpy as np


class StreamingMedian:
    def __init__(self):
        self.low, self.high = [], []

    def add(self, num):
        heapq.heappush(self.low, -num)
        heapq.heappush(self.high, -heapq.heappop(self.low))
        if len(self.high) > len(self.low):
            heapq.heappush(self.low, -heapq.heappop(self.high))

    def median(self):
        if not self.low:
            raise ValueError("no numbers")
        if len(self.low) > len(self.high):
            return -self.low[0]
        return (self.high[0] - self.low[0]) / 2


def running_medians(values):
    stream = StreamingMedian()
    out = []
    for v in values:
        stream.add(v)
        out.append(stream.median())
    return np.array(out)
