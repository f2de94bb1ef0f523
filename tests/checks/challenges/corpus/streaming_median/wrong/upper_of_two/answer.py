import bisect


class StreamingMedian:
    def __init__(self):
        self.numbers = []

    def add(self, number):
        bisect.insort(self.numbers, number)

    def median(self):
        if not self.numbers:
            raise ValueError
        return self.numbers[len(self.numbers) // 2]


def running_medians(values):
    m = StreamingMedian()
    out = []
    for value in values:
        m.add(value)
        out.append(m.median())
    return out
