"""What is bound, and what is said where nothing can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.kv import TASK
from judge_tui.checks.tasks.kv.faces.axis_orders import JOINED, LAYOUTS, fits, from_wire, to_wire, wire_shape
from judge_tui.checks.tasks.kv.words.reference import MISTAKES, Mistake, attention, diagnosis
from judge_tui.checks.verdict import Outcome, Verdict

Judged = Callable[[Mapping[str, str]], Outcome]

STORE = """
class KVCache:
    def __init__(self):
        self.k, self.v = [], []

    def append(self, k, v):
        self.k.append(k)
        self.v.append(v)

    def get(self):
        import numpy as np
        return np.concatenate(self.k, 2), np.concatenate(self.v, 2)
"""

ODD = """
class Memory:
    def __init__(self, settings):
        assert settings == {"how": "plain"}
        self.rows = []

def remember(memory, pair):
    memory.rows.append(pair)

def recall(memory, question):
    import numpy as np
    k, v = (np.concatenate(x, 2) for x in zip(*memory.rows))
    s = question @ k.swapaxes(2, 3) / np.sqrt(question.shape[-1])
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v
"""

ADAPTER = """
from memory import Memory, recall, remember

def create():
    return Memory({"how": "plain"})

def append(cache, k, v):
    remember(cache, (k, v))

def attend(q, cache):
    return recall(cache, q)
"""


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    def run(files: Mapping[str, str]) -> Outcome:
        folder = tmp_path / "someone" / "kv"
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text)
        (outcome,) = judge(TASK, Submission.at(folder), seed=5, checks=["incremental_equals_full"]).values()
        return outcome

    return run


def test_what_no_name_tells_is_unbound(judged: Judged) -> None:
    assert judged({"memory.py": ODD}).verdict == Verdict.UNBOUND


def test_an_adapter_of_ten_lines_binds_it(judged: Judged) -> None:
    outcome = judged({"memory.py": ODD, "adapter.py": ADAPTER})
    assert outcome.verdict == Verdict.PASS, outcome.summary


READS_BACK = """
def read(cache):
    import numpy as np
    return tuple(np.concatenate(x, 2) for x in zip(*cache.rows))
"""


def test_attention_of_an_adapter_that_is_never_right_is_judged_in_the_order_of_the_contract(
    judged: Judged,
) -> None:
    unscaled = ODD.replace(" / np.sqrt(question.shape[-1])", "")
    outcome = judged({"memory.py": unscaled, "adapter.py": ADAPTER + READS_BACK})
    assert (outcome.verdict, "not scaled" in outcome.summary) == (Verdict.FAIL, True), outcome.summary


HELPERS = "".join(f"def helper_{number}(one, other):\n    return one\n\n\n" for number in range(9))
UNTOLD = """
class Layer:
    def __init__(self, generator):
        self.generator = generator

    def forward(self, x, kv_cache, start_pos):
        return self.generator(x, kv_cache, start_pos)
"""


def test_of_many_callables_those_nearest_to_a_role_are_named(judged: Judged) -> None:
    outcome = judged({"layer.py": HELPERS + UNTOLD})
    assert (outcome.verdict, "saw layer.py:Layer.forward(x, kv_cache, start_pos)" in outcome.summary) == (
        Verdict.UNBOUND,
        True,
    ), outcome.summary


RUNNING = """
import numpy as np

def attend_step(q, k, v, state=None):
    if state is None:
        state = {"top": np.full((*q.shape[:-1], 1), -np.inf), "sum": 0.0, "out": np.zeros(q.shape)}
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    top = np.maximum(state["top"], scores.max(-1, keepdims=True))
    past, new = np.exp(state["top"] - top), np.exp(scores - top)
    total = state["sum"] * past + new.sum(-1, keepdims=True)
    out = state["out"] * past + new @ v
    return out / total, {"top": top, "sum": total, "out": out}
"""


def test_running_sums_of_attention_over_one_query_are_no_cache(judged: Judged) -> None:
    outcome = judged({"online.py": RUNNING})
    assert outcome.verdict == Verdict.UNBOUND, outcome.summary
    assert "does not grow with the tokens" in outcome.summary


PUBLISHED = """
class Ledger:
    def __init__(self):
        self.rows, self.shown = [], 0

    def put(self, pair):
        self.rows.append(pair)

    def commit(self):
        self.shown = len(self.rows)
