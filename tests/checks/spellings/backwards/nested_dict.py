import numpy as np
def forward(x, gamma, beta, eps=1e-5):
    mu = x.mean(-1, keepdims=True); rstd = 1/np.sqrt(x.var(-1, keepdims=True)+eps); xhat=(x-mu)*rstd
    return {"out": xhat*gamma+beta, "saved": {"h": xhat, "r": rstd, "w": gamma}}
def backward(upstream, saved):
    g = upstream*saved["w"]
    dx = saved["r"]*(g-g.mean(-1,keepdims=True)-saved["h"]*(g*saved["h"]).mean(-1,keepdims=True))
    return {"dx": dx, "params": {"gamma": (upstream*saved["h"]).sum((0,1)), "beta": upstream.sum((0,1))}}
