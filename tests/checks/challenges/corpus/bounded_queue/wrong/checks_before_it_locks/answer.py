import queue
import time


class Closed(Exception):
    pass


class BoundedQueue:
    def __init__(self, maxsize):
        self.maxsize, self.items, self.closed = maxsize, [], False

    def put(self, item, timeout=None):
        end = time.monotonic() + (timeout or 60)
        while len(self.items) >= self.maxsize and not self.closed:
            if time.monotonic() > end:
                raise queue.Full
            time.sleep(0.001)
        if self.closed:
            raise Closed
        items = list(self.items)
        time.sleep(0.002)
        self.items = items + [item]

    def get(self, timeout=None):
        end = time.monotonic() + (timeout or 60)
        while not self.items:
            if self.closed:
                raise Closed
            if time.monotonic() > end:
                raise queue.Empty
            time.sleep(0.001)
        item = self.items[0]
        time.sleep(0.002)
        self.items = self.items[1:]
        return item

    def close(self):
        self.closed = True

    def __len__(self):
        return len(self.items)