"""

PUBLISHES_LATE = """
import numpy as np
from ledger import Ledger

def create():
    return Ledger()

def append(cache, k, v):
    cache.commit()
    cache.put((k, v))

def attend(q, cache):
    if not cache.shown:
        return np.zeros_like(q)
    k, v = (np.concatenate(x, 2) for x in zip(*cache.rows[: cache.shown]))
    s = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1])
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v
"""


def test_nothing_is_added_to_an_adapter_that_feeds_the_cache(judged: Judged) -> None:
    outcome = judged({"ledger.py": PUBLISHED, "adapter.py": PUBLISHES_LATE})
    assert outcome.verdict == Verdict.FAIL, outcome.summary


def test_a_cache_without_attention_is_unbound_and_not_passed(judged: Judged) -> None:
    outcome = judged({"cache.py": STORE})
    assert outcome.verdict == Verdict.UNBOUND


ANOTHER_KIND = """

def cached_attention(q, cache, sharpness=1.7):
    import numpy as np
    k, v = cache.get()
    s = np.maximum(q @ k.swapaxes(2, 3), 0) ** sharpness  # relu attention has no softmax
    return s / (1 + s.sum(-1, keepdims=True)) @ v
"""


def test_another_kind_of_attention_over_right_storage_is_not_failed(judged: Judged) -> None:
    outcome = judged({"cache.py": STORE + ANOTHER_KIND})
    assert outcome.verdict == Verdict.UNBOUND, outcome.summary


PLACED = """
import numpy as np

