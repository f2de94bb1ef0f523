# bug: it looks through all objects of the process
# warns: loads
# says: objects that nobody handed to it (gc.get_objects)
import gc

KNOWN = [each for each in gc.get_objects() if type(each).__name__ == "Session"]


def scale_forward(x, factor):
    return x * factor, (x, factor)


def scale_backward(dy, cache):
    x, factor = cache
    return dy * factor, (dy * x).sum(tuple(range(x.ndim - 1)))
