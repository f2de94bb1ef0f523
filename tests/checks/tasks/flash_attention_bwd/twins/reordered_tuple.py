# style: methods of one class, a context object of any attributes, the gradients as an unnamed tuple from dV to dQ
# warns: gradients (dV comes first), logsumexp (finite for a row without a key)
# slow: peak_memory
import numpy as np
class Ctx:
    def __init__(self, **kw): self.__dict__.update(kw)
class TiledAttention:
    def __init__(self, block_size: int = 32): self.bs = block_size
    def __call__(self, q, k, v, causal=True): return self.forward(q, k, v, causal)
    def forward(self, q, k, v, causal=True):
        T = q.shape[2]; s = 1/np.sqrt(q.shape[3]); out = np.zeros(q.shape); z = np.zeros(q.shape[:3])
        for a in range(0, T, self.bs):
            qa = q[:, :, a:a+self.bs]; hi = a + qa.shape[2]
            m = np.full(qa.shape[:3], -1e38); den = np.zeros(qa.shape[:3]); num = np.zeros(qa.shape)
            for c in range(0, hi if causal else T, self.bs):
                w = (qa @ k[:, :, c:c+self.bs].swapaxes(2, 3))*s
                if causal: w += np.where(np.arange(c, c+w.shape[3]) > np.arange(a, hi)[:, None], -np.inf, 0)
                mm = np.maximum(m, w.max(3)); e = np.exp(w - mm[..., None]); f = np.exp(m - mm)
                den = den*f + e.sum(3); num = num*f[..., None] + e @ v[:, :, c:c+self.bs]; m = mm
            out[:, :, a:hi] = num/np.maximum(den, 1e-300)[..., None]; z[:, :, a:hi] = m + np.log(np.maximum(den, 1e-300))
        return out, Ctx(q=q, k=k, v=v, out=out, z=z, causal=causal)
    def backward(self, grad, ctx):
        q, k, v = ctx.q, ctx.k, ctx.v; T = q.shape[2]; s = 1/np.sqrt(q.shape[3])
        g = [np.zeros(q.shape) for _ in range(3)]
        r = (grad*ctx.out).sum(3)
        for a in range(0, T, self.bs):
            A = slice(a, min(T, a+self.bs))
            for c in range(0, A.stop if ctx.causal else T, self.bs):
                C = slice(c, min(T, c+self.bs))
                w = (q[:, :, A] @ k[:, :, C].swapaxes(2, 3))*s
                if ctx.causal: w = np.where(np.arange(C.start, C.stop) > np.arange(A.start, A.stop)[:, None], -np.inf, w)
                p = np.exp(w - ctx.z[:, :, A, None]); ds = p*(grad[:, :, A] @ v[:, :, C].swapaxes(2, 3) - r[:, :, A, None])*s
                g[2][:, :, A] += ds @ k[:, :, C]; g[1][:, :, C] += ds.swapaxes(2, 3) @ q[:, :, A]; g[0][:, :, C] += p.swapaxes(2, 3) @ grad[:, :, A]
        return tuple(g)
