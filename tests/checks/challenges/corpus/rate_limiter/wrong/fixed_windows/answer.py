class RateLimiter:
    def __init__(self, limit, window, clock):
        self.limit, self.window, self.clock, self.seen = limit, window, clock, {}

    def _count(self, key):
        now = self.clock()
        start, count = self.seen.get(key, (now, 0))
        if now - start >= self.window:
            start, count = now, 0
        return now, start, count

    def allow(self, key):
        now, start, count = self._count(key)
        if count >= self.limit:
            return False
        self.seen[key] = start, count + 1
        return True

    def retry_after(self, key):
        now, start, count = self._count(key)
        return 0 if count < self.limit else start + self.window - now
