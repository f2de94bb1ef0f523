# bug: it raises NotImplementedError
# unbound: purity, right
# says: raised NotImplementedError

def scale_forward(x, factor):
    raise NotImplementedError
