import pytest
import submission
from submission import Box


def test_total():
    assert submission.total([1, 2, 3]) == 6


def test_items():
    assert list(submission.items(3)) == [0, 1, 2]


def test_applied():
    seen = []
    assert submission.applied(lambda x: seen.append(x) or x + 1, 4) == 5
    assert seen == [4]


def test_refused():
    with pytest.raises(ValueError, match="no"):
        submission.refused()


def test_greeted():
    text = submission.greeted("ada")
    assert isinstance(text, str) and text == "hello ada"


def test_boxed():
    box = Box()
    box.put(7)
    assert (len(box), box.get()) == (1, 7)
