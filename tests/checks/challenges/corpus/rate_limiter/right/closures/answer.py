import numpy as np


def RateLimiter(limit, window, clock):
    stamps = {}

    class Limiter:
        __slots__ = ()

        def retry_after(self, key):
            seen = np.asarray(stamps.get(key, []))
            now = clock()
            seen = seen[seen + window > now]
            return 0.0 if seen.size < limit else float(seen[-limit] + window - now)

        def allow(self, key):
            if self.retry_after(key):
                return False
            stamps.setdefault(key, []).append(clock())
            return True

    return Limiter()
