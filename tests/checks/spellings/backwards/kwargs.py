import numpy as np
def layer_norm_forward(x, **params):
    eps = params.get("eps", 1e-5)
    mu=x.mean(-1,keepdims=True); r=1/np.sqrt(x.var(-1,keepdims=True)+eps); h=(x-mu)*r
    return h*params["gamma"]+params["beta"], (h,r,params["gamma"])
def layer_norm_backward(dy, cache):
    h,r,gamma=cache; g=dy*gamma
    return r*(g-g.mean(-1,keepdims=True)-h*(g*h).mean(-1,keepdims=True)), (dy*h).sum((0,1)), dy.sum((0,1))
