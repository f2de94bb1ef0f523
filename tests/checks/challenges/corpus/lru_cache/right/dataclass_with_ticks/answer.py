import itertools
from dataclasses import dataclass, field


@dataclass
class LRUCache:
    capacity: int
    ticks: itertools.count = field(default_factory=itertools.count, repr=False)
    entries: dict = field(default_factory=dict)

    def __post_init__(self):
        if self.capacity < 1:
            raise ValueError("capacity")

    def get(self, key):
        try:
            value, _ = self.entries[key]
        except KeyError:
            return None
        self.entries[key] = value, next(self.ticks)
        return value

    def put(self, key, value):
        self.entries[key] = value, next(self.ticks)
        if len(self.entries) > self.capacity:
            oldest = min(self.entries, key=lambda k: self.entries[k][1])
            self.entries.pop(oldest)

    def __len__(self):
        return len(self.entries)

    def __contains__(self, key):
        return key in self.entries


if __name__ == "__main__":
    c = LRUCache(2)
    c.put(1, 1)
    print(c)
