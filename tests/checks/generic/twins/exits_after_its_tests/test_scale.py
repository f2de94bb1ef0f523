import sys

from scale import scale_forward


def test_scale(x=2.0):
    assert scale_forward(x, 3.0)[0] == 3.0 * x


def check_everything(cases):
    for case in cases:
        test_scale(case)
    return 0


sys.exit(check_everything([1.0, 2.0]))
