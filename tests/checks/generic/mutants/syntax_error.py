# bug: a bracket is never closed
# fails: loads, purity, right
# says: was never closed (syntax_error.py:5)

def scale_forward(x, factor:
    return x * factor
