"""Parts that the challenge leaves open: skipped where only spoken of, unbound where code cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.kv import TASK
from judge_tui.checks.tasks.kv.memory_model.closed_form import read
from judge_tui.checks.tasks.kv.memory_model.geometry import Geometry, drawn, meaning, neutral
from judge_tui.checks.tasks.kv.quantized.truth import Lattice, absmax, even
from judge_tui.checks.verdict import Outcome, Verdict

Judged = Callable[[str, Mapping[str, str]], Outcome]

PLAIN = """
import numpy as np

# A paged cache would hand out blocks of 16 tokens; int8 quantization would halve the bytes per token.

class KVCache:
    def __init__(self):
        self.k = self.v = None

    def append(self, k, v):
        self.k = k if self.k is None else np.concatenate([self.k, k], 2)
        self.v = v if self.v is None else np.concatenate([self.v, v], 2)

    def get(self):
        return self.k, self.v
"""

ODD_PAGES = """
class PagedThing:
    def __init__(self, plan):
        self.cells = [[None] * plan["cell"] for _ in range(plan["cells"])]
        self.spare = list(range(plan["cells"]))
        self.owners = {}

    def lay(self, who, what):
        row = self.owners.setdefault(who, [[], 0])
        if row[1] % len(self.cells[0]) == 0:
            row[0].append(self.spare.pop())
        self.cells[row[0][-1]][row[1] % len(self.cells[0])] = what
        row[1] += 1

    def lift(self, who):
        blocks, n = self.owners[who]
        return [t for i in blocks for t in self.cells[i]][:n]

    def let_go(self, who):
        self.spare += self.owners.pop(who)[0]
"""

PAGES_ADAPTER = """
import numpy as np
from pages import PagedThing

def paged(blocks, block_size):
    return PagedThing({"cell": block_size, "cells": blocks})

def paged_append(cache, sequence, k, v):
    cache.lay(sequence, (k[0], v[0]))

def paged_read(cache, sequence):
    k, v = zip(*cache.lift(sequence))
    return np.stack(k)[None], np.stack(v)[None]

def paged_free(cache, sequence):
    cache.let_go(sequence)
"""


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    def run(check: str, files: Mapping[str, str]) -> Outcome:
        folder = tmp_path / "someone" / "kv"
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text)
        (outcome,) = judge(TASK, Submission.at(folder), seed=5, checks=[check]).values()
        return outcome

    return run


@pytest.mark.parametrize("check", ["paged", "quantized", "memory_model"])
def test_what_is_only_spoken_of_is_skipped_with_the_line_that_speaks(check: str, judged: Judged) -> None:
    outcome = judged(check, {"cache.py": PLAIN})
    assert outcome.verdict == Verdict.SKIP
    assert "cache.py:4" in outcome.summary


def test_a_paged_cache_that_no_name_tells_is_unbound_and_not_failed(judged: Judged) -> None:
    outcome = judged("paged", {"pages.py": ODD_PAGES})
    assert outcome.verdict == Verdict.UNBOUND
    assert "PagedThing" in outcome.summary


SHELF = """
class Shelf:
    def __init__(self, plan):
        self.n_pages, self.rows = plan["n"], {}
        self._stack = list(range(self.n_pages))
        self.page = plan["page"]

    def put(self, who, what):
        self.rows.setdefault(who, []).append(self._stack.pop())
        return page_of(self.rows[who], what)

def page_of(pages, what):
    return pages[what % len(pages)]
"""

HEAP = """
class Heap:
    def __init__(self, plan):
        self.block_size, self.num_blocks = plan
        self._free = set(range(self.num_blocks))
"""

MODEL = """
class Stack:
    def __init__(self, config):
        self.block_size, self.blocks = config.block_size, [object() for _ in range(config.n_blocks)]
