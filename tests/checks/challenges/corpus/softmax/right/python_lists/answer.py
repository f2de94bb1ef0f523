import math


class Softmax:
    def __init__(self, tau: float = 1.0):
        self.tau = tau

    def _row(self, row):
        row = [v / self.tau for v in row]
        top = max(row)
        if top == -math.inf:
            return [0.0] * len(row)
        exps = [math.exp(v - top) for v in row]
        total = math.fsum(exps)
        return [e / total for e in exps]

    def __call__(self, scores):
        return [self._row(row) for row in scores.tolist()]
