from bisect import insort


class EmptyStream(ValueError):
    pass


class StreamingMedian:
    def __init__(self, data=()):
        self._sorted = sorted(data)

    def add(self, x):
        insort(self._sorted, x)
        return self

    def median(self):
        n = len(self._sorted)
        if n == 0:
            raise EmptyStream("median of nothing")
        mid = n >> 1
        return self._sorted[mid] if n & 1 else (self._sorted[mid - 1] + self._sorted[mid]) / 2


def running_medians(seq):
    m = StreamingMedian()
    return [*(m.add(x).median() for x in seq)]
