# bug: a framework imported by its name in a function
# fails: loads
# says: no tensorflow: imported and used
import importlib


def scale_forward(x, factor):
    tf = importlib.import_module("tensorflow")
    return tf.multiply(x, factor).numpy(), {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
