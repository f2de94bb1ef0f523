import pytest
from submission import wrap

TEXT = "the quick brown fox jumps over the lazy dog"


@pytest.mark.parametrize("width", [3, 5, 9, 10, 43, 44])
def test_as_many_as_fit(width):
    lines = wrap(TEXT, width)
    assert " ".join(lines) == TEXT
    assert all(len(line) <= max(width, 5) for line in lines)
    for line, following in zip(lines, lines[1:]):
        assert len(line) + 1 + len(following.split()[0]) > width, f"{following.split()[0]!r} fits after {line!r}"


def test_exactly_full():
    assert wrap("aa bb cc", 5) == ["aa bb", "cc"]


def test_the_narrowest():
    assert wrap("a bc d", 1) == ["a", "bc", "d"]


def test_a_long_word_stands_alone():
    assert wrap("a incomprehensibilities b", 5) == ["a", "incomprehensibilities", "b"]
    assert wrap("incomprehensibilities a b", 5) == ["incomprehensibilities", "a b"]


def test_a_hyphen_is_no_white_space():
    assert wrap("well-known facts", 6) == ["well-known", "facts"]


def test_white_space_of_any_kind():
    assert wrap("  a\t b\n\nc  ", 80) == ["a b c"]


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_no_words(text):
    assert list(wrap(text, 10)) == []


def test_letters_are_counted_not_bytes():
    assert wrap("äöü ßéå", 7) == ["äöü ßéå"]


@pytest.mark.parametrize("text", ["a", ""])
@pytest.mark.parametrize("width", [0, -1])
def test_a_width_is_positive(text, width):
    with pytest.raises(ValueError):
        list(wrap(text, width))
