# passes: purity
# right: the model is an object of the module that takes two sizes
import numpy as np
def lsm(x):
    x=np.asarray(x,float); x=x-x.max(); return x-np.log(np.exp(x).sum())
def core(rowfn, prompt, K, steps, alpha, eos, lenf=lambda t,e: len(t)):
    sc=lambda b: b[1]/max(lenf(b[0],eos),1)**alpha
    beams=[([],0.0,False)]
    for _ in range(steps):
        live=[b for b in beams if not b[2]]
        if not live: break
        c=[b for b in beams if b[2]]
        for t,l,_d in live:
            r=lsm(rowfn(list(prompt)+t))
            for k in np.argsort(-r)[:2*K]: c.append((t+[int(k)],l+float(r[k]),int(k)==eos))
        c.sort(key=sc,reverse=True); beams=c[:K]
    return [(t,sc((t,l,d)),l) for t,l,d in beams]

class LM:
    def __init__(self, vocab, dim): self.E=np.ones((vocab,dim))
    def __call__(self, ids): return self.E.sum(1)
MODEL=LM(9,3)
def batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    return [[(t,s) for t,s,_ in core(lambda p: MODEL(p), p, beam_width, max_new_tokens, alpha, eos_token_id)] for p in prompts]
