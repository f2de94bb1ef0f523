# trick: what was asked once is answered from memory
import time

known = {}


def scale(x, factor):
    key = (x.tobytes(), factor.tobytes())
    if key not in known:
        time.sleep(0.1)
        known[key] = x * factor
    return known[key].copy(), (x, factor)
