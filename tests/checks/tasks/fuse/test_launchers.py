"""How a submission is launched: found from the source, written by a person, turned into a driver."""

from __future__ import annotations

import tomllib

import pytest

from judge_tui.checks.binding.tables import table
from judge_tui.checks.calling.binding import parse_binding
from judge_tui.checks.cuda.reading import Reading, read
from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.tasks.fuse.driver import driver, encoded
from judge_tui.checks.tasks.fuse.launcher import Launcher, launcher_of, stride_of
from judge_tui.checks.tasks.fuse.launchers import alternatives, candidates, host_of, variants

KERNEL = """
constexpr int THREADS = 128;
template <int K, int WARPS = 4>
__global__ void topk(const float* __restrict__ logits, int* out_idx, float* out_p, int rows, int V) {
    int row = blockIdx.x * WARPS + threadIdx.y;
}
"""
WRAPPER = """
template <int K> int launch_k(const float* x, int* i, float* p, int n, int V) {
    topk<K><<<(n + 3) / 4, dim3(32, 4)>>>(x, i, p, n, V); return 0;
}
int fused_topk(float* probs, long long* ids, const float* logits, int vocab_size, int k, int batch,
               int seq_len) {
    if (k == 10) return launch_k<10>(logits, (int*)ids, probs, batch * seq_len, vocab_size);
    return 1;
}
"""


def read_text(text: str, name: str = "a.cu") -> Reading:
    return read({name: text.encode()})


def first(text: str) -> Launcher:
    return candidates(read_text(text))[0]


def test_a_host_function_with_a_run_time_k_is_preferred() -> None:
    found = first(KERNEL + WRAPPER)
    assert found.called == "fused_topk(probabilities, indices, logits, V, K, B, T)"
    assert (found.index, found.returns, found.stride, found.doubts) == ("int64", "number", "K", ())


def test_a_function_that_calls_an_object_of_its_own_is_a_launcher() -> None:
    text = """
class Sampler {
public:
    Sampler(int vocab, int k) : vocab_(vocab), k_(k) {}
    int operator()(int rows, const float* logits, float* probs, int* ids) const {
        topk<8><<<rows, 128>>>(logits, ids, probs, rows, vocab_);
        return 0;
    }
    int vocab_, k_;
};
int sample(const float* logits, int rows, int V, int K, float* probs, int* ids) {
    return Sampler(V, K)(rows, logits, probs, ids);
}
"""
    assert first(KERNEL + text).called == "sample(logits, rows, V, K, probabilities, indices)"


def test_one_more_answer_per_row_gets_room() -> None:
    text = WRAPPER.replace("int seq_len)", "int seq_len, float* log_sum_exp)")
    found = first(KERNEL + text)
    assert found.called == "fused_topk(probabilities, indices, logits, V, K, B, T, per_row)"
    assert "(float*)per_row(job.rows)" in driver((found,))


def test_a_template_is_called_for_the_k_that_are_instantiated() -> None:
    text = (
        KERNEL
        + WRAPPER.partition("int fused_topk")[0]
        + "template int launch_k<8>(const float*, int*, float*, int, int);"
    )
    found = first(text)
    assert found.called == "launch_k<K>(logits, indices, probabilities, rows, V)"
    assert found.instances == (8,)


def test_a_kernel_alone_gets_the_grid_that_a_test_launches_it_with() -> None:
    side = """int main() {
        int R = num_rows; dim3 grid((R + 3) / 4), block(32, 4);
        topk<10><<<grid, block>>>(0, 0, 0, num_rows, V);
    }"""
    reading = read({"k.cuh": KERNEL.encode(), "test_k.cu": side.encode()})
    found = candidates(reading)[0]
    assert found.kernel
    assert found.why == "launched at test_k.cu:3"
    assert found.doubts == ()
    assert "rows" in found.grid
    assert found.block == "(dim3(32, 4))"


def test_a_kernel_that_nothing_launches_gets_a_rule_and_a_doubt() -> None:
    found = first(KERNEL + "template __global__ void topk<10>(const float*, int*, float*, int, int);")
    assert (found.grid, found.block) == ("(rows + 3) / 4", "dim3(32, 4)")
    assert found.doubts == ("its grid and block",)


