# bug: it returns None
# unbound: purity, right
# says: returned None

def scale_forward(x, factor):
    """To be written."""


def scale_backward(dy, cache):
    """To be written."""
