from __future__ import annotations

import re
from pathlib import Path
from string import ascii_lowercase

import pytest

from judge_tui.tui.code import likeness
from judge_tui.tui.code.alignment import Alignment, match
from judge_tui.tui.code.highlight import read
from judge_tui.tui.code.source import Source

LEFT = """import numpy as np


class KVCache:
    def __init__(self, size):
        self.keys = np.zeros(size)

    def append(self, key):
        self.keys[self.at] = key


def scaled_attention(query, keys, values):
    scores = query @ keys.T
    return softmax(scores) @ values


def only_here(path):
    print(path)
"""
RIGHT = '''def attention_scaled(q, keys, values):
    """Attend."""
    scores = q @ keys.T
    return softmax(scores) @ values


def helper():
    return {"unlike": "anything"}


class Cache:
    """Keys."""

    def append_step(self, key):
        assert key is not None
        self.keys[self.at] = key
'''


def aligned(left: str, right: str, name: str = "a.py") -> Alignment:
    sides = [Source(text.encode()) for text in (left, right)]
    return match(*((side, read(name, side).symbols) for side in sides))


def names(found: Alignment) -> dict[str, str]:
    return {found.left[a].name: found.right[b].name for a, b in found.pairs.items()}


def test_definitions_are_matched_by_name_content_and_surroundings() -> None:
    assert names(aligned(LEFT, RIGHT)) == {
        "KVCache": "Cache",
        "append": "append_step",
        "scaled_attention": "attention_scaled",
    }


def test_of_two_methods_of_one_name_the_class_decides() -> None:
    encoder, decoder = (
        f"class {name}:\n    def run(self):\n        return 1\n" for name in ("Encoder", "Decoder")
    )
    found = aligned(encoder + decoder, decoder + encoder)
    assert found.pairs == {0: 2, 1: 3, 2: 0, 3: 1}


def test_an_accessor_of_another_class_is_no_match_for_its_name_alone() -> None:
    left = "class KVCache:\n    def get(self):\n        return self.keys[: self.size], self.values\n"
    right = "class Timer:\n    def get(self, name):\n        return time.monotonic() - started[name]\n"
    assert names(aligned(left, right)) == {}
    same = right.replace("Timer", "LayerKVCache")
    assert names(aligned(left, same))["get"] == "get"


def test_names_that_share_a_vague_word_are_matched_by_what_their_functions_do() -> None:
    getter = "class Cache:\n    def get(self, row):\n        return self.keys[row], self.values[row]\n"
    length = "class Cache:\n    def get_seq_len(self, row):\n        return self.seq_lens[row]\n"
    assert names(aligned(getter, length)) == {"Cache": "Cache"}
    body = "(self, row):\n" + "".join(f"        w{n} = self.part_{n}[row]\n" for n in range(12))
    other = "class Other:\n    def pool(self):\n        return None\n"
    one, renamed = (f"class Cache:\n    def {name}{body}\n{other}" for name in ("get", "get_all_parts"))
    assert names(aligned(one, renamed))["get"] == "get_all_parts"


#: Definitions of the reconstructions whose names differ, as far as they answer each other.
RENAMED = [
    (
        ("glm5", "minimax-m2.7"),
        {
            "softmax": "stable_softmax",
            "KVCache": "FlatKVCache",
            "kv_cache_bytes": "cache_bytes",
            "IncrementalDecoder": "KVCacheAwareGenerator",
            "_forward": "forward",
            "merge_heads": "_merge_heads",
        },
    ),
    (("glm5", "qwen36"), {"get_padded": "get_all", "memory_bytes": "allocated_bytes"}),
    (
        ("minimax-m2.7", "qwen36"),
        {"KVCacheConfig": "CacheConfig", "FlatKVCache": "KVCache", "PagedKVCache": "BatchedKVCache"},
    ),
]
#: What has no like in the other one.
ALONE = [
    (("glm5", "minimax-m2.7"), {"get", "get_padded", "multi_head_attention", "update"}),
    (("glm5", "qwen36"), {"merge_heads", "softmax", "IncrementalDecoder"}),
    (("minimax-m2.7", "qwen36"), {"get_seq_len", "_check_batch", "demo_attention"}),
]


def reconstructions(models: tuple[str, str]) -> Alignment:
    root = Path(__file__).parents[2] / "submissions"
    left, right = ((root / model / "kv" / "kv_cache.py").read_text() for model in models)
    return aligned(left, right)


