import bisect

import numpy as np


class StreamingMedian:
    def __init__(self):
        self.numbers = []

    def add(self, number):
        bisect.insort(self.numbers, number)

    def median(self):
        if not self.numbers:
            raise ValueError
        half, odd = divmod(len(self.numbers), 2)
        return self.numbers[half] if odd else (self.numbers[half - 1] + self.numbers[half]) / 2


def running_medians(values):
    out = np.empty(len(values))
    for i in range(len(values)):
        head = values[: i + 1]
        head.sort()
        out[i] = (head[i // 2] + head[(i + 1) // 2]) / 2
    return out
