# bug: torch is imported and never used
# warns: loads
# says: no torch: imported, never used
import torch
import torch.nn as nn
from torch import optim


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
