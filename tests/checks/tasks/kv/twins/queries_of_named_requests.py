# right: attention is asked for several requests at once, by their names
# only: paged, incremental_equals_full
# passes: paged, incremental_equals_full
import numpy as np


class BlockStore:
    """A pool of blocks for sequences that come and go; one step attends for any of them together."""

    def __init__(self, num_blocks, block_size, num_heads, head_dim, max_seqs=16):
        self.block_size = block_size
        self.keys = np.zeros((num_blocks, num_heads, block_size, head_dim), np.float32)
        self.values = np.zeros_like(self.keys)
        self.spare = list(range(num_blocks - 1, -1, -1))
        self.seats = list(range(max_seqs - 1, -1, -1))
        self.tables = np.full((max_seqs, num_blocks), -1)
        self.lengths = np.zeros(max_seqs, int)
        self.seat_of = {}

    def add_request(self, request_id):
        self.seat_of[request_id] = self.seats.pop()

    def release(self, request_id):
        seat = self.seat_of.pop(request_id)
        used = self.tables[seat] >= 0
        self.spare += self.tables[seat][used].tolist()
        self.tables[seat], self.lengths[seat] = -1, 0
        self.seats.append(seat)

    def write(self, request_id, k, v):
        """k, v: (H, D), the next token."""
        seat = self.seat_of[request_id]
        block, at = divmod(self.lengths[seat], self.block_size)
        if at == 0:
            if not self.spare:
                raise MemoryError("all blocks are taken")
            self.tables[seat, block] = self.spare.pop()
        where = self.tables[seat, block]
        self.keys[where, :, at], self.values[where, :, at] = k, v
        self.lengths[seat] += 1

    def attend(self, queries, request_ids):
        """queries: (B, H, D), one for each of the requests; the same comes back."""
        out = []
        for row, (query, request_id) in enumerate(zip(queries, request_ids)):
            seat = self.seat_of[request_id]
            n = self.lengths[seat]
            blocks = self.tables[seat][: -(-n // self.block_size)]
            k, v = (np.concatenate(list(x[blocks]), axis=1)[:, :n] for x in (self.keys, self.values))
            scores = np.einsum("hd,hnd->hn", query, k) / query.shape[-1] ** 0.5
            weights = np.exp(scores - scores.max(1, keepdims=True))
            out.append(np.einsum("hn,hnd->hd", weights / weights.sum(1, keepdims=True), v))
        return np.stack(out)
