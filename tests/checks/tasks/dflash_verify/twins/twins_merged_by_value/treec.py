# style: a compiler: value numbering merges twins, programs are cached by content, mask arguments turned round
"""treec: compile a draft tree, then run it against a target.

Passes      schedule  : topological levels (any node order is accepted)
            number    : value numbering; siblings that carry the same token are one value, as are equal subtrees' spines
            lower     : dominator bitsets -> mask, depth -> position ids
A compiled program depends on the tree's contents only and is kept in a cache keyed by those contents.  Masks handed
out are fresh arrays.

Run-time registers:  pc = the value where the walk stands (ENTRY = last prompt token), acc = nodes accepted so far.
"""
from functools import lru_cache
from typing import Dict, List, NamedTuple, Tuple

import numpy as np

ENTRY = -1


class Program(NamedTuple):
    level: Tuple[int, ...]               # depth of each node below the prompt
    dom: Tuple[int, ...]                 # bitset of the nodes that dominate node i, itself included
    value: Tuple[int, ...]               # value number: the first node with the same root-to-node tokens
    jump: Dict[Tuple[int, int], int]     # (value, token) -> value


def schedule(parents) -> List[int]:
    """Node indices, parents before children."""
    n = len(parents)
    kids: Dict[int, List[int]] = {}
    for i, p in enumerate(parents):
        if not ENTRY <= p < n:
            raise ValueError(f"node {i}: parent {p} does not exist")
        kids.setdefault(p, []).append(i)
    order = list(kids.get(ENTRY, ()))
    for i in order:
        order.extend(kids.get(i, ()))
    if len(order) != n:
        raise ValueError("some nodes never reach the prompt")
    return order


@lru_cache(maxsize=256)
def compile_tree(parents: Tuple[int, ...], tokens: Tuple[int, ...]) -> Program:
    n = len(parents)
    level, dom, value, jump = [0] * n, [0] * n, [0] * n, {}
    for i in schedule(parents):
        p = parents[i]
        level[i] = 0 if p == ENTRY else level[p] + 1
        dom[i] = (1 << i) | (0 if p == ENTRY else dom[p])
        value[i] = jump.setdefault((ENTRY if p == ENTRY else value[p], tokens[i]), i)
    return Program(tuple(level), tuple(dom), tuple(value), jump)


def _ints(xs) -> Tuple[int, ...]:
    return tuple(int(x) for x in np.asarray(xs, dtype=np.int64).ravel())


def build_tree_mask(tree_parents, prompt_len: int) -> np.ndarray:
    """Emit the attention mask (P+N, P+N), bool, True = may attend."""
    parents = _ints(tree_parents)
    program = compile_tree(parents, tuple(range(len(parents))))
    p, n = int(prompt_len), len(parents)
    mask = np.tri(p + n, dtype=bool)
    mask[:p, p:] = False
    for i, bits in enumerate(program.dom):
        mask[p + i, p:] = [bits >> j & 1 for j in range(n)]
    return mask


class Verdict(NamedTuple):
    accepted: List[int]      # tokens
    new_token: int           # replacement after a mismatch, bonus after a leaf
    nodes: List[int]         # the value numbers (node indices) of the accepted tokens
    hit_leaf: bool


class Verifier:
    """Bind a target once, then call it with trees.

    target(ids (n,), mask (n, n), positions (n,)) -> logits (n, V).
    """

    def __init__(self, target_model, temperature: float = 0.0, seed: int = 0):
        self.target_model, self.temperature, self.rng = target_model, float(temperature), np.random.default_rng(seed)

    def _emit(self, row) -> int:
        if self.temperature <= 0.0:
            return int(np.argmax(row))
        z = np.asarray(row, np.float64) / self.temperature
        z = np.exp(z - z.max())
        return int(np.searchsorted(np.cumsum(z / z.sum())[:-1], self.rng.random(), side="right"))

    def verify_and_accept(self, prompt, tree_tokens, tree_parents) -> Verdict:
        prompt, tokens, parents = _ints(prompt), _ints(tree_tokens), _ints(tree_parents)
        if not prompt:
            raise ValueError("empty prompt")
        if len(tokens) != len(parents):
            raise ValueError("tree_tokens and tree_parents differ in length")
        program, base = compile_tree(parents, tokens), len(prompt)
        logits = self.target_model(np.array(prompt + tokens), build_tree_mask(parents, base),
                                   np.array(tuple(range(base)) + tuple(base + d for d in program.level)))
        pc, nodes = ENTRY, []
        while True:
            token = self._emit(logits[base + pc])        # ENTRY = -1 lands on the last prompt row
            nxt = program.jump.get((pc, token))
            if nxt is None:
                leaf = not any(v == pc for v, _ in program.jump)
                return Verdict([tokens[i] for i in nodes], token, nodes, leaf)
            pc = nxt
            nodes.append(pc)