"""


@pytest.mark.parametrize(
    ("code", "seen"), [(SHELF, "cache.py:4 Shelf (n_pages, "), (HEAP, "cache.py:4 Heap (block_size, ")]
)
def test_a_class_that_handles_pages_under_another_name_is_unbound_and_named(
    code: str, seen: str, judged: Judged
) -> None:
    outcome = judged("paged", {"cache.py": code, "store.py": PLAIN})
    assert outcome.verdict == Verdict.UNBOUND
    assert seen in outcome.summary


def test_blocks_of_a_model_are_no_pages(judged: Judged) -> None:
    assert judged("paged", {"cache.py": MODEL}).verdict == Verdict.SKIP


def test_a_prompt_in_chunks_that_wants_what_nobody_knows_is_unbound_and_says_what(judged: Judged) -> None:
    odd = "\ndef prefill_in_chunks(q, k, v, router, budget):\n    return q\n"
    outcome = judged("chunked_prefill", {"cache.py": PLAIN + odd})
    assert outcome.verdict == Verdict.UNBOUND
    assert "router, budget" in outcome.summary + " ".join(str(e.note) for e in outcome.evidence)


def test_a_rollback_that_refuses_what_was_not_announced_is_unbound_and_not_failed(judged: Judged) -> None:
    drafting = (Path(__file__).parent / "twins" / "rollback_of_a_draft_alone.py").read_text("utf-8")
    outcome = judged("sharing", {"cache.py": drafting})
    assert outcome.verdict == Verdict.UNBOUND
    assert "DraftingCache.rollback" in outcome.summary


def test_an_adapter_of_twelve_lines_binds_it(judged: Judged) -> None:
    outcome = judged("paged", {"pages.py": ODD_PAGES, "adapter.py": PAGES_ADAPTER})
    assert outcome.verdict == Verdict.PASS, outcome.summary


@pytest.mark.parametrize(
    ("name", "quantity"),
    [
        ("num_hidden_layers", "layers"), ("n_kv_heads", "kv_heads"), ("num_attention_heads", "heads"),
        ("d_head", "head_dim"), ("hidden_size", "embed"), ("bytes_per_element", "itemsize"),
        ("dtype_bytes", "itemsize"), ("gpu_memory_gb", "memory"), ("memory_gib", "memory"),
        ("gpu_memory_bytes", "memory_bytes"), ("params_b", "params_b"), ("num_params", "params"),
        ("weight_dtype_bytes", "weight_itemsize"), ("model_size_gb", "weight_gb"), ("batch_size", "batch"),
        ("context_length", "seq"), ("reserve_fraction", "reserve"), ("gpu_memory_utilization", "reserve"),
        ("bytes_per_token", "per_token"), ("kv_dtype", "dtype"), ("colour", ""),
    ],
)  # fmt: skip
def test_a_parameter_is_known_by_its_name(name: str, quantity: str) -> None:
    assert meaning(name) == quantity


def test_an_allowance_is_told_to_take_nothing_away() -> None:
    assert [neutral("overhead", 0.1), neutral("overhead", 1.2), neutral("utilization", 0.9)] == [
        0.0,
        1.0,
        1.0,
    ]


TOLD = frozenset({"layers", "heads", "kv_heads", "head_dim", "itemsize", "seq"})


def figures(
    form: Callable[[Geometry], float], seed: int = 3
) -> tuple[list[float], tuple[Geometry, Geometry]]:
    points = drawn(np.random.default_rng(seed))
    return [form(point) for point in points], points


def right(g: Geometry) -> float:
    return 2.0 * g.layers * g.kv_heads * g.head_dim * g.itemsize * g.seq


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    ("form", "says"),
    [
        (right, "bytes"),
        (lambda g: right(g) / 2**30, "GiB (2^30)"),
        (lambda g: round(right(g) / 1e9, 2), "GB (1e9)"),
        (lambda g: right(g) / 2, "keys and values are counted once, not twice"),
        (
            lambda g: right(g) * g.heads / g.kv_heads,
            "query heads are counted where key and value heads are fewer",
        ),
        (lambda g: right(g) / 1024 / 1e6, "powers of 1000 and of 1024 are mixed: 1024 · 1000²"),
        (lambda g: right(g) / g.layers, "layers are left out"),
        (lambda g: right(g) * 2 / g.itemsize, "a number takes two bytes, whatever it is told"),
    ],
)
def test_figures_are_read_for_what_they_are(form: Callable[[Geometry], float], says: str, seed: int) -> None:
    answers, points = figures(form, seed)
    reading = read(answers, points, TOLD, ())
    assert reading is not None
    assert (reading.unit if reading.right else reading.cause) == says


def test_figures_of_something_else_are_no_form_that_is_known() -> None:
    answers, points = figures(lambda g: 12.0 * g.layers * g.embed**2)
    assert read(answers, points, TOLD, ()) is None


@pytest.mark.parametrize("bits", [8, 4])
def test_the_step_is_read_off_what_comes_back(bits: int) -> None:
    x = even(np.random.default_rng(1), (2, 3, 32, 64))
    lattice = Lattice.of(absmax(x, bits))
    assert lattice.step == pytest.approx(1 / (2 ** (bits - 1) - 1), rel=1e-3)
    assert lattice.bits == bits


def test_numbers_that_come_back_as_they_were_have_no_step() -> None:
    assert Lattice.of(even(np.random.default_rng(1), (2, 3, 32, 64))).step == 0
