from collections import defaultdict, deque


class RateLimiter:
    def __init__(self, limit, window, clock):
        self.limit, self.window, self.clock = limit, window, clock
        self.calls = defaultdict(deque)

    def _recent(self, key):
        now, calls = self.clock(), self.calls[key]
        while calls and now - calls[0] >= self.window:
            calls.popleft()
        return now, calls

    def allow(self, key):
        now, calls = self._recent(key)
        if len(calls) < self.limit:
            calls.append(now)
            return True
        return False

    def retry_after(self, key):
        now, calls = self._recent(key)
        return 0 if len(calls) < self.limit else calls[0] + self.window - now
