"""LRU cache over a dict, which keeps the order of insertion."""


class LRUCache:
    def __init__(self, capacity):
        if capacity < 1:
            raise ValueError("capacity must be at least 1")
        self.capacity = capacity
        self.entries = {}

    def __len__(self):
        return len(self.entries)

    def get(self, key):
        if value := self.entries.pop(key, None):
            self.entries[key] = value
            return value
        return None

    def put(self, key, value):
        self.entries.pop(key, None)
        if len(self.entries) == self.capacity:
            del self.entries[next(iter(self.entries))]
        self.entries[key] = value
