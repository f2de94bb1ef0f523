# bug: backward of a layer multiplies into what forward has kept, before it lets go of it
# fails: purity
# says: backward leaves the cache alone: modified at .kept[0]


class KeepingScale:
    def __init__(self):
        self.kept = []

    def forward(self, x, factor):
        self.kept = [x.copy(), factor]
        return x * factor

    def backward(self, dy):
        x, factor = self.kept
        x *= dy
        return dy * factor, x.sum(axis=0)
