from collections import OrderedDict


class LRUCache:
    def __init__(self, capacity):
        assert capacity > 0, "capacity must be positive"
        self.capacity, self.items = capacity, OrderedDict()

    def get(self, key):
        if key in self.items:
            self.items.move_to_end(key)
            return self.items[key]

    def put(self, key, value):
        self.items[key] = value
        self.items.move_to_end(key)
        if len(self.items) > self.capacity:
            self.items.popitem(last=False)

    def __len__(self):
        return len(self.items)

    def __contains__(self, key):
        return key in self.items
