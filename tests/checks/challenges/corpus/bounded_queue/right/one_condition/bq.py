import collections
import queue
import threading


class Closed(Exception):
    """The queue is closed."""


class BoundedQueue:
    def __init__(self, maxsize):
        self._maxsize = maxsize
        self._items = collections.deque()
        self._cond = threading.Condition()
        self._closed = False

    def put(self, item, timeout=None):
        with self._cond:
            ready = self._cond.wait_for(lambda: self._closed or len(self._items) < self._maxsize, timeout)
            if self._closed:
                raise Closed("put on a closed queue")
            if not ready:
                raise queue.Full
            self._items.append(item)
            self._cond.notify_all()

    def get(self, timeout=None):
        with self._cond:
            if not self._cond.wait_for(lambda: self._closed or self._items, timeout):
                raise queue.Empty
            if not self._items:
                raise Closed("get on a closed queue")
            item = self._items.popleft()
            self._cond.notify_all()
            return item

    def close(self):
        with self._cond:
            self._closed = True
            self._cond.notify_all()

    def __len__(self):
        with self._cond:
            return len(self._items)
