# right: the key of a block is made of the one before it and of its own tokens; the count is a parameter of another name
# only: paged, sharing
# passes: paged, sharing
import numpy as np


class PrefixPagedCache:
    """Pages of keys and values that sequences with the same beginning share."""

    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.size = block_size
        self.k = np.zeros((num_blocks, block_size, num_heads, head_dim), np.float32)
        self.v = np.zeros_like(self.k)
        self.free = list(range(num_blocks))
        self.users = [0] * num_blocks
        self.by_key = {}
        self.key_of = {}
        self.table, self.ids, self.filled = {}, {}, {}

    def _key(self, ids, block):
        key = 0
        for b in range(block + 1):
            key = hash((key, tuple(ids[b * self.size : (b + 1) * self.size])))
        return key

    def allocate(self, seq_id, tokens):
        """A sequence with its prompt; returns how many of its tokens are there already."""
        if seq_id in self.table:
            raise KeyError(f"sequence {seq_id} is there already")
        table = []
        for block in range(len(tokens) // self.size):
            found = self.by_key.get(self._key(tokens, block))
            if found is None:
                break
            self.users[found] += 1
            table.append(found)
        self.table[seq_id], self.ids[seq_id] = table, list(tokens)
        self.filled[seq_id] = len(table) * self.size
        return self.filled[seq_id]

    def append(self, seq_id, k, v):
        """Keys and values (H, D) of the next token."""
        n, table = self.filled[seq_id], self.table[seq_id]
        if n % self.size == 0:
            if not self.free:
                raise MemoryError("no block is free")
            table.append(self.free.pop(0))
            self.users[table[-1]] = 1
        self.k[table[-1], n % self.size], self.v[table[-1], n % self.size] = k, v
        self.filled[seq_id] = n + 1
        if (n + 1) % self.size == 0 and n + 1 <= len(self.ids[seq_id]):
            key = self._key(self.ids[seq_id], n // self.size)
            if key not in self.by_key:
                self.by_key[key], self.key_of[table[-1]] = table[-1], key

    def read(self, seq_id):
        """(S, H, D) each."""
        n, table = self.filled[seq_id], self.table[seq_id]
        return tuple(x[table].reshape(-1, *x.shape[2:])[:n] for x in (self.k, self.v))

    def free_sequence(self, seq_id):
        for block in self.table.pop(seq_id):
            self.users[block] -= 1
            if self.users[block] == 0:
                self.by_key.pop(self.key_of.pop(block, None), None)
                self.free.append(block)
        del self.ids[seq_id], self.filled[seq_id]
