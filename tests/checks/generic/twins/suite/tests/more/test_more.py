from helpers_of_more import twice


def test_twice(factor):
    assert twice(factor) == 2 * factor
