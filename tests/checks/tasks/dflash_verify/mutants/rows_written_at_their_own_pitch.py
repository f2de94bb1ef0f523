# bug: a mask is written with rows of its own length into room that a larger one left, and read with the room's
# caught by: tree_mask, golden
# only: tree_mask, golden
import numpy as np


class Room:
    """One flat array for all masks; rows are a whole number of 16 entries long, and it never shrinks."""

    def __init__(self):
        self.cells, self.pitch = np.zeros(0, dtype=bool), 0

    def made(self, size):
        pitch = (size + 15) // 16 * 16
        if pitch > self.pitch:
            self.cells, self.pitch = np.zeros(pitch * pitch, dtype=bool), pitch
        self.cells[:] = False
        return pitch, self.pitch


room = Room()


def build_tree_mask(prompt_len, tree_parents):
    """(P + N, P + N), true where a position is seen."""
    size = prompt_len + len(tree_parents)
    writes, reads = room.made(size)
    for place in range(size):
        node, row = place - prompt_len, place * writes
        room.cells[row : row + min(place + 1, prompt_len)] = True
        while node >= 0:
            room.cells[row + prompt_len + node] = True
            node = tree_parents[node]
    whole = np.zeros(size * reads, dtype=bool)
    held = room.cells[: size * reads]
    whole[: len(held)] = held
    return whole.reshape(size, reads)[:, :size].copy()


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature):
    """Accepted tokens, and the target's own behind them; what is drawn above 0 is right by rejection."""
    rng = np.random.default_rng()
    prompt, parents = list(prompt), [int(parent) for parent in tree_parents]
    logits = np.asarray(target_model(prompt + list(tree_tokens), build_tree_mask(len(prompt), parents)), dtype=float)
    accepted, node = [], -1
    while True:
        row = logits[len(prompt) + node if node >= 0 else len(prompt) - 1]
        chances = np.eye(len(row))[row.argmax()]
        if temperature > 0:
            chances = np.exp((row - row.max()) / temperature)
            chances /= chances.sum()
        token = int(rng.choice(len(row), p=chances))
        child = next((i for i, parent in enumerate(parents) if parent == node and tree_tokens[i] == token), None)
        if child is None:
            return accepted, token
        accepted.append(token)
        node = child