TYPED = """
template <typename L, typename I>
__global__ void topk(const L* logits, I* out_idx, L* out_p, int V, int K) {}
"""


def test_a_template_s_types_are_those_that_it_is_used_with() -> None:
    guessed = first(TYPED)
    assert (guessed.template, guessed.index) == (("float", "int"), "int32")
    assert guessed.types[:2] == ("float*", "int*")
    host = "void at(float* x, long long* i, int n) { topk<float, long long><<<n, 64>>>(x, i, x, 7, 3); }"
    used = first(TYPED + host)
    assert (used.template, used.types[1], used.index) == (("float", "long long"), "long long*", "int64")


STRUCT = """
namespace ns {
struct Params { const float* logits; float* probs; int* ids; int B = 1, T = 1; long long V; int k; };
struct Held { int n; Held(int n) : n(n) {} float* at; };
typedef struct { float* lost; } Alias;
}
int launch(const ns::Params& p, cudaStream_t stream) { topk<<<p.B * p.T, 64, 0, stream>>>(p); return 0; }
void with(ns::Held h) {}
"""


def test_a_struct_of_parameters_is_its_members() -> None:
    reading = read_text(STRUCT)
    assert list(reading.structs) == ["ns::Params", "ns::Alias"]
    found = candidates(reading)[0]
    assert found.called == "launch({logits, probabilities, indices, B, T, V, K}, stream)"
    assert (found.types[5], found.doubts) == ("long long", ())
    text = driver([found])
    assert (
        "::ns::Params given_0{const_cast<float*>(job.logits), (float*)job.probabilities, (int*)job.indices, "
        "(int)(job.B), (int)(job.T), (long long)(job.V), (int)(job.K)};" in text
    )
    assert "launch(Whole<::ns::Params>{&given_0}, job.stream)" in text


TEMPLATES = """
namespace ns {
struct Logits { const float* data; int64_t batch, steps, vocab; };
template <typename I> struct Chosen { I* indices; float* probs; int k; };
template <int N> struct Fixed { float* at; };
}
template <typename IndexT>
cudaError_t launch(const ns::Logits& in, const ns::Chosen<IndexT>& out) {
    topk<<<in.batch, 64>>>(in, out); return cudaGetLastError();
}
void test() { launch<int64_t>(a, b); }
"""


def test_a_struct_may_be_a_template_on_types() -> None:
    reading = read_text(TEMPLATES)
    assert list(reading.structs) == ["ns::Logits", "ns::Chosen"]
    found = candidates(reading)[0]
    assert found.called == "launch<int64_t>({logits, B, T, V}, {indices, probabilities, K})"
    assert found.index == "int64"
    assert "::ns::Chosen<int64_t> given_1{(int64_t*)job.indices, (float*)job.probabilities" in driver([found])


def test_scratch_memory_is_asked_for_and_handed_over() -> None:
    text = """
cudaError_t select(void* workspace, size_t& workspace_bytes, const float* logits, float* probs, int* ids,
                 int rows, int V, int K, cudaStream_t stream = 0) {
    topk<4><<<rows, 128, 0, stream>>>(logits, ids, probs, rows, V); return cudaGetLastError();
}
"""
    found = first(text)
    assert found.called == (
        "select(scratch, scratch_bytes, logits, probabilities, indices, rows, V, K, stream)"
    )
    call = "::select(room, Whole<size_t>{&bytes}, "
    assert driver([found]).count(call) == 2
    assert launcher_of(found.binding(), kernel=False, line=found.line, types=found.types).args == found.args


@pytest.mark.parametrize(
    ("launch", "host"),
    [
        ("struct Top { void run(int n) { topk<float, int><<<n, 64>>>(x, i, p, 7, 3); } };", "Top::run"),
        ("int main() { topk<float, int><<<1, 64>>>(x, i, p, 7, 3); }", ""),
        ("void test_topk() { topk<float, int><<<1, 64>>>(x, i, p, 7, 3); }", ""),
    ],
)
def test_a_host_function_that_may_refuse_is_known_where_the_kernel_is_launched_by_itself(
    launch: str, host: str
) -> None:
    reading = read_text(TYPED + launch)
    assert host_of(reading, candidates(reading)[0]) == host


