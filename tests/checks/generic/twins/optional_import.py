# right: a module that may be missing, and is not missed
try:
    import no_such_module_anywhere as accelerator
except ImportError:
    accelerator = None


def scale_forward(x, factor):
    y = accelerator.scale(x, factor) if accelerator else x * factor
    return y, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


def test_without():
    assert accelerator is None
