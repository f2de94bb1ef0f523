from collections import OrderedDict


class LRUCache:
    """An OrderedDict with a limit: the first entry is the one that goes."""

    def __init__(self, capacity):
        if capacity <= 0:
            raise ValueError("capacity must be positive")
        self.capacity = capacity
        self.data = OrderedDict()

    def __len__(self):
        return len(self.data)

    def get(self, key):
        if key in self.data:
            self.data.move_to_end(key)
            return self.data[key]
        return None

    def put(self, key, value):
        if key not in self.data and len(self.data) == self.capacity:
            self.data.popitem(last=False)
        self.data[key] = value