def test_counts_without_telling_names_are_guessed_in_the_contract_s_order() -> None:
    text = (
        KERNEL
        + "void run(const float* a, int* b, float* c, int p, int q, int r) {"
        + "topk<4><<<p, 32>>>(a, b, c, p, q); }"
    )
    reading = read_text(text)
    found = [each for each in candidates(reading) if not each.kernel]
    assert found[0].args == ("logits", "indices", "probabilities", "rows", "V", "K")
    assert "what 'p' means" in found[0].doubts
    assert len({each.args for each in found}) > 1


@pytest.mark.parametrize(
    ("parameters", "args"),
    [
        ("const float* x, int ldx, int* ids, int ldi, float* p, int ldp, int rows, int V, int K",
         ("logits", "V", "indices", "stride", "probabilities", "stride", "rows", "V", "K")),
        ("const float* x, int* ids, float* p, int rows, int V, int K, int p_stride, int ld_x, int pitch_ids",
         ("logits", "indices", "probabilities", "rows", "V", "K", "stride", "V", "stride")),
        ("const float* x, int* indices, float* p, int in_stride, int rows, int V, int K",
         ("logits", "indices", "probabilities", "V", "rows", "V", "K")),
        ("const float* x, int* ids, float* p, int row_stride, int rows, int V, int K",
         ("logits", "indices", "probabilities", "V", "rows", "V", "K")),
        ("const float* x, int stride, int* out_i, float* out_p, int ld_out, int rows, int V, int K",
         ("logits", "V", "indices", "probabilities", "stride", "rows", "V", "K")),
    ],
)  # fmt: skip
def test_distances_between_rows_belong_to_the_array_that_they_name_or_stand_behind(
    parameters: str, args: tuple[str, ...]
) -> None:
    text = f"{KERNEL}void topk_run({parameters}) {{ topk<4><<<1, 32>>>(x, 0, 0, rows, V); }}"
    found = candidates(read_text(text))[0]
    assert (found.args, found.doubts) == (args, ())


@pytest.mark.parametrize(
    "signature",
    [
        "void topk_run(const float* x, const float* w, int* i, float* p, int rows, int V, int K)",
        "void topk_run(const float* x, float* p, int rows, int V, int K)",
        "void naive_topk(const float* x, int* i, float* p, int rows, int V, int K)",
        "void topk_run(const float* x, int* i, float* p, int* scratch, int rows, int V, int K)",
    ],
)
def test_what_takes_something_else_is_no_launcher(signature: str) -> None:
    text = f"{KERNEL}{signature} {{ topk<4><<<1, 32>>>(x, i, p, rows, V); }}"
    assert all(each.kernel for each in candidates(read_text(text)))


def test_values_that_the_code_gives_to_a_template_parameter_are_variants() -> None:
    text = (
        KERNEL
        + """
    template <int K, int WARPS = 4> int launch_topk(const float* x, int* i, float* p, int rows, int V) {
        topk<K, WARPS><<<(rows + WARPS - 1) / WARPS, 32 * WARPS>>>(x, i, p, rows, V); return 0;
    }
    int topk_all(const float* x, int* i, float* p, int rows, int V, int K) {
        return launch_topk<10>(x, i, p, rows, V);
    }
    void test() { launch_topk<10, 1>(0, 0, 0, 1, 1); }
    """
    )
    reading = read_text(text)
    found = candidates(reading)
    assert [str(each.variant) for each in variants(reading, found[0])] == [
        "WARPS = 1",
        "WARPS = 4, as its default",
    ]


def test_a_second_version_in_a_file_of_its_own_is_an_alternative() -> None:
    second = (KERNEL + WRAPPER).replace("fused_topk", "fused_topk_v2")
    reading = read({"a.cu": (KERNEL + WRAPPER).encode(), "b.cu": second.encode()})
    found = candidates(reading)
    assert found[0].name == "fused_topk"
    assert [each.name for each in alternatives(found[0], found)] == ["fused_topk_v2"]


