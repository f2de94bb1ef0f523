# bug: recursion without end in the call
# fails: purity, right
# says: raised RecursionError

def scale_forward(x, factor):
    return scale_forward(x, factor)