@pytest.mark.parametrize(("models", "pairs"), RENAMED, ids="-".join)
def test_renamed_functions_of_the_reconstructions_stay_matched(
    models: tuple[str, str], pairs: dict[str, str]
) -> None:
    found = names(reconstructions(models))
    assert {one: other for one, other in found.items() if one not in (other, "init")} == pairs


@pytest.mark.parametrize(("models", "alone"), ALONE, ids=lambda value: "-".join(sorted(value)))
def test_functions_of_the_reconstructions_without_a_like_are_matched_with_none(
    models: tuple[str, str], alone: set[str]
) -> None:
    assert not alone & names(reconstructions(models)).keys()


def test_lines_of_a_match_are_counted_from_its_beginning() -> None:
    found = aligned(LEFT, RIGHT)
    assert found.line(11) == 0
    assert found.line(13) == 2
    assert found.reversed().line(2) == 13


def test_a_line_past_the_end_of_a_shorter_match_stays_in_it() -> None:
    long = "def f(x):\n    a = 1\n    b = 2\n    return a + b + x\n"
    found = aligned(long, "x = 1\n\n\ndef f(x):\n    return x\n")
    assert found.line(3) == 4


def test_a_definition_without_a_match_has_no_line() -> None:
    found = aligned(LEFT, RIGHT)
    assert found.line(17) is None
    # not even by the class around it
    assert found.line(5) is None


def test_a_function_within_a_function_goes_with_the_outer_one() -> None:
    inner = "def f(x):\n    def step(y):\n        return y\n\n    return step(x)\n"
    assert aligned(inner, "def f(x):\n    y = x\n    return y\n").line(2) == 2


def test_lines_between_definitions_go_with_the_one_before() -> None:
    found = aligned("def f():\n    return 1\n\n# c\n", "\n\ndef f():\n    return 1\n\n# d\n")
    assert found.line(3) == 5
    assert found.line(0) == 2


def test_large_files_are_matched_by_name_alone() -> None:
    many = "".join(f"def f{n}(x):\n    return x + {n}\n" for n in range(400))
    assert len(aligned(many, many).pairs) == 400


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names that were held against another one's, once for each."""
    names: list[str] = []
    held = likeness._likeness

    def counted(a: likeness.Definition, b: likeness.Definition) -> float:
        names.append(a.name)
        return held(a, b)

    monkeypatch.setattr(likeness, "_likeness", counted)
    return names


def test_of_many_functions_of_one_name_each_is_held_against_the_nearest(compared: list[str]) -> None:
    many = "".join(f"def forward(x):\n    return x * {n}\n" for n in range(600))
    found = aligned(many, "def other():\n    pass\n" * 5 + many)
    assert found.pairs == {n: n + 5 for n in range(600)}
    assert len(compared) <= 40_000


def test_of_many_methods_of_one_name_the_class_decides_wherever_it_stands(compared: list[str]) -> None:
    names = [f"{letter}{n}" for n in range(15) for letter in ascii_lowercase]
    classes = [f"class {name}:\n    def run(self):\n        return 1\n" for name in names]
    found = aligned("".join(classes), "".join(classes[::-1]))
    assert len(found.pairs) == len(found.left) == 780
    ends = {(found.left[a - a % 2].name, found.right[b - b % 2].name) for a, b in found.pairs.items()}
    assert all(one == other for one, other in ends)
    assert len(compared) <= 40_000


def test_a_definition_is_told_by_words_of_a_bounded_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []

    class Word:
        def findall(self, text: str) -> list[str]:
            held.append(len(text))
            return re.findall(r"\w+", text)

    monkeypatch.setattr(likeness, "_WORD", Word())
    long = "def f():\n" + f"    return [{'a, ' * 2_000}]\n" * 20
    assert aligned(long, long).pairs == {0: 0}
    assert max(held) <= 1_000
    nested = "".join(f"{' ' * depth}def f{depth}():\n" for depth in range(40)) + f"{' ' * 40}pass\n"
    held.clear()
    aligned(nested, nested)
    assert 0 < len(held) <= 2 * 16 * 41


def test_kernels_are_matched_too() -> None:
    left = "__global__ void softmax_topk(float* x) {\n  x[0] = 1;\n}\n"
    right = "template <int K>\n__global__ void topk_softmax(float* x) {\n  x[0] = 1;\n}\n"
    assert names(aligned(left, right, "a.cu")) == {"softmax_topk": "topk_softmax"}
