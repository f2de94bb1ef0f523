import numpy as np
def fwd(x, gamma, beta, epsilon):
    mu=x.mean(-1,keepdims=True); r=1/np.sqrt(x.var(-1,keepdims=True)+epsilon); h=(x-mu)*r
    return [h*gamma+beta, [h,r,gamma]]
def bwd(dout, cache):
    h,r,gamma=cache; g=dout*gamma
    return [dout.sum(axis=(0,1),keepdims=True), (dout*h).sum(axis=(0,1),keepdims=True), r*(g-g.mean(-1,keepdims=True)-h*(g*h).mean(-1,keepdims=True))]
