import heapq


class StreamingMedian:
    def __init__(self):
        self.numbers = []

    def add(self, number):
        heapq.heappush(self.numbers, number)

    def median(self):
        if not self.numbers:
            raise ValueError
        n = len(self.numbers)
        small = [heapq.heappop(self.numbers) for _ in range(n // 2 + 1)]
        self.numbers.append(small[-1])
        return small[-1] if n % 2 else (small[-1] + small[-2]) / 2


def running_medians(values):
    values = list(values)
    out = []
    for i in range(1, len(values) + 1):
        s = sorted(values[:i])
        out.append(s[i // 2] if i % 2 else (s[i // 2] + s[i // 2 - 1]) / 2)
    return out
