import time
from collections import defaultdict


class RateLimiter:
    def __init__(self, limit, window, clock=time.monotonic):
        self.limit, self.window, self.calls = limit, window, defaultdict(list)

    def allow(self, key):
        now = time.monotonic()
        self.calls[key] = [t for t in self.calls[key] if now - t < self.window]
        if len(self.calls[key]) >= self.limit:
            return False
        self.calls[key].append(now)
        return True

    def retry_after(self, key):
        now = time.monotonic()
        calls = [t for t in self.calls[key] if now - t < self.window]
        return 0 if len(calls) < self.limit else calls[0] + self.window - now
