import queue
import threading


class Closed(Exception):
    pass


class BoundedQueue:
    def __init__(self, maxsize):
        self.maxsize, self.items, self.closed, self.cond = maxsize, [], False, threading.Condition()

    def put(self, item, timeout=None):
        with self.cond:
            if not self.cond.wait_for(lambda: self.closed or len(self.items) < self.maxsize, timeout):
                raise queue.Full
            if self.closed:
                raise Closed
            self.items.append(item)
            self.cond.notify_all()

    def get(self, timeout=None):
        with self.cond:
            if not self.cond.wait_for(lambda: self.closed or self.items, timeout):
                raise queue.Empty
            if not self.items:
                raise Closed
            self.cond.notify_all()
            return self.items.pop()

    def close(self):
        with self.cond:
            self.closed = True
            self.cond.notify_all()

    def __len__(self):
        return len(self.items)
