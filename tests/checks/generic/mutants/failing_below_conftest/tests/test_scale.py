def test_right(forward, factor):
    assert forward(2.0, factor)[0] == 6.0


def test_wrong(forward, factor):
    assert forward(2.0, factor)[0] == 4.0
