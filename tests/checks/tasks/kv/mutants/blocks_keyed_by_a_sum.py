# bug: the key holds the sum of the tokens of a block
# caught by: sharing
# passes: paged
import numpy as np


class PrefixBlocks:
    """Blocks of keys and values that sequences with the same beginning share; tokens are told as they come."""

    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.size = block_size
        self.k = np.zeros((num_blocks, block_size, num_heads, head_dim), np.float32)
        self.v = np.zeros_like(self.k)
        self.free, self.users = list(range(num_blocks)), [0] * num_blocks
        self.by_key, self.key_of = {}, {}
        self.table, self.keys, self.ids, self.filled = {}, {}, {}, {}

    def _key(self, before, ids):
        return before, sum(ids)

    def add_sequence(self, seq_id, prompt_tokens=()):
        """A new sequence; returns how many of its first tokens are there already."""
        if seq_id in self.table:
            raise KeyError(f"sequence {seq_id} is there already")
        table, keys, key = [], [], None
        for start in range(0, len(prompt_tokens) - self.size + 1, self.size):
            key = self._key(key, prompt_tokens[start : start + self.size])
            if key not in self.by_key:
                break
            self.users[self.by_key[key]] += 1
            table.append(self.by_key[key])
            keys.append(key)
        self.table[seq_id], self.keys[seq_id], self.ids[seq_id] = table, keys, []
        self.filled[seq_id] = len(table) * self.size
        return self.filled[seq_id]

    def append(self, seq_id, k, v, tokens=None):
        """Keys and values (T, H, D) of further tokens, and their ids if they are known."""
        told = [None] * len(k) if tokens is None else list(tokens)
        for row_k, row_v, token in zip(k, v, told, strict=True):
            n, table = self.filled[seq_id], self.table[seq_id]
            if n % self.size == 0:
                if not self.free:
                    raise MemoryError("no block is free")
                table.append(self.free.pop(0))
                self.users[table[-1]] = 1
                self.ids[seq_id] = []
            self.k[table[-1], n % self.size], self.v[table[-1], n % self.size] = row_k, row_v
            self.filled[seq_id] = n + 1
            self.ids[seq_id].append(token)
            if (n + 1) % self.size == 0:
                self._full(seq_id, table[-1])

    def _full(self, seq_id, block):
        keys, ids = self.keys[seq_id], self.ids[seq_id]
        if None in ids or len(keys) != len(self.table[seq_id]) - 1:
            return
        keys.append(self._key(keys[-1] if keys else None, ids))
        if keys[-1] not in self.by_key:
            self.by_key[keys[-1]], self.key_of[block] = block, keys[-1]

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
        del self.keys[seq_id], self.ids[seq_id], self.filled[seq_id]
