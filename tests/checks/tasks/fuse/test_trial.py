"""What is built while a launcher is looked for: nothing twice that cannot be built."""

from __future__ import annotations

import numpy as np
import pytest

from judge_tui.checks.cuda import emulator
from judge_tui.checks.cuda.emulator import Failure
from judge_tui.checks.cuda.reading import read
from judge_tui.checks.tasks.fuse.driver import driver
from judge_tui.checks.tasks.fuse.launchers import candidates
from judge_tui.checks.tasks.fuse.trial import BuildFailed, settle

ONE = """
__global__ void topk(const float* logits, int* indices, float* probs, int rows, int V, int K) { BODY }
int launch_topk(const float* logits, int* indices, float* probs, int rows, int V, int K) {
    topk<<<rows, 32>>>(logits, indices, probs, rows, V, K);
    return 0;
}
"""


def builds(files: dict[str, bytes], *, own: bool) -> list[str]:
    """The drivers that are built where none can be."""
    built: list[str] = []

    def build(text: str) -> Failure:
        built.append(text)
        return Failure("diagnostics", "refused", own=own)

    with pytest.raises(BuildFailed):
        settle(read(files), build, np.random.default_rng(1))
    return built


def test_a_file_that_cannot_be_compiled_is_compiled_once() -> None:
    other = ONE.replace("topk", "top_k").encode()
    one = {"a.cu": ONE.encode() + other}
    assert len(builds(one, own=False)) > 1
    assert len(builds(one, own=True)) == 1
    two = {"a.cu": ONE.encode(), "b.cu": other}
    assert [("a.cu" in text, "b.cu" in text) for text in builds(two, own=True)] == [
        (True, False),
        (False, True),
    ]


@pytest.mark.parametrize(
    ("body", "own"),
    [
        ("undeclared(rows);", True),
        ('asm("nonsense.u32 %0;" : "=r"(rows));', True),
        ("\n#error no\n", True),
        # fine until a driver calls it so
        ("", False),
    ],
)
def test_whether_a_failure_is_the_files_own_is_told_from_its_place(body: str, own: bool) -> None:
    if reason := emulator.available():
        pytest.skip(reason)
    files = {"a.cu": ONE.replace("BODY", body).encode()}
    launcher = candidates(read({"a.cu": ONE.encode()}))[0]
    text = driver([launcher])
    failure = emulator.build(text if own else text.replace("launch_topk(", "launch_topk(0, "), files)
    assert isinstance(failure, Failure)
    assert failure.own is own, failure.output


def test_what_only_an_instantiation_shows_is_not_the_files_own() -> None:
    if reason := emulator.available():
        pytest.skip(reason)
    text = "template <class T> int twice(T x) { return x.nothing(); }\n"
    failure = emulator.build('#include "a.cu"\nint made = twice(1);\n', {"a.cu": text.encode()})
    assert isinstance(failure, Failure)
    assert "a.cu" in failure.reason
    assert not failure.own
