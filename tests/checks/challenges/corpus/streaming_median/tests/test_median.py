import itertools
import statistics

import pytest
from submission import StreamingMedian


@pytest.fixture
def median():
    return StreamingMedian()


def test_one(median):
    median.add(5)
    assert median.median() == 5


@pytest.mark.parametrize("numbers", itertools.permutations([1, 2, 4, 8]))
def test_every_order(median, numbers):
    for at, number in enumerate(numbers):
        median.add(number)
        assert median.median() == statistics.median(numbers[: at + 1])


def test_the_mean_of_two_is_no_integer_division(median):
    median.add(1)
    median.add(2)
    assert median.median() == pytest.approx(1.5)


def test_twice_the_same(median):
    for number in [3, 3, 1, 3, 1]:
        median.add(number)
    assert median.median() == 3


def test_asking_changes_nothing(median):
    median.add(2)
    median.add(1)
    assert median.median() == median.median() == 1.5
    median.add(9)
    assert median.median() == 2


def test_nothing_yet(median):
    with pytest.raises(ValueError):
        median.median()
