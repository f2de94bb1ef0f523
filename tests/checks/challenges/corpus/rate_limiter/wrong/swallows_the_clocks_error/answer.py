from collections import defaultdict


class RateLimiter:
    def __init__(self, limit, window, clock):
        self.limit, self.window, self.clock, self.calls = limit, window, clock, defaultdict(list)

    def _now(self):
        try:
            return self.clock()
        except Exception:
            return 0.0

    def allow(self, key):
        now = self._now()
        self.calls[key] = [t for t in self.calls[key] if now - t < self.window]
        if len(self.calls[key]) >= self.limit:
            return False
        self.calls[key].append(now)
        return True

    def retry_after(self, key):
        now = self._now()
        calls = [t for t in self.calls[key] if now - t < self.window]
        return 0 if len(calls) < self.limit else calls[0] + self.window - now
