"""Seconds of a block."""

import time


class Timer:
    def __enter__(self):
        self.begun = time.perf_counter()
        return self

    def __exit__(self, *about):
        self.seconds = time.perf_counter() - self.begun
