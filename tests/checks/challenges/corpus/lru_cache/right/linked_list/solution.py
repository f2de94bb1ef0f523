class _Node:
    __slots__ = ("key", "val", "prev", "next")

    def __init__(self, key=None, val=None):
        self.key, self.val = key, val
        self.prev = self.next = None


class CapacityError(ValueError):
    pass


class LRUCache(object):
    def __init__(self, size):
        if size < 1:
            raise CapacityError("size < 1")
        self.size = size
        self.map = {}
        self.head, self.tail = _Node(), _Node()
        self.head.next, self.tail.prev = self.tail, self.head

    def _unlink(self, n):
        n.prev.next, n.next.prev = n.next, n.prev

    def _front(self, n):
        n.prev, n.next = self.head, self.head.next
        self.head.next.prev = n
        self.head.next = n

    def get(self, key):
        n = self.map.get(key)
        if n is None:
            return
        self._unlink(n)
        self._front(n)
        return n.val

    def put(self, key, val):
        n = self.map.get(key)
        if n is not None:
            n.val = val
            self._unlink(n)
            self._front(n)
            return
        if len(self.map) == self.size:
            last = self.tail.prev
            self._unlink(last)
            del self.map[last.key]
        n = self.map[key] = _Node(key, val)
        self._front(n)

    def __len__(self):
        return len(self.map)

    def __contains__(self, key):
        return key in self.map
