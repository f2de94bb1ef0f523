# right: one list of what the text grows by; where all of a path is accepted nothing is put behind it
# warns: distribution
import numpy as np


class Verifier:
    def build_tree_mask(self, prompt_len, tree_parents):
        count = len(tree_parents)
        mask = np.tri(prompt_len + count, dtype=bool)
        for node in range(count):
            above = {node}
            parent = tree_parents[node]
            while parent >= 0:
                above.add(parent)
                parent = tree_parents[parent]
            mask[prompt_len + node, prompt_len:] = [other in above for other in range(count)]
        return mask

    def verify_and_accept(self, prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
        size = len(prompt)
        mask = self.build_tree_mask(size, tree_parents)
        logits = target_model.forward([*prompt, *tree_tokens], mask)
        grown, node = [], -1
        while True:
            below = [child for child, parent in enumerate(tree_parents) if parent == node]
            if grown and not below:
                return grown
            grown.append(int(np.argmax(logits[size + node])))
            node = next((child for child in below if tree_tokens[child] == grown[-1]), None)
            if node is None:
                return grown
