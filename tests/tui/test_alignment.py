from __future__ import annotations

import re
from string import ascii_lowercase

import pytest
from judge_tui.tui.code import alignment
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
    likeness = alignment._likeness

    def counted(a: alignment._Definition, b: alignment._Definition) -> float:
        names.append(a.name)
        return likeness(a, b)

    monkeypatch.setattr(alignment, "_likeness", counted)
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

    monkeypatch.setattr(alignment, "_WORD", Word())
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
