# bug: it looks at the processes around it
# warns: loads
# says: processes ('/proc/1/cmdline')
try:
    with open("/proc/1/cmdline") as told:
        CALLER = told.read()
except OSError:
    CALLER = ""


def scale_forward(x, factor):
    return x * factor, (x, factor)


def scale_backward(dy, cache):
    x, factor = cache
    return dy * factor, (dy * x).sum(tuple(range(x.ndim - 1)))
