# bug: the table of a sequence is remembered by its number and its blocks, and outlives the sequence
# caught by: paged
# passes: incremental_equals_full
import numpy as np


class BlockStore:
    """Keys and values of many sequences in blocks of one pool; a sequence begins with its first token."""

    def __init__(self, num_blocks, block_size, num_heads, head_dim, dtype=np.float32):
        self.block_size = block_size
        self.blocks = np.zeros((2, num_blocks, block_size, num_heads, head_dim), dtype)
        self.unused = list(range(num_blocks))
        self.owned, self.lengths, self.tables = {}, {}, {}

    def append(self, seq_id, k, v):
        """Take (T, H, D) more of a sequence."""
        held, length = self.owned.setdefault(seq_id, []), self.lengths.setdefault(seq_id, 0)
        wanted = -(-(length + len(k)) // self.block_size) - len(held)
        if wanted > len(self.unused):
            raise MemoryError(f"{wanted} blocks are wanted, {len(self.unused)} are left")
        held += [self.unused.pop() for _ in range(wanted)]
        for t in range(len(k)):
            place = length + t
            block, slot = held[place // self.block_size], place % self.block_size
            self.blocks[0, block, slot], self.blocks[1, block, slot] = k[t], v[t]
        self.lengths[seq_id] = length + len(k)

    def _table(self, seq_id):
        known = self.tables.get(seq_id)
        if known is None or len(known) != len(self.owned[seq_id]):
            known = self.tables[seq_id] = np.array(self.owned[seq_id])
        return known

    def gather(self, seq_id):
        """Keys and values, (S, H, D) each."""
        rows = self.blocks[:, self._table(seq_id)]
        flat = rows.reshape(2, -1, *rows.shape[3:])[:, : self.lengths[seq_id]]
        return flat[0], flat[1]

    def free(self, seq_id):
        if seq_id not in self.owned:
            raise KeyError(f"there is no sequence {seq_id!r}")
        self.unused += self.owned.pop(seq_id)
        del self.lengths[seq_id]


def attend(q, k, v):
    """The newest tokens' queries, (T, H, D), over (S, H, D)."""
    scores = np.einsum("thd,shd->hts", q, k) / np.sqrt(q.shape[-1])
    scores = np.where(np.tri(len(q), len(k), len(k) - len(q), dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("hts,shd->thd", weights / weights.sum(-1, keepdims=True), v)
