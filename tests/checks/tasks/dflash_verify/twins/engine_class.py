# right: an engine that makes its own model from sizes; long names; typed result
# warns: distribution
from dataclasses import dataclass, field
from typing import List, Sequence

import numpy as np


@dataclass
class VerificationResult:
    accepted_tokens: List[int] = field(default_factory=list)
    accepted_indices: List[int] = field(default_factory=list)
    new_token: int = -1
    num_accepted: int = 0


class MinimalTargetModel:
    def __init__(self, vocab_size: int, hidden_dim: int = 16, seed: int = 42):
        rng = np.random.default_rng(seed)
        self.embedding = rng.standard_normal((vocab_size, hidden_dim))
        self.projection = rng.standard_normal((hidden_dim, vocab_size))

    def forward(self, token_ids: np.ndarray, attention_mask: np.ndarray) -> np.ndarray:
        hidden = self.embedding[token_ids]
        weights = attention_mask / attention_mask.sum(-1, keepdims=True)
        return np.tanh(weights @ hidden) @ self.projection


class DFlashVerifier:
    def __init__(self, vocab_size: int = 128, hidden_dim: int = 16):
        self.vocab_size = vocab_size
        self.target = MinimalTargetModel(vocab_size, hidden_dim)

    def build_tree_mask(self, prompt_length: int, parent_indices: Sequence[int]) -> np.ndarray:
        num_nodes = len(parent_indices)
        total_length = prompt_length + num_nodes
        mask = np.zeros((total_length, total_length), dtype=bool)
        for position in range(prompt_length):
            mask[position, : position + 1] = True
        for node in range(num_nodes):
            mask[prompt_length + node, :prompt_length] = True
            ancestor = node
            while ancestor >= 0:
                mask[prompt_length + node, prompt_length + ancestor] = True
                ancestor = parent_indices[ancestor]
        return mask

    def verify_and_accept(self, prompt_tokens, draft_tokens, parent_indices, temperature: float = 0.0) -> VerificationResult:
        prompt_length = len(prompt_tokens)
        all_tokens = np.concatenate([np.asarray(prompt_tokens, dtype=np.int64), np.asarray(draft_tokens, dtype=np.int64)])
        logits = self.target.forward(all_tokens, self.build_tree_mask(prompt_length, parent_indices))
        result = VerificationResult()
        current = -1
        while True:
            position = prompt_length - 1 if current == -1 else prompt_length + current
            predicted = int(np.argmax(logits[position]))
            for node, parent in enumerate(parent_indices):
                if parent == current and int(draft_tokens[node]) == predicted:
                    result.accepted_tokens.append(predicted)
                    result.accepted_indices.append(node)
                    current = node
                    break
            else:
                result.new_token = predicted
                result.num_accepted = len(result.accepted_tokens)
                return result


if __name__ == "__main__":
    verifier = DFlashVerifier()
    print(verifier.verify_and_accept([1, 2, 3], [5, 6], [-1, 0]))
