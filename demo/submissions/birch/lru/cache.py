"""A cache of limited size that forgets the least recently used entry."""

from collections import OrderedDict


class LRUCache:
    """Entries stand in the order of their last use, the newest last."""

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a capacity is at least 1, not {capacity}")
        self._capacity = capacity
        self._entries = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key):
        if key not in self._entries:
            return None
        self._entries.move_to_end(key)
        return self._entries[key]

    def put(self, key, value) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self._capacity:
            self._entries.popitem(last=False)
