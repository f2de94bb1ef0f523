"""What is read from CUDA sources: kernels, launchers, template arguments however code spells them."""

from __future__ import annotations

import pytest

from judge_tui.checks.cuda.constants import integer
from judge_tui.checks.cuda.definitions import Function
from judge_tui.checks.cuda.device_code import device_only, set_aside
from judge_tui.checks.cuda.lexing import blanked
from judge_tui.checks.cuda.reading import read
from judge_tui.checks.cuda.repairs import repaired

SOURCE = b"""
#include <cfloat>
constexpr int WARP = 32, BLOCK = WARP * 8;
#define LIMIT 64
namespace ns {
template <int K, int W = 8>
__global__ void __launch_bounds__(W * WARP, 2)
rows(const float* __restrict__ z, int* at, float* p, int n, int V) {}
template <int K, int W>
cudaError_t launch(const float* z, int64_t* at, float* p, long long n, unsigned V, cudaStream_t s = 0) {
    rows<K, W><<<(n + W - 1) / W, dim3(32, W), K * sizeof(float), s>>>(z, nullptr, p, n, V);
    return cudaGetLastError();
}
struct Kernels { static int run(const float* z) { return 0; } int size() const { return 1; } };
}
template __global__ void ns::rows<5>(const float*, int*, float*, int, int);
#define CASE(k) case k: return ns::launch<k, 4>(z, at, p, n, V);
extern "C" cudaError_t topk(const float* z, int64_t* at, float* p, int n, int V, int K) {
    switch (K) { CASE(10) CASE(LIMIT) default: return cudaErrorInvalidValue; }
}
template <int K> void trial() { ns::launch<K, 2>(0, 0, 0, 1, 1); }
int main() { trial<33>(); }
"""


def named(functions: list[Function], name: str) -> Function:
    return next(each for each in functions if each.name == name)


def test_kernels_and_launchers_are_told_with_their_parameters() -> None:
    found = read({"a.cu": SOURCE})
    kernel = named(found.functions, "ns::rows")
    assert [str(each) for each in kernel.parameters] == [
        "const float* z", "int* at", "float* p", "int n", "int V"
    ]  # fmt: skip
    assert kernel.kind == "kernel"
    assert kernel.bounds == ("W * WARP", "2")
    assert kernel.line == 8
    assert [each.name for each in found.hosts] == ["ns::launch", "ns::Kernels::run", "topk", "trial"]
    stream = named(found.functions, "ns::launch").parameters[-1]
    assert (stream.type, stream.name, stream.default) == ("cudaStream_t", "s", "0")


def test_launches_keep_their_configuration_as_written() -> None:
    (launch,) = read({"a.cu": SOURCE}).launches
    assert (launch.kernel, launch.template, launch.within) == ("rows", ("K", "W"), "ns::launch")
    assert launch.configuration == ("(n + W - 1) / W", "dim3(32, W)", "K * sizeof(float)", "s")


def test_template_arguments_are_found_through_instantiations_macros_and_other_templates() -> None:
    found = read({"a.cu": SOURCE})
    launch, kernel = named(found.functions, "ns::launch"), named(found.functions, "ns::rows")
    assert found.offered(launch, "K") == (10, 33, 64)
    assert found.offered(launch, "W") == (2, 4)
    assert found.offered(kernel, "K") == (5, 10, 33, 64)
    assert found.offered(kernel, "W") == (2, 4, 8)
    assert (5, 8) in found.instances(kernel)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("BLOCK / WARP", 8),
        ("(1 << 5) + sizeof(float)", 36),
        ("ns::WARP * 2u", 64),
        ("V", None),
        ("LOOP", None),
        ("9" * 300, None),
        ("1 / 0", None),
        ("__import__('os')", None),
    ],
)
def test_constants_are_worked_out_and_nothing_else(text: str, value: int | None) -> None:
    assert integer(text, {"WARP": "32", "BLOCK": "WARP * 8", "LOOP": "LOOP + 1"}) == value


