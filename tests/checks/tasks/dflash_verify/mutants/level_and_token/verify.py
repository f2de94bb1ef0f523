# bug: candidates are found by level and token, whoever their parent is, so that a walk can go on at a cousin; a target with a prefix cache
# caught by: golden, subtree_invalidation
# passes: tree_mask, parent_logits
"""Tree verification: accept the longest branch the target itself would produce."""

from __future__ import annotations

import numpy as np

from draft_tree import DraftTree, build_tree_mask
from target_lm import TargetLM

__all__ = ["build_tree_mask", "verify_and_accept", "speculative_generate", "TargetLM"]


class _Decider:
    """Turns a row of logits into the target's next token."""

    def __init__(self, temperature: float, generator: np.random.Generator | None):
        if temperature < 0:
            raise ValueError("temperature must not be negative")
        self.temperature = temperature
        self.generator = generator if generator is not None else np.random.default_rng()

    def pick(self, logits: np.ndarray) -> int:
        if self.temperature == 0:
            return int(np.argmax(logits))
        z = (logits - logits.max()) / self.temperature
        cdf = np.cumsum(np.exp(z))
        return int(np.searchsorted(cdf, self.generator.random() * cdf[-1], side="right"))


def verify_and_accept(
    prompt,
    tree_tokens,
    tree_parents,
    target_model: TargetLM,
    temperature: float = 0.0,
    generator: np.random.Generator | None = None,
) -> tuple[list[int], int]:
    """Verify a draft tree with a prefill plus one tree pass.

    At each step the target names its next token given everything accepted so far
    (argmax at temperature 0, a sample otherwise).  If the draft proposed that token
    we move to the proposing node, for free, and go on; if not, the token is
    returned as ``new_token``.  Because the emitted token is always the target's own
    choice the scheme is lossless for every temperature.

    Returns ``(accepted, new_token)``.
    """
    if len(prompt) == 0:
        raise ValueError("need a non-empty prompt")
    tree = DraftTree.compile(tree_tokens, tree_parents)
    decider = _Decider(temperature, generator)

    root_logits, prefix = target_model.prefill(prompt)
    if len(tree):
        node_logits = target_model.score_tree(
            prefix,
            tree.tokens,
            positions=prefix.length - 1 + tree.level,
            visible=tree.attention_rows(prefix.length),
        )

    accepted: list[int] = []
    token = decider.pick(root_logits)
    while True:
        node = tree.candidates.get((len(accepted) + 1, token))
        if node is None:
            return accepted, token
        accepted.append(token)
        token = decider.pick(node_logits[node])


def speculative_generate(prompt, draft, target_model, max_new_tokens, temperature=0.0, generator=None):
    """Decode with a drafter ``draft(tokens) -> (tree_tokens, tree_parents)``."""
    out: list[int] = []
    while len(out) < max_new_tokens:
        context = list(prompt) + out
        accepted, new_token = verify_and_accept(
            context, *draft(context), target_model, temperature, generator
        )
        out += accepted + [new_token]
    return out[:max_new_tokens]
