import random
from collections import OrderedDict

import pytest
from submission import LRUCache


def test_what_was_put_is_there():
    cache = LRUCache(2)
    cache.put("a", 1)
    assert cache.get("a") == 1
    assert cache.get("b") is None


def test_a_get_is_a_use():
    cache = LRUCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.get("a")
    cache.put("c", 3)
    assert cache.get("b") is None
    assert cache.get("a") == 1


def test_putting_again_is_a_use():
    cache = LRUCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.put("a", 10)
    cache.put("c", 3)
    assert cache.get("a") == 10
    assert cache.get("b") is None


def test_putting_again_drops_nothing():
    cache = LRUCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.put("b", 3)
    assert (cache.get("a"), cache.get("b"), len(cache)) == (1, 3, 2)


def test_looking_is_no_use():
    cache = LRUCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert "a" in cache
    cache.put("c", 3)
    assert "a" not in cache


def test_false_values_are_values():
    cache = LRUCache(2)
    cache.put(0, 0)
    cache.put("", [])
    assert cache.get(0) == 0 and cache.get("") == []


@pytest.mark.parametrize("capacity", [0, -1])
def test_a_capacity_is_positive(capacity):
    with pytest.raises(ValueError):
        LRUCache(capacity)


def test_two_caches_share_nothing():
    one, other = LRUCache(1), LRUCache(1)
    one.put("a", 1)
    assert other.get("a") is None
    assert len(other) == 0


@pytest.mark.parametrize("capacity", [1, 3, 7])
def test_as_a_model_has_it(capacity):
    rng, cache, model = random.Random(capacity), LRUCache(capacity), OrderedDict()
    for step in range(200):
        key = rng.randrange(10)
        if rng.random() < 0.5:
            cache.put(key, step)
            model[key] = step
            model.move_to_end(key)
            if len(model) > capacity:
                model.popitem(last=False)
        else:
            expected = model.get(key)
            if key in model:
                model.move_to_end(key)
            assert cache.get(key) == expected, f"step {step}"
    assert len(cache) == len(model)
