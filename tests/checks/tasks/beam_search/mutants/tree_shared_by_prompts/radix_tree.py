"""Radix tree of token prefixes, shared by all prompts of a batch.

A prefix is one node however many beams pass through it, so the model is asked
for its next-token distribution at most once.
"""
import numpy as np


class Node:
    """A token prefix; ``logprob`` and ``length`` cover its generated part."""

    __slots__ = ("parent", "token", "logprob", "length", "children", "next_log_probs")

    def __init__(self, parent=None, token=-1, logprob=0.0, length=0):
        self.parent = parent
        self.token = token
        self.logprob = logprob
        self.length = length
        self.children = {}
        self.next_log_probs = None

    def prefix(self):
        """All tokens from the root, prompt included."""
        tokens, node = [], self
        while node.parent is not None:
            tokens.append(node.token)
            node = node.parent
        return tokens[::-1]

    def generated(self):
        """Only the tokens behind the prompt."""
        return self.prefix()[len(self.prefix()) - self.length:]


class RadixTree:
    def __init__(self, model):
        self.model = model
        self.root = Node()

    def insert_prompt(self, prompt):
        """Node of a whole prompt; prompt tokens cost nothing and have no length."""
        node = self.root
        for token in prompt:
            if token not in node.children:
                node.children[token] = Node(node, token)
            node = node.children[token]
        return node

    def extend(self, node, token):
        """Node for ``node`` followed by a generated ``token``."""
        if token not in node.children:
            node.children[token] = Node(node, token,
                                        node.logprob + float(self.distribution(node)[token]),
                                        node.length + 1)
        return node.children[token]

    def distribution(self, node):
        if node.next_log_probs is None:
            node.next_log_probs = np.asarray(self.model(node.prefix()), dtype=np.float64)
        return node.next_log_probs
