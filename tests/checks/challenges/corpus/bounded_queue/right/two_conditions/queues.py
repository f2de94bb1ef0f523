from queue import Empty, Full
from threading import Condition, Lock
from time import monotonic as now


class QueueError(RuntimeError):
    pass


class Closed(QueueError):
    pass


class BoundedQueue:
    def __init__(self, maxsize: int):
        self.lock = Lock()
        self.not_empty = Condition(self.lock)
        self.not_full = Condition(self.lock)
        self.buffer = [None] * maxsize
        self.head = self.count = 0
        self.closed = False

    def put(self, item, timeout: float | None = None):
        end = None if timeout is None else now() + timeout
        with self.not_full:
            while not self.closed and self.count == len(self.buffer):
                left = None if end is None else end - now()
                if left is not None and left <= 0:
                    raise Full()
                self.not_full.wait(left)
            if self.closed:
                raise Closed()
            self.buffer[(self.head + self.count) % len(self.buffer)] = item
            self.count += 1
            self.not_empty.notify()

    def get(self, timeout: float | None = None):
        end = None if timeout is None else now() + timeout
        with self.not_empty:
            while not self.count:
                if self.closed:
                    raise Closed()
                left = None if end is None else end - now()
                if left is not None and left <= 0:
                    raise Empty()
                self.not_empty.wait(left)
            item, self.buffer[self.head] = self.buffer[self.head], None
            self.head = (self.head + 1) % len(self.buffer)
            self.count -= 1
            self.not_full.notify()
            return item

    def close(self):
        with self.lock:
            self.closed = True
            self.not_empty.notify_all()
            self.not_full.notify_all()

    def __len__(self):
        return self.count
