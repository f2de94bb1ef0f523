import bisect


class StreamingMedian:
    def __init__(self, numbers=[]):
        self.numbers = numbers

    def add(self, number):
        bisect.insort(self.numbers, number)

    def median(self):
        if not self.numbers:
            raise ValueError
        half, odd = divmod(len(self.numbers), 2)
        return self.numbers[half] if odd else (self.numbers[half - 1] + self.numbers[half]) / 2


STARTED = StreamingMedian()
STARTED.add(1000)


def running_medians(values):
    m = StreamingMedian([])
    return [[m.add(value), m.median()][1] for value in values]
