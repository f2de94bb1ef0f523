class RateLimiter:
    def __init__(self, limit, window, clock):
        self.limit, self.window, self.clock, self.calls = limit, window, clock, []

    def allow(self, key):
        now = self.clock()
        self.calls = [t for t in self.calls if now - t < self.window]
        if len(self.calls) >= self.limit:
            return False
        self.calls.append(now)
        return True

    def retry_after(self, key):
        now = self.clock()
        calls = [t for t in self.calls if now - t < self.window]
        return 0 if len(calls) < self.limit else calls[0] + self.window - now
