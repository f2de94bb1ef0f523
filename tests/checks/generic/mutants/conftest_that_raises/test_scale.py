from scale import scale_forward


def test_right(factor):
    assert scale_forward(2.0, factor)[0] == 6.0
