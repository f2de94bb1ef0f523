# bug: backward of a layer multiplies into the caller's own x, and then lets go of it
# fails: purity
# says: backward leaves x of the forward alone: modified


class SpoilingScale:
    def __init__(self):
        self.kept = ()

    def forward(self, x, factor):
        self.kept = (x, factor)
        return x * factor

    def backward(self, dy):
        (x, factor), self.kept = self.kept, ()
        x *= dy
        return dy * factor, x.sum(axis=0)
