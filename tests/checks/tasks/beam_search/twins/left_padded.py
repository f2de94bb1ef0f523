# passes: purity
# right: padded on the left with a mask, columns per prompt
import numpy as np
def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id, pad_token_id=0):
    B=[[((),0.0,False)] for _ in prompts]
    for _ in range(max_new_tokens):
        rows=[(i,b) for i in range(len(prompts)) for b in B[i] if not b[2]]
        if not rows: break
        L=max(len(prompts[i])+len(b[0]) for i,b in rows)
        ids=np.full((len(rows),L),pad_token_id); mask=np.zeros((len(rows),L),int)
        for r,(i,b) in enumerate(rows):
            s=list(prompts[i])+list(b[0]); ids[r,L-len(s):]=s; mask[r,L-len(s):]=1
        out=model.forward(ids, attention_mask=mask)[:, -1, :]
        out=out-np.logaddexp.reduce(out,axis=1,keepdims=True)
        new=[[b for b in g if b[2]] for g in B]
        for (i,b),row in zip(rows,out):
            for t in np.argsort(-row)[:2*beam_width]: new[i].append((b[0]+(int(t),),b[1]+float(row[t]),int(t)==eos_token_id))
        B=[sorted(g,key=lambda b:-b[1]/len(b[0])**alpha)[:beam_width] for g in new]
    return [([list(b[0]) for b in g],[b[1]/max(1,len(b[0]))**alpha for b in g]) for g in B]
