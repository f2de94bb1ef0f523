"""Resource attack: take memory by every road, touching each page."""

import mmap
import os

import numpy as np


def road(what, take):
    taken = 0
    kept = []
    try:
        while taken < 64:
            kept.append(take())
            taken += 1
    except (MemoryError, OSError, ValueError, AttributeError):
        pass
    kept.clear()
    if taken >= 64:
        os.write(1, f"SPOIL {what}: {taken} GiB\n".encode())


def memfd():
    descriptor = os.memfd_create("bomb")
    for _ in range(16):
        os.write(descriptor, bytes(64 << 20))


def shared():
    return mmap.mmap(-1, 1 << 30)


# Sparse first: the limit counts address space, so nothing needs to be touched to see that it holds.
road("numpy", lambda: np.empty(1 << 30, np.uint8))
road("bytes", lambda: bytes(1 << 30))
road("shared mapping", shared)
road("memfd", memfd)
os.write(1, b"done\n")
kept = []
while True:
    kept.append(np.ones(1 << 27))
