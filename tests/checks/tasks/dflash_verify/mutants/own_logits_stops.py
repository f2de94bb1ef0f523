# bug: nodes are judged by their own logits, in the order of the list, up to the first refusal
# caught by: parent_logits, golden
import numpy as np
def build_tree_mask(prompt_len, tree_parents):
    n=len(tree_parents); m=np.zeros((prompt_len+n,prompt_len+n),dtype=bool)
    for i in range(prompt_len): m[i,:i+1]=True
    for i in range(n):
        m[prompt_len+i,:prompt_len]=True
        j=i
        while j!=-1:
            m[prompt_len+i,prompt_len+j]=True; j=tree_parents[j]
    return m
def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P=len(prompt)
    logits=target_model.forward(np.array(list(prompt)+list(tree_tokens)), build_tree_mask(P,tree_parents))
    tree_logits=logits[P:]
    accepted=[]; rejected=set()
    for i,t in enumerate(tree_tokens):
        if tree_parents[i] in rejected:
            rejected.add(i); continue
        if np.argmax(tree_logits[i])==t: accepted.append(t)
        else:
            rejected.add(i)
            return accepted, int(np.argmax(tree_logits[i]))
    return accepted, int(np.argmax(logits[-1]))
