"""Pools whose blocks the caller chooses: what is told of them, in which forms they bind, and what is kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.bound import searched
from judge_tui.checks.faults import Skipped
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.kv import TASK
from judge_tui.checks.tasks.kv.faces.block_tables import Held, of_rows, scattered, told
from judge_tui.checks.tasks.kv.words.sizes import Sizes
from judge_tui.checks.verdict import Verdict

LISTS = """
import numpy as np

class SlotPool:
    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.keys = np.zeros((num_blocks * block_size, num_heads, head_dim))
        self.values, self.size = self.keys.copy(), block_size

    def write_slot(self, slot, k, v):
        self.keys[slot], self.values[slot] = k, v

    def gather(self, block_ids):
        slots = [self.size * block + i for block in block_ids + [] for i in range(self.size)]
        return self.keys[slots], self.values[slots]
"""

LAYERED = """
import numpy as np

def make_pages(num_layers, num_pages, page_size, num_heads, head_dim):
    shape = num_layers, num_pages, num_heads, page_size, head_dim
    return {"k": np.zeros(shape), "v": np.zeros(shape)}

def write_page(pool, layer_idx, page_idx, page_offset, k, v):
    pool["k"][layer_idx, page_idx, :, page_offset] = k
    pool["v"][layer_idx, page_idx, :, page_offset] = v

def gather_pages(pool, layer_idx, page_table, num_tokens):
    return tuple(np.concatenate(pool[n][layer_idx, page_table], axis=1)[:, :num_tokens] for n in "kv")
"""

ALONE = """
import numpy as np

class Blocks:
    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.data = np.zeros((num_blocks, block_size, num_heads, head_dim))

    def write(self, block_id, offset, x):
        self.data[block_id, offset] = x

    def gather(self, block_table, seq_len):
        return self.data[block_table].reshape(-1, *self.data.shape[2:])[:seq_len]
"""

NUMBERED = """
import numpy as np

class BlockPool:
    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.data = np.zeros((2, num_blocks, block_size, num_heads, head_dim))
        self.spare = list(range(num_blocks))

class SequenceCache:
    def __init__(self, pool, seq_id):
        self.pool, self.name, self.blocks, self.length = pool, seq_id, [], 0

    def append(self, k, v):
        size = self.pool.data.shape[2]
        if self.length % size == 0:
            self.blocks.append(self.pool.spare.pop())
        self.pool.data[:, self.blocks[-1], self.length % size] = k, v
        self.length += 1

    def get(self):
        both = self.pool.data[:, self.blocks]
        return tuple(x.reshape(-1, *x.shape[2:])[: self.length] for x in both)

    def free(self):
        self.pool.spare += self.blocks
        self.blocks, self.length = [], 0
"""


def test_tokens_lie_where_their_table_says() -> None:
    inputs = told([Held([7, 2], 3, 2), Held([5], 1)], 4)
    assert inputs["slots"].tolist() == [7 * 4 + 3, 2 * 4]
    assert (inputs["block"], inputs["offset"], inputs["length"]) == (7, 3, 5)
    assert inputs["tables"].tolist() == [[7, 2], [5, 0]]
    assert inputs["totals"].tolist() == [5, 1]
    assert np.array_equal(inputs["layer_tables"][inputs["table_layer"]], inputs["tables"])
    assert not np.array_equal(inputs["layer_tables"][0], inputs["tables"])


def test_no_block_is_two_sequences() -> None:
    sizes = Sizes(batch=3, max_len=10)
    tables = of_rows(sizes, [10, 10, 10], [0, 0, 0], 0)["tables"]
    assert sorted(tables.ravel().tolist()) == sorted(scattered(9))
    with pytest.raises(Skipped, match="caller chooses the blocks"):
        of_rows(sizes, [10], [1], 0)


@pytest.mark.parametrize(
    ("source", "args"),
    [(LISTS, "lists:table"), (LAYERED, "layer"), (NUMBERED, ""), (ALONE, "table")],
    ids=["lists", "layers", "numbered", "one_for_keys_one_for_values"],
)
def test_pools_bind_in_other_forms_and_what_is_kept_binds_again(
    tmp_path: Path, source: str, args: str
) -> None:
    folder = tmp_path / "somebody" / "kv"
    folder.mkdir(parents=True)
    (folder / "pool.py").write_text(source)
    found = searched(TASK, Submission.at(folder), seed=1).found
    assert args in [str(argument) for argument in found["paged_read"].args] or not args
    kept = [
        f"[binding.{role}]\ntarget = {b.target!r}\nargs = {[str(a) for a in b.args]}\nlayout = {b.layout!r}\n"
        + (f"on = {b.on!r}\n" if b.on else "")
        + ('returns = { sequence = "" }\n' if "sequence" in b.returns else "")
        for role, b in found.items()
        if role.startswith("paged")
    ]
    assert judge(TASK, Submission.at(folder), seed=1, checks=["paged"])["paged"].verdict is Verdict.PASS
    (folder / "submission.toml").write_text("\n".join(kept))
    again = judge(TASK, Submission.at(folder), seed=1, checks=["paged"])["paged"]
    assert again.verdict is Verdict.PASS, again.summary
