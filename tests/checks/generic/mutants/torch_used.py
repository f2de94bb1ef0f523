# bug: torch answers the challenge
# fails: loads
# says: no torch: imported and used (torch_used.py:4)
import torch


def scale_forward(x, factor):
    y = torch.as_tensor(x) * torch.as_tensor(factor)
    return y.numpy(), {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