def attention(q, k, v{more}):
    s = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1])
    rows = {rows} + np.arange(q.shape[2])[:, None]
    s = np.where(np.arange(k.shape[2]) <= rows, s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v
"""


@pytest.mark.parametrize(
    ("more", "rows", "verdict"),
    [
        (", first=0", "first", Verdict.PASS),
        (", ahead=0", "ahead", Verdict.UNBOUND),
        # for every query of every sequence, and for every query alike
        (", q_pos", "q_pos[:, None, :, None] + 0 *", Verdict.PASS),
        (", q_pos: np.ndarray", "np.reshape(q_pos, (-1, 1)) + 0 *", Verdict.PASS),
        ("", "0", Verdict.FAIL),
    ],
)
def test_attention_may_have_to_be_told_where_its_queries_stand(
    judged: Judged, more: str, rows: str, verdict: Verdict
) -> None:
    outcome = judged({"cache.py": STORE + PLACED.format(more=more, rows=rows)})
    assert outcome.verdict == verdict, outcome.summary


def test_what_attends_to_a_whole_sequence_is_not_failed_for_a_step(judged: Judged) -> None:
    whole = PLACED.format(more="", rows="0").replace("def attention", "def full_attend")
    outcome = judged({"cache.py": STORE + whole})
    assert outcome.verdict == Verdict.UNBOUND, outcome.summary


def test_wrong_attention_that_nothing_else_can_be_is_failed(judged: Judged) -> None:
    plain = ANOTHER_KIND.replace("  # relu attention has no softmax", "")
    outcome = judged({"cache.py": STORE + plain})
    assert outcome.verdict == Verdict.FAIL, outcome.summary


ATTENDING = """

class Attending:
    def __init__(self, heads, width):
        self.scale = width ** -0.5

    def over(self, query, kv_cache):
        import numpy as np
        k, v = kv_cache.get()
        s = query @ k.swapaxes(2, 3) * self.scale
        p = np.exp(s - s.max(-1, keepdims=True))
        return p / p.sum(-1, keepdims=True) @ v
"""
BOUND = """
[binding.create]
target = "cache.py:KVCache"

[binding.append]
target = "cache.py:KVCache.append"
on = "cache"
args = ["k", "v"]
layout = "BHND"

[binding.attend]
target = "cache.py:Attending.over"
init = ["heads", "SIZE"]
args = ["q", "cache"]
layout = "BHND"
"""


def test_a_binding_by_hand_makes_the_object_that_attends(judged: Judged) -> None:
    outcome = judged({"cache.py": STORE + ATTENDING, "submission.toml": BOUND.replace("SIZE", "head_dim")})
    assert outcome.verdict == Verdict.PASS, outcome.summary


def test_a_binding_that_asks_for_what_there_is_not_is_unbound_and_says_so(judged: Judged) -> None:
    outcome = judged({"cache.py": STORE + ATTENDING, "submission.toml": BOUND.replace("SIZE", "width")})
    assert (outcome.verdict, outcome.summary) == (
        Verdict.UNBOUND, "its binding does not fit: role 'attend' was called without 'width'"
    )  # fmt: skip


def test_what_was_seen_is_told_where_nothing_looks_like_a_cache(judged: Judged) -> None:
    outcome = judged({"memory.py": ODD.replace("remember(memory, pair)", "put(thing)")})
    assert outcome.verdict == Verdict.UNBOUND
    assert "saw memory.py:recall(memory, question), memory.py:put(thing)" in outcome.summary


def test_a_call_that_ends_the_process_is_the_submissions_failure(judged: Judged) -> None:
    deadly = STORE.replace("self.v.append(v)", "import os; os._exit(3)")
    outcome = judged({"cache.py": deadly})
    assert outcome.verdict == Verdict.FAIL
    assert "status 3" in outcome.summary


def test_no_file_at_all_is_skipped(judged: Judged) -> None:
    assert judged({}).verdict == Verdict.SKIP


@pytest.mark.parametrize("layout", [*LAYOUTS, *JOINED])
def test_what_goes_over_the_wire_comes_back(layout: str) -> None:
    shape = (1 if "B" not in layout else 2, 3, 1 if "N" not in layout else 4, 5)
    array = np.arange(np.prod(shape)).reshape(shape)
    assert fits(layout, shape[0], shape[2])
    sent = to_wire(array, layout)
    assert sent.shape == wire_shape(shape, layout)
    assert np.array_equal(from_wire(sent, shape, layout), array)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.words)
def test_a_usual_mistake_is_called_by_its_name(mistake: Mistake) -> None:
    rng = np.random.default_rng(3)
    q, k, v = (rng.standard_normal((1, 3, n, 8)) for n in (1, 6, 6))
    with np.errstate(all="ignore"):
        wrong = mistake.made(q, k, v)
    assert diagnosis(wrong, q, k, v) == mistake.words
    assert diagnosis(attention(q, k, v), q, k, v) == ""


PENDING = """
import numpy as np

class KVCache:
    def __init__(self, num_layers, batch, heads, max_len, head_dim):
        self.kv = np.zeros((2, num_layers, batch, heads, max_len, head_dim), np.float32)
        self.used = 0

    def append(self, layer, k, v):
        self.kv[0, layer, :, :, self.used : self.used + k.shape[2]] = k
        self.kv[1, layer, :, :, self.used : self.used + k.shape[2]] = v

    def attend(self, layer, q):
        k, v = self.kv[:, layer, :, :, : self.used + q.shape[2]]
        s = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3])
        p = np.exp(s - s.max(3, keepdims=True))
        return p @ v / p.sum(3, keepdims=True)
"""

MOVES_BY_HAND = """
    def ingest(self, plan, of_whom):
        for layer, k, v in plan:
            self.append(layer, k, v)
        self.used += of_whom.tokens
"""

REWINDS = """
    def prefill(self, layer, k, v):
        self.append(layer, k, v)
        self.used += k.shape[2]

    def truncate(self, n):
        self.used = min(self.used, n + 1)
"""


def test_a_length_that_something_uncallable_moves_is_unbound_and_names_it(judged: Judged) -> None:
    outcome = judged({"cache.py": PENDING + MOVES_BY_HAND})
    assert outcome.verdict == Verdict.UNBOUND
    line = (PENDING + MOVES_BY_HAND).splitlines().index("        self.used += of_whom.tokens") + 1
    assert f"KVCache.append leaves 'used' as it was; cache.py:{line} ingest moves it" in outcome.summary


@pytest.mark.parametrize("more", ["", REWINDS])
def test_a_length_that_appending_alone_could_move_and_does_not_fails(judged: Judged, more: str) -> None:
    assert judged({"cache.py": PENDING + more}).verdict == Verdict.FAIL
