# right: functions and a dict, and a test of its own
def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


def test_scale():
    assert scale_forward(2.0, 3.0)[0] == 6.0
