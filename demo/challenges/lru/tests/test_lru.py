"""The judge's tests of LRUCache."""

import pytest
from submission import LRUCache


def filled(capacity, *keys):
    cache = LRUCache(capacity)
    for key in keys:
        cache.put(key, f"value of {key}")
    return cache


def test_holds_as_much_as_it_may():
    cache = filled(3, "a", "b", "c", "d")
    assert len(cache) == 3
    assert [cache.get(key) for key in "abcd"] == [None, "value of b", "value of c", "value of d"]


def test_reading_is_a_use():
    cache = filled(2, "a", "b")
    cache.get("a")
    cache.put("c", 3)
    assert cache.get("b") is None
    assert cache.get("a") == "value of a"


def test_writing_again_is_a_use():
    cache = filled(2, "a", "b")
    cache.put("a", "new")
    cache.put("c", 3)
    assert cache.get("b") is None
    assert cache.get("a") == "new"


@pytest.mark.parametrize("value", [0, ""])
def test_a_value_may_be_empty(value):
    cache = LRUCache(2)
    cache.put("a", value)
    assert cache.get("a") == value


def test_a_capacity_is_positive():
    with pytest.raises(ValueError):
        LRUCache(0)
