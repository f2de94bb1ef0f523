"""The edition of C++ is the one that a submission's own files ask for."""

from __future__ import annotations

import pytest

from judge_tui.checks.cuda.standards import stated


@pytest.mark.parametrize(
    ("text", "edition"),
    [
        ("nvcc -O3 -o topk topk.cu", 17),
        ("nvcc -std=c++20 topk.cu", 20),
        ("// build: nvcc --std c++20 topk.cu", 20),
        ("nvcc -std=gnu++2a topk.cu", 20),
        ("nvcc -std=c++23 topk.cu", 20),
        ("nvcc -std=c++14 topk.cu", 17),
        ("g++ -std=c++98 host.cpp", 17),
        ("set(CMAKE_CUDA_STANDARD 20)", 20),
        ("set_target_properties(topk PROPERTIES CUDA_STANDARD 20)", 20),
        ("target_compile_features(topk PUBLIC cuda_std_20)", 20),
        ("it is written in c++20 style", 17),
    ],
)
def test_an_edition_is_read_from_what_builds_it(text: str, edition: int) -> None:
    assert stated([b"__global__ void k();", text.encode()]) == edition


def test_the_newest_one_that_is_asked_for_counts() -> None:
    assert stated([b"nvcc -std=c++14 a.cu", b"nvcc -std=c++20 b.cu"]) == 20
