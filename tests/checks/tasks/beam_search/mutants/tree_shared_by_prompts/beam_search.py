# bug: prompts share a tree of prefixes, and with it what their paths have scored
# caught by: batch_independence
# passes: greedy_equivalence
"""Batched beam search with a pool of finished and live beams per prompt.

    model(token_ids: list[int]) -> (V,) log-probabilities of the next token
"""
from radix_tree import RadixTree


class BeamSearch:
    """Search settings; call ``run(prompts)``.  Each run builds its own tree."""

    def __init__(self, model, beam_width=4, max_new_tokens=32, alpha=0.6, eos_token_id=0):
        if beam_width < 1 or max_new_tokens < 0:
            raise ValueError("need beam_width >= 1 and max_new_tokens >= 0")
        self.model = model
        self.beam_width = beam_width
        self.max_new_tokens = max_new_tokens
        self.alpha = alpha
        self.eos = eos_token_id

    def _score(self, logprob, length):
        return logprob / max(length, 1) ** self.alpha

    def _step(self, tree, pool):
        """pool: list of (node, finished) -> next pool, best first."""
        # (negative score, arrival order, node, token); token None: already finished
        candidates = []
        for node, finished in pool:
            if finished:
                candidates.append((-self._score(node.logprob, node.length),
                                   len(candidates), node, None))
                continue
            for token, lp in enumerate(tree.distribution(node).tolist()):
                if lp > float("-inf"):
                    candidates.append((-self._score(node.logprob + lp, node.length + 1),
                                       len(candidates), node, token))
        candidates.sort(key=lambda c: c[:2])
        return [(node, True) if token is None else (tree.extend(node, token), token == self.eos)
                for _, _, node, token in candidates[:self.beam_width]]

    def run(self, prompts):
        """Per prompt a list of (tokens, score), best first; EOS is kept in tokens."""
        tree = RadixTree(self.model)
        pools = [[(tree.insert_prompt(prompt), False)] for prompt in prompts]
        for _ in range(self.max_new_tokens):
            if all(done for pool in pools for _, done in pool):
                break
            pools = [self._step(tree, pool) for pool in pools]
        return [[(node.generated(), self._score(node.logprob, node.length)) for node, _ in pool]
                for pool in pools]


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha=0.6, eos_token_id=0):
    return BeamSearch(model, beam_width, max_new_tokens, alpha, eos_token_id).run(prompts)
