import queue
import threading
import time


class Closed(Exception):
    pass


class BoundedQueue:
    def __init__(self, maxsize):
        self.maxsize, self.items, self.closed, self.lock = maxsize, [], False, threading.Lock()

    def _wait(self, done, timeout, error):
        end = time.monotonic() + (60 if timeout is None else timeout)
        while not done():
            if time.monotonic() > end:
                raise error
            time.sleep(0.001)

    def put(self, item, timeout=None):
        with self.lock:
            self._wait(lambda: self.closed or len(self.items) < self.maxsize, timeout, queue.Full)
            if self.closed:
                raise Closed
            self.items.append(item)

    def get(self, timeout=None):
        with self.lock:
            self._wait(lambda: self.closed or self.items, timeout, queue.Empty)
            if not self.items:
                raise Closed
            return self.items.pop(0)

    def close(self):
        self.closed = True

    def __len__(self):
        return len(self.items)
