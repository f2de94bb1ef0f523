from scaling.core import scale_forward


def test_core():
    assert scale_forward(2.0, 3.0)[0] == 6.0
