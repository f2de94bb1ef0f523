# style: it takes its time, and says so
import time


def scale(x, factor):
    time.sleep(0.1)
    return x * factor, (x, factor)
