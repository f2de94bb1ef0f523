class LRUCache:
    def __init__(self, capacity):
        if capacity < 1:
            raise ValueError("capacity")
        self.capacity, self.items = capacity, {}

    def get(self, key):
        return self.items.get(key)

    def put(self, key, value):
        self.items.pop(key, None)
        self.items[key] = value
        if len(self.items) > self.capacity:
            del self.items[next(iter(self.items))]

    def __len__(self):
        return len(self.items)

    def __contains__(self, key):
        return key in self.items
