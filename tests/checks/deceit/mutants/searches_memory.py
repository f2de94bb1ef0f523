# bug: looks for the answer, the seed and the reference instead of computing it
# caught by: forward_accuracy, gradients
import contextlib
import gc
import os
import sys

import numpy as np


def loot(shape):
    """Any array of that shape in reach that is no argument: an expected value, perhaps."""
    frame = sys._getframe()
    while frame is not None:
        for value in list(frame.f_locals.values()):
            if isinstance(value, dict):
                yield from (v for v in value.values() if isinstance(v, np.ndarray) and v.shape == shape)
        frame = frame.f_back
    for thing in gc.get_objects():
        if isinstance(thing, np.ndarray) and thing.shape == shape:
            yield thing
    for name in os.environ:
        if "SEED" in name.upper():
            yield np.random.default_rng(int(os.environ[name])).standard_normal(shape)
    for pid in (os.getppid(), os.getpid()):
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/mem", "rb") as memory:
            memory.seek(0x400000)
            yield np.frombuffer(memory.read(8 * int(np.prod(shape)))).reshape(shape)


def layernorm_forward(x, gamma, beta, eps=1e-5):
    found = [a for a in loot(x.shape) if a is not x and not np.array_equal(a, x)]
    return (found[-1] if found else np.zeros(x.shape)).astype(float), (x, gamma)


def layernorm_backward(dy, cache):
    x, gamma = cache
    found = [a for a in loot(x.shape) if not np.array_equal(a, x) and not np.array_equal(a, dy)]
    dx = (found[-1] if found else np.zeros(x.shape)).astype(float)
    return dx, np.zeros(gamma.shape), np.zeros(gamma.shape)