def test_launches_tell_plain_template_arguments() -> None:
    source = (
        "template <typename T, int W> __global__ void k(T* x) {}\n"
        "template <typename T> void any(T* x) { k<T, 2><<<1, 1>>>(x); }\n"
        "void all(long* x) { k<std::int64_t, W * 2><<<1, 1>>>(x); k<unsigned int, 8><<<1, 1>>>(x); }\n"
        "constexpr int W = 2;\n"
    )
    found = read({"a.cu": source.encode()})
    assert found.launched_with(found.kernels[0]) == [("std::int64_t", "W * 2"), ("unsigned int", "8")]


def test_the_host_s_parts_are_set_aside_line_by_line() -> None:
    device = device_only(SOURCE).decode()
    assert device.count("\n") == SOURCE.count(b"\n")
    assert "__global__ void __launch_bounds__" in device
    assert "cudaError_t" not in device.replace("#define", "")
    assert "main" not in device


MIXED = b"""#include <vector>
using index_t = std::int64_t;
template <typename T> constexpr T floor_of = -std::numeric_limits<T>::infinity();
struct Shape {
    static constexpr int kBlock = 256;
    std::vector<int> sizes;
    index_t rows;
    cudaError_t launch(float* x) const;
    __device__ int lane() const { return threadIdx.x; }
};
extern "C" int run(float* x) { k<<<1, 1>>>(x); return cudaGetLastError(); }
extern "C" { __global__ void k(float* x) { x[0] = Shape::kBlock; } }
class Owner { std::vector<float> held; };
"""


def test_of_what_is_mixed_only_the_host_s_part_is_set_aside_and_its_names_are_known() -> None:
    text, declared = set_aside(MIXED)
    lines = text.decode().splitlines()
    assert len(lines) == MIXED.count(b"\n")
    for line in (2, 3, 4, 5, 7, 9, 10, 12):
        assert lines[line - 1] == MIXED.decode().splitlines()[line - 1]
    assert [lines[line - 1].strip() for line in (6, 8, 11)] == ["", "", ""]
    assert lines[12].split() == ["class", "Owner", "{", "};"]
    assert {"sizes", "launch", "run", "held"} <= declared


EXTENSION = b"""#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include "mine.cuh"
template <typename T> __global__ void k(const float* x, T* i) { i[0] = FLT_MAX > x[0]; }
at::Tensor run(at::Tensor x) { TORCH_CHECK(x.is_cuda()); k<int64_t><<<1, 1>>>(0, 0); return x; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
"""


def test_what_binds_a_kernel_to_a_framework_is_set_aside() -> None:
    device = device_only(EXTENSION).decode()
    assert [line for line in device.splitlines() if line.strip()] == EXTENSION.decode().splitlines()[2:4]


LIBRARIES = b"""#include <cub/cub.cuh>
#include <curand.h>
#include <cublas_v2.h>
template <int N> __global__ void k(float* x) { x[0] = N; }
void fill(float* x, int n) { curandGenerator_t g; curandGenerateUniform(g, x, n); }
void multiply(float* x) { cublasHandle_t h; cublasCreate(&h); }
"""


def test_what_needs_a_host_library_of_the_toolkit_is_set_aside() -> None:
    lines = device_only(LIBRARIES).decode().splitlines()
    assert [number for number, line in enumerate(lines) if line.strip()] == [0, 3]


def test_lines_are_those_of_the_file_as_submitted() -> None:
    mended = repaired({"a.cu": EXTENSION})
    assert [repair.what for repair in mended.repairs] == ["<cfloat> is included", "<cstdint> is included"]
    found = read(mended.files)
    assert [each.line for each in found.functions] == [4, 5, 6]
    assert [each.line for each in found.launches] == [5]
    assert ("<torch/extension.h>", 1) in found.includes["a.cu"]
    assert found.given(named(found.functions, "k"), "T") == ("int64_t",)


def test_comments_and_literals_are_blanked_in_place() -> None:
    text = 'a /* "x */ + "// no" + \'"\' // end\nb'
    result = blanked(text)
    assert len(result) == len(text)
    assert result.split() == ["a", "+", "+", "b"]


def test_a_broken_source_is_read_as_far_as_it_goes() -> None:
    found = read(
        {"a.cu": b"__global__ void k(float* x) { x[0] = ; }\n}}}} template <\n__global__ void l(int* y) {}"}
    )
    assert "k" in [each.name for each in found.kernels]