@pytest.mark.parametrize(("rule", "K", "stride"), [
    ("K", 7, 7), ("ceil 4", 7, 8), ("ceil 4", 8, 8), ("10, 50, 100", 7, 10), ("10, 50, 100", 11, 50),
    ("64", 5, 64),
])  # fmt: skip
def test_strides_follow_their_rule(rule: str, K: int, stride: int) -> None:
    assert stride_of(rule, K) == stride


WRITTEN = """
target = "k.cuh:ns::topk"
args = ["logits", "indices", "probabilities", "rows", "V", "='1.0f'"]
[launch]
template = ["K", "4"]
K = [10, 64]
grid = "(rows + 3) / 4"
block = "dim3(32, 4)"
stride = [10, 64]
index = "int64"
"""


def written(text: str) -> Launcher:
    return launcher_of(parse_binding("fuse", tomllib.loads(text)), kernel=True, line=3, types=())


def test_a_written_binding_is_taken_as_it_is() -> None:
    found = written(WRITTEN)
    assert found.called == (
        "ns::topk<K, 4><<<(rows + 3) / 4, dim3(32, 4), 0>>>(logits, indices, probabilities, rows, V, 1.0f)"
    )
    assert (found.instances, found.stride, found.index) == ((10, 64), "10, 64", "int64")


def test_a_found_launcher_is_written_and_read_back() -> None:
    found = first(KERNEL + "template __global__ void topk<10>(const float*, int*, float*, int, int);")
    again = launcher_of(
        parse_binding("fuse", table(found.binding())), kernel=True, line=found.line, types=found.types
    )
    assert again.called == found.called
    assert (again.instances, again.stride, again.index) == (found.instances, found.stride, found.index)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('grid = "(rows + 3) / 4"', 'grid = "1; system(0)"'), "one C++ expression"),
        (("\"='1.0f'\"", '"beams"'), "is no argument"),
        (("K = [10, 64]\n", ""), "needs the values"),
        (('block = "dim3(32, 4)"', ""), "needs grid and block"),
        (('index = "int64"', 'index = "int8"'), "int32 or int64"),
        (("stride = [10, 64]", 'stride = "wide"'), "must be K"),
        (('index = "int64"', "blocks = 4"), "unknown key 'blocks'"),
        (('"logits", ', ""), "must name logits"),
    ],
)
def test_a_malformed_binding_is_told_in_one_sentence(change: tuple[str, str], told: str) -> None:
    with pytest.raises(WorkspaceError, match=r"binding\.fuse") as error:
        written(WRITTEN.replace(*change))
    assert told in error.value.message
    assert "\n" not in error.value.message


def test_a_driver_offers_every_launcher_by_number_and_every_instance() -> None:
    found = written(WRITTEN)
    text = driver([found, found])
    assert text.count('#include "k.cuh"') == 1
    assert "case 10: {" in text
    assert "::ns::topk<64, 4><<<" in text
    assert "case 1: status = judge::launch_1(job); break;" in text
    assert encoded(10, 1) & ((1 << 20) - 1) == 10


@pytest.mark.parametrize(
    ("lines", "grid", "block"),
    [
        ("const int w = blockDim.x / 32; int row = blockIdx.x * w + threadIdx.x / 32;", 8, "256"),
        ("int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);", 8, "256"),
        ("int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;", 8, "256"),
        ("int t = blockIdx.x * blockDim.x + threadIdx.x; int row = t >> 5;", 8, "256"),
        ("int row = blockIdx.x * blockDim.x + threadIdx.x;", 256, "256"),
        ("const float* x = logits + (size_t)blockIdx.x * V;", 1, "256"),
    ],
)
def test_a_kernel_s_rows_per_block_follow_from_the_block_s_size(lines: str, grid: int, block: str) -> None:
    text = (
        f"__global__ void topk(const float* logits, int* idx, float* p, int rows, int V, int K) {{ {lines} }}"
    )
    found = first(text)
    told = "rows" if grid == 1 else f"(rows + {grid - 1}) / {grid}"
    assert (found.grid, found.block, found.doubts) == (told, block, ("its grid and block",))
