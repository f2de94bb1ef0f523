"""Whoever waits holds an event, which is set and replaced with every change."""

import queue
import threading
import time


class Closed(Exception):
    pass


class BoundedQueue:
    def __init__(self, maxsize):
        self.maxsize = maxsize
        self.lock = threading.RLock()
        self.changed = threading.Event()
        self.content = []
        self.open = True

    def _change(self):
        happened, self.changed = self.changed, threading.Event()
        happened.set()

    def _try(self, act, timeout, late):
        start = time.monotonic()
        while True:
            with self.lock:
                done, value = act()
                if done:
                    self._change()
                    return value
                changed = self.changed
            left = None
            if timeout is not None:
                left = timeout - (time.monotonic() - start)
                if left < 0:
                    raise late
            changed.wait(left)

    def _add(self, item):
        if not self.open:
            raise Closed("closed")
        if len(self.content) == self.maxsize:
            return False, None
        self.content.insert(0, item)
        return True, None

    def _take(self):
        if self.content:
            return True, self.content.pop()
        if not self.open:
            raise Closed("closed")
        return False, None

    def put(self, item, timeout=None):
        self._try(lambda: self._add(item), timeout, queue.Full())

    def get(self, timeout=None):
        return self._try(self._take, timeout, queue.Empty())

    def close(self):
        with self.lock:
            self.open = False
            self._change()

    def __len__(self):
        return len(self.content)
