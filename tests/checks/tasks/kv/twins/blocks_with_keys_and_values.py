# right: a pool of block objects, each with its keys, its values and a count of owners; forks share them
# only: cache_size_minimality, incremental_equals_full, paged, sharing
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Block:
    keys: np.ndarray
    values: np.ndarray
    owners: int = 0


@dataclass
class Table:
    blocks: list = field(default_factory=list)
    length: int = 0


class PagedKVCache:
    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        shape = (block_size, num_heads, head_dim)
        self.block_size = block_size
        self.pool = [
            Block(np.zeros(shape, np.float32), np.zeros(shape, np.float32)) for _ in range(num_blocks)
        ]
        self.unused = list(reversed(range(num_blocks)))
        self.tables = {}

    def add_sequence(self, seq_id):
        if seq_id in self.tables:
            raise KeyError(f"sequence {seq_id} is there already")
        self.tables[seq_id] = Table()

    def fork(self, parent_id, child_id):
        parent = self.table(parent_id)
        self.add_sequence(child_id)
        self.tables[child_id] = Table(list(parent.blocks), parent.length)
        for number in parent.blocks:
            self.pool[number].owners += 1

    def free(self, seq_id):
        for number in self.table(seq_id).blocks:
            self.give_back(number)
        del self.tables[seq_id]

    def table(self, seq_id):
        if seq_id not in self.tables:
            raise KeyError(f"there is no sequence {seq_id}")
        return self.tables[seq_id]

    def take(self):
        if not self.unused:
            raise RuntimeError("no block is left")
        number = self.unused.pop()
        self.pool[number].owners = 1
        return number

    def give_back(self, number):
        self.pool[number].owners -= 1
        if self.pool[number].owners == 0:
            self.unused.append(number)

    def append(self, seq_id, key, value):
        """One token: key and value are (num_heads, head_dim)."""
        table = self.table(seq_id)
        place = table.length % self.block_size
        if place == 0:
            table.blocks.append(self.take())
        elif self.pool[table.blocks[-1]].owners > 1:
            shared = self.pool[table.blocks[-1]]
            number = self.take()
            self.pool[number].keys[:], self.pool[number].values[:] = shared.keys, shared.values
            self.give_back(table.blocks[-1])
            table.blocks[-1] = number
        block = self.pool[table.blocks[-1]]
        block.keys[place], block.values[place] = key, value
        table.length += 1

    def read(self, seq_id):
        table = self.table(seq_id)
        parts = [self.pool[number] for number in table.blocks]
        keys = np.concatenate([part.keys for part in parts])[: table.length]
        values = np.concatenate([part.values for part in parts])[: table.length]
        return keys, values

    def attend(self, seq_id, query):
        keys, values = self.read(seq_id)
        scores = np.einsum("hd,thd->ht", query, keys) / np.sqrt(query.shape[-1])
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return np.einsum("ht,thd->hd", weights / weights.sum(axis=-1, keepdims=True), values)
