# passes: purity
# right: EOS is taken off and does not count
# ambiguous: length_penalty, eos_retention
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

def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    return [[([x for x in t if x!=eos_token_id],s) for t,s,_ in core(lambda p: model.forward(p), p, beam_width, max_new_tokens, alpha, eos_token_id, lambda t,e: len(t)-(e in t))] for p in prompts]
