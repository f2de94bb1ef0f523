# passes: purity
# right: a side list that stops once no live beam can enter it
import numpy as np
class BeamHyps:
    def __init__(s,k,alpha): s.k=k; s.alpha=alpha; s.h=[]
    def add(s,toks,total):
        s.h.append((total/len(toks)**s.alpha,toks)); s.h.sort(key=lambda x:-x[0]); s.h=s.h[:s.k]
    def done(s,best,limit):
        return len(s.h)>=s.k and s.h[-1][0]>=best/limit**s.alpha
def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    out=[]
    for p in prompts:
        H=BeamHyps(beam_width,alpha); live=[([],0.0)]
        for step in range(max_new_tokens):
            c=[]
            for t,l in live:
                r=np.asarray(model.forward(list(p)+t))
                c+=[(l+float(r[k]),t+[int(k)]) for k in np.argsort(-r)[:2*beam_width]]
            c.sort(key=lambda x:-x[0]); c=c[:2*beam_width]; live=[]
            for rank,(l,t) in enumerate(c):
                if t[-1]==eos_token_id:
                    if rank<beam_width: H.add(t,l)
                elif len(live)<beam_width: live.append((t,l))
            if not live or H.done(max(l for _,l in live),max_new_tokens): live=[] if H.done(max([l for _,l in live],default=-1e9),max_new_tokens) else live; break
        for t,l in live:
            if t: H.add(t,l)
        out.append([(t,s) for s,t in H.h])
    return out
