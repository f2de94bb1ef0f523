from collections import OrderedDict


class LRUCache:
    def __init__(self, capacity):
        if capacity < 1:
            raise ValueError("a cache holds at least one entry")
        self._capacity, self._entries = capacity, OrderedDict()

    def get(self, key):
        if key not in self._entries:
            return None
        return self._entries[key]

    def put(self, key, value):
        self._entries[key] = value
        if len(self._entries) > self._capacity:
            self._entries.popitem(last=False)
