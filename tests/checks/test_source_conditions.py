"""Sizes that one condition of a source names are read together, and drawn together."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.sizes import Sizes
from judge_tui.checks.source_conditions import conditions, singles
from judge_tui.checks.source_integers import integers
from judge_tui.checks.submission import Submission

PYTHON = {
    "if N == 64 and D == 32: pass": {"N": 64, "D": 32},
    "if N == FAST and D == 32: pass": {"N": 64, "D": 32},
    "if not (N != 65 or D != 33): pass": {"N": 65, "D": 33},
    "if 100 <= N and 30 < D <= 40: pass": {"N": 100, "D": 31},
    "if N > 100:\n        if D < 40: pass": {"N": 101, "D": 39},
    "if N != 128: return x\n    if D == 8: return y": {"N": 128, "D": 8},
    "ok = (B, D) == (4, 96)": {"B": 4, "D": 96},
    "if x.shape == (2, 7, 96): pass": {"[0]": 2, "[1]": 7, "[2]": 96},
    "if (N, D) in {(13, 14), (15, 16)}: pass": {"N": 15, "D": 16},
    "run = {(64, 128): one}\n    f = run[N, D]": {"N": 64, "D": 128},
    "run = {(64, 128): one}\n    f = run.get((N, D))": {"N": 64, "D": 128},
    "match (N, D):\n        case (11, 12): pass": {"N": 11, "D": 12},
    "match N:\n        case 11:\n            if D == 12: pass": {"N": 11, "D": 12},
    "if x.shape[-2] == 5 and x.shape[-1] == 6: pass": {"shape[-2]": 5, "shape[-1]": 6},
    "if N % 64 == 0 and D % 16 == 0: pass": {"N": 64, "D": 16},
    "if rows * cols > 65536: pass": {"rows": 256, "cols": 257},
    "a = one if N == 5 and D == 7 else two": {"N": 5, "D": 7},
}
CUDA = {
    "if (V == 128 && K == 8) f();": {"V": 128, "K": 8},
    "if (V == FAST && p.K == 8) f();": {"V": 64, "K": 8},
    "if (!(V != 128 || K != 8)) f();": {"V": 128, "K": 8},
    "if (V > 128) { if (K <= 8) { f(); } }": {"V": 129, "K": 8},
    "if (V != 128) return 0; if (K == 8) f();": {"V": 128, "K": 8},
    "switch (V) { case 128: switch (K) { case 8: f(); break; } break; }": {"V": 128, "K": 8},
    "ranked<128, 8><<<1, 2>>>(x);": {"N": 128, "K": 8},
    "PICK(128, 8)": {"VV": 128, "KK": 8},
    "int q = V == 128 && K == 8 ? 1 : 0;": {"V": 128, "K": 8},
    "if (rows * V > 4096) f();": {"rows": 64, "V": 65},
}


def submission(folder: Path, name: str, text: str) -> Submission:
    place = folder / "someone" / "task"
    place.mkdir(parents=True)
    (place / name).write_text(text)
    return Submission.at(place)


@pytest.mark.parametrize("body", PYTHON)
def test_conditions_of_python(tmp_path: Path, body: str) -> None:
    text = f"FAST = 64\n\ndef run(x, N, D):\n    {body}\n\n"
    text += "if __name__ == '__main__':\n    if N == 3 and D == 4: pass\n"
    found = [dict(one.sizes) for one in conditions(submission(tmp_path, "a.py", text))]
    assert PYTHON[body] in found
    assert {"N": 3, "D": 4} not in found


@pytest.mark.parametrize("body", CUDA)
def test_conditions_of_cuda(tmp_path: Path, body: str) -> None:
    text = (
        "constexpr int FAST = 64;\n#define PICK(VV, KK) if (V == VV && K == KK) { f(); }\n"
        "template <int N, int K> __global__ void ranked(const float* x) {}\n"
        f"int run(int V, int K) {{\n  {body}\n  return 1;\n}}\n"
    )
    found = conditions(submission(tmp_path, "a.cu", text))
    assert CUDA[body] in [dict(one.sizes) for one in found]
    assert {one.line for one in found if dict(one.sizes) == CUDA[body]} == {5}


@pytest.mark.parametrize(
    "text",
    [
        "if N == 64 or D == 32: pass\n",
        "if N == 64 and N == 65: pass\n",
        "if N != 64 and D != 32: pass\n",
        "if N == 64 and ready: pass\n",
        "if N == 64 and D == 0: pass\n",
        "if N == 64\n",
    ],
)
def test_what_asks_for_no_two_sizes_is_none(tmp_path: Path, text: str) -> None:
    assert conditions(submission(tmp_path, "a.py", text)) == ()


AXES = {"D": (2, 500), "N": (2, 500), "B": (1, 90)}


def drawn(tmp_path: Path, text: str, most: int = 6, seed: int = 0) -> list[dict[str, int]]:
    found = conditions(submission(tmp_path, "a.py", text))
    return [dict(one.at) for one in Sizes(np.random.default_rng(seed)).together(found, AXES, most)]


def test_names_tell_the_axes_and_one_beside_each_is_drawn(tmp_path: Path) -> None:
    first, *beside = drawn(tmp_path, "if seq_len == 64 and self.head_dim == 32: pass\n")
    assert first == {"N": 64, "D": 32}
    assert beside in ([{"N": 65, "D": 32}], [{"N": 64, "D": 33}])


def test_without_names_the_last_axes_come_first_and_others_after_them(tmp_path: Path) -> None:
    found = drawn(tmp_path, "if x.shape[1:] == (64, 32): pass\n")
    assert found[0] == {"N": 64, "D": 32}
    assert any(one.keys() != {"N", "D"} or one["N"] == 32 for one in found[1:])


@pytest.mark.parametrize(
    "text",
    ["if seq == 900 and head_dim == 32: pass\n", "if x.ndim == 3 and D == 32: pass\n",
     "if len(x.shape) == 3 and D == 32: pass\n"],
)  # fmt: skip
def test_what_no_input_can_have_is_not_drawn(tmp_path: Path, text: str) -> None:
    assert drawn(tmp_path, text) == []


def test_what_is_about_two_sizes_alone_comes_before_ranges(tmp_path: Path) -> None:
    ranges = "".join(f"if N >= {n} and D >= {n}: pass\n" for n in range(100, 200))
    for seed in range(5):
        found = drawn(tmp_path / str(seed), ranges + "if N == 64 and D == 32: pass\n", seed=seed)
        assert found[0] == {"N": 64, "D": 32}
        assert len(found) == 6


@pytest.mark.parametrize(
    ("name", "line", "wrap"),
    [
        ("a.py", "    if N == {0} and D == {1}: pass\n", "def run(N, D):\n{0}"),
        ("a.py", "N == {0} and D == {1} or ", "ok = {0}False\n"),
        ("a.py", "({0}, {1}): 1, ", "table = {{{0}}}\n"),
        ("a.py", "    if N == {0}: return 1\n", "def run(N, D):\n{0}"),
        ("a.cu", "if (V == {0} && K == {1}) f();\n", "int run(int V, int K) {{ {0} }}"),
        ("a.cu", "if (V != {0}) return 1;\n", "int run(int V, int K) {{ {0} }}"),
    ],
)
def test_thousands_of_conditions_take_no_time(tmp_path: Path, name: str, line: str, wrap: str) -> None:
    text = wrap.format("".join(line.format(n, n + 1) for n in range(2, 2_502)))
    one = submission(tmp_path, name, text)
    before = time.process_time()
    integers(one)
    usual = time.process_time()
    found = conditions(one)
    Sizes(np.random.default_rng(0)).together(found, AXES, 6)
    assert time.process_time() - usual < 3 * (usual - before) + 1.0


def test_one_size_that_is_asked_for_by_name_is_drawn_itself(tmp_path: Path) -> None:
    asked = ("D == 256", "x.ndim == 40", "N > 99", "D != 3")
    text = "def run(x, N, D):\n" + "".join(f"    if {one}: pass\n" for one in asked)
    found = singles(submission(tmp_path, "a.py", text))
    drawn = Sizes(np.random.default_rng(1)).alone(found, {"N": (1, 512), "D": (1, 512)}, 4)
    assert [dict(one.at) for one in drawn] == [{"D": 256}]
    assert str(drawn[0]).startswith("D = 256, which ")
    assert not Sizes(np.random.default_rng(1)).alone(found, {"N": (1, 512), "D": (1, 128)}, 4)
