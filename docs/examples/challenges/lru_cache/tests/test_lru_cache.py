import pytest
from submission import LRUCache


def test_least_recently_used_goes_first():
    cache = LRUCache(2)
    cache.put("a", 1), cache.put("b", 2), cache.get("a"), cache.put("c", 3)
    assert cache.get("b") is None and cache.get("a") == 1


def test_writing_an_entry_uses_it():
    cache = LRUCache(2)
    cache.put("a", 1), cache.put("b", 2), cache.put("a", 3), cache.put("c", 4)
    assert cache.get("b") is None and cache.get("a") == 3


def test_capacity_is_positive():
    LRUCache(1)
    with pytest.raises(ValueError):
        LRUCache(0)
