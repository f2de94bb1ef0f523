import threading
import time
from typing import Callable, Dict, List


class RateLimiter:
    """Thread safe sliding-window log."""

    def __init__(self, max_calls: int, period: float, time_func: Callable[[], float] = time.monotonic):
        self.max_calls = max_calls
        self.period = period
        self.time_func = time_func
        self._log: Dict[str, List[float]] = {}
        self._lock = threading.Lock()

    def allow(self, key: str) -> bool:
        with self._lock:
            t = self.time_func()
            log = [x for x in self._log.get(key, []) if x > t - self.period]
            ok = len(log) < self.max_calls
            if ok:
                log.append(t)
            self._log[key] = log
            return ok

    def retry_after(self, key: str) -> float:
        with self._lock:
            t = self.time_func()
            log = [x for x in self._log.get(key, []) if x > t - self.period]
            if len(log) < self.max_calls:
                return 0.0
            return max(0.0, log[-self.max_calls] + self.period - t)
