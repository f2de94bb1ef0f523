import threading
from dataclasses import dataclass, field


class LRUCache(dict):
    def __init__(self, capacity):
        super().__init__()
        if not capacity > 0:
            raise ValueError
        self.capacity = capacity
        self.lock = threading.RLock()

    def get(self, key, default=None):
        with self.lock:
            if key in self:
                value = self.pop(key)
                self[key] = value
                return value
            return default

    def put(self, key, value):
        with self.lock:
            self.pop(key, None)
            self[key] = value
            while len(self) > self.capacity:
                del self[next(iter(self))]
