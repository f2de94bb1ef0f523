
import numpy as np
def _core(q, k, v, T, causal):
    n, d = q.shape[-2:]; out = np.zeros(q.shape)
    for i in range(0, n, T):
        x = q[..., i:i+T, :]/np.sqrt(d); m=np.full(x.shape[:-1], -np.inf); l=np.zeros(m.shape); a=np.zeros(x.shape)
        for j in range(0, n, T):
            if causal and j >= i + x.shape[-2]: break
            s = x @ k[..., j:j+T, :].swapaxes(-1,-2)
            if causal: s = np.where(np.arange(j, j+s.shape[-1]) <= np.arange(i, i+s.shape[-2])[:,None], s, -np.inf)
            t = np.maximum(m, s.max(-1)); z=np.where(t>-np.inf,t,0); p=np.exp(s-z[...,None]); c=np.exp(m-z)
            l=l*c+p.sum(-1); a=a*c[...,None]+p@v[..., j:j+T, :]; m=t
        out[..., i:i+T, :] = a/np.where(l>0,l,1)[...,None]
    return out
def flash_attention(q, k, v, num_heads, chunk=16, causal=True):
    b,n,e = q.shape; h=num_heads; d=e//h
    s=lambda x: x.reshape(b,n,h,d).transpose(0,2,1,3)
    return _core(s(q),s(k),s(v),chunk,causal).transpose(0,2,1,3).reshape(b,n,e)
