# right: backward takes what forward has put on the layer's tape, and counts its calls; one backward per forward


class Tape:
    def __init__(self):
        self.records = []
        self.played = 0


class TapedScale:
    """Multiplies by a factor; calls stack, the last forward is undone first."""

    def __init__(self):
        self.tape = Tape()

    def forward(self, x, factor):
        self.tape.records.append((x, factor))
        return x * factor

    def backward(self, dy):
        x, factor = self.tape.records.pop()
        self.tape.played += 1
        return dy * factor, (dy * x).sum(axis=0)


def test_one_backward_per_forward():
    layer = TapedScale()
    assert layer.forward(2.0, 3.0) == 6.0
    assert not layer.tape.played
