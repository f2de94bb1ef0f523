"""CUDA's own syntax becomes C++, whatever surrounds it; lines stay where they are, literals as they are."""

from __future__ import annotations

import re

import pytest

from judge_tui.checks.cuda.emulator.ptx import emulated
from judge_tui.checks.cuda.emulator.rewriting import rewritten
from judge_tui.checks.cuda.emulator.tokens import Refusal

HEAD = '# 1 "a.cu"\n'
CALL = "::emu::launched([=](auto... emu_a) {{ {0}(emu_a...); }}, ::emu::Shape({1}), {2})"


def own(text: str) -> str:
    return rewritten(HEAD + text, "ours", "stored").removeprefix(HEAD)


def plain(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize(
    ("launch", "kernel", "shape", "arguments"),
    [
        ("k<<<g, b>>>(x, y);", "k", "g,b", "x,y"),
        ("k<<<g, b, 0, s>>>(x);", "k", "g,b,0,s", "x"),
        ("k <<< dim3(1, 2), 32 >>> (x);", "k", "dim3(1,2),32", "x"),
        ("k<float, 32><<<g, b>>>(x);", "k<float,32>", "g,b", "x"),
        ("k<T, (A > B) ? 1 : 2><<<g, b>>>(x);", "k<T,(A>B)?1:2>", "g,b", "x"),
        ("k<P<int, P<int, int>>><<<g, b>>>(x);", "k<P<int,P<int,int>>>", "g,b", "x"),
        ("ns::inner::k<4><<<g, b>>>(x);", "ns::inner::k<4>", "g,b", "x"),
        ("::k<<<g, b>>>(x);", "::k", "g,b", "x"),
        ("Holder<T>::template k<4><<<g, b>>>(x);", "Holder<T>::templatek<4>", "g,b", "x"),
        ("(*fn)<<<g, b>>>(x);", "(*fn)", "g,b", "x"),
        ("table[i]<<<g, b>>>(x);", "table[i]", "g,b", "x"),
        ("pick<T>(n)<<<g, b>>>(x);", "pick<T>(n)", "g,b", "x"),
        ("k<<<g, size<T>()>>>(x);", "k", "g,size<T>()", "x"),
        ("k<<<g, b, bytes<T>>>>(x);", "k", "g,b,bytes<T>", "x"),
        ("k<<<(n + 31) / 32, 1 << 5>>>(f(x, y)[0], {1});", "k", "(n+31)/32,1<<5", "f(x,y)[0],{1}"),
        ("k<decltype(p->q)><<<g, b>>>(x);", "k<decltype(p->q)>", "g,b", "x"),
        ("k<< <g, b> >>(x);", "k", "g,b", "x"),
    ],
)  # fmt: skip
def test_a_launch_becomes_a_call(launch: str, kernel: str, shape: str, arguments: str) -> None:
    wanted = plain(CALL.format(kernel, shape, arguments)) + ";"
    for before in ("", "if (c) ", "else ", "return ", "case 3: ", "{ ", "x = 1; ", "(void)0, ", 'f("<<<"), '):
        if before == "return " and launch.startswith("(*"):
            continue
        assert plain(own(before + launch)) == plain(before) + wanted


def test_a_launch_without_arguments_has_none() -> None:
    assert plain(own("k<<<1, 2>>>();")) == plain(
        "::emu::launched([=](auto... emu_a) { k(emu_a...); }, ::emu::Shape(1, 2));"
    )


def test_a_condition_before_a_launch_is_no_part_of_its_name() -> None:
    assert own("if (a < b) k<<<1, 2>>>(x);").startswith("if (a < b) ::emu::launched(")
    assert own("if (a) (k)<<<1, 2>>>(x);").startswith("if (a) ::emu::launched(")
    assert own("while (i > 0) { k<2><<<1, 2>>>(x); }").startswith("while (i > 0) { ::emu::launched(")


def test_launches_in_launches_are_both_rewritten() -> None:
    assert own("a<<<1, 2>>>([&] { b<<<3, 4>>>(y); return y; }());").count("::emu::launched(") == 2


@pytest.mark.parametrize("text", [
    'puts("k<<<1, 2>>>(x)");', "auto s = R\"x(k<<<1, 2>>>(y) \" )x\";", "char c = '<'; d = '\\'';",
    "std::ostream& operator<< <T>(std::ostream&, T);", "a << b << c;", "x = y >> 3;", "int n = 1'000'000;",
])  # fmt: skip
def test_what_is_no_launch_stays(text: str) -> None:
    assert own(text) == text


def test_lines_stay_where_they_are() -> None:
    text = "f();\nk<<<\n  grid,\n  block\n>>>(\n  x,\n  y);\nextern __shared__ float s[];\ng();\n"
    assert own(text).count("\n") == text.count("\n")
    assert own(text).splitlines()[-1] == "g();"


def test_null_is_passed_as_a_pointer() -> None:
    assert "::emu::Null()" in own("k<<<1, 2>>>(x, __null, y);")
    assert "__null" in own("k<<<1, 2>>>(x, f(__null + 1));")


def test_text_of_system_headers_is_not_touched() -> None:
    system = '# 1 "/usr/include/x.h" 1 3\nint __noinline__; k<<<1, 2>>>(x);\n'
    text = HEAD + system + '# 2 "a.cu" 2\nint __noinline__ f();\n'
    assert "int __noinline__; k<<<1, 2>>>(x);" in rewritten(text, "ours", "stored")
    assert "int __attribute__((noinline)) f();" in rewritten(text, "ours", "stored")


@pytest.mark.parametrize(
    ("declared", "wanted"),
    [
        ("__shared__ float s[4];", "static thread_local float s[4];"),
        ("static __shared__ float s[4];", "static thread_local float s[4];"),
        ("volatile __shared__ int x, y;", "volatile static thread_local int x, y;"),
        ("f(); __shared__ alignas(16) float s[4];", "f(); alignas(16) static thread_local float s[4];"),
        ("extern __shared__ float s[];", 'extern float s[] __asm__("emu_dynamic");'),
        ("extern __shared__ alignas(16) char s[];", 'alignas(16) extern char s[] __asm__("emu_dynamic");'),
        ("extern volatile __shared__ int s[];", 'extern volatile int s[] __asm__("emu_dynamic");'),
        (
            "extern __shared__ __attribute__((aligned(16))) char s[];",
            'extern __attribute__((aligned(16))) char s[] __asm__("emu_dynamic");',
        ),
        ("__shared__ typename R::TempStorage t[8];", "static thread_local typename R::TempStorage t[8];"),
    ],
)
def test_shared_memory_is_declared(declared: str, wanted: str) -> None:
    assert plain(own(declared)) == plain(wanted)


def test_dynamic_memory_within_a_function_is_a_reference_to_it() -> None:
    wanted = "__global__ void k() {  float (&s)[][4] = ::emu::Dynamic(); }"
    assert plain(own("__global__ void k() { extern __shared__ float s[][4]; }")) == plain(wanted)
    assert "__asm__" in own("namespace a::b { extern __shared__ float s[]; }")
    assert "__asm__" in own('extern "C" { extern __shared__ float s[]; }')


SLOW = {
    "launches": "k<<<1, 2>>>(x);\n" * 20_000,
    "nested": "a<<<1, 2>>>(" * 9_000,
    "declarations": "__shared__ float s[4], " * 9_000,
    "text": "x = 1 + 2;\n" * 600_000,
    "parentheses": "k<<<" + "(" * 50_000,
}


@pytest.mark.parametrize("text", SLOW.values(), ids=SLOW)
def test_sources_made_to_be_slow_are_refused_soon(text: str) -> None:
    with pytest.raises(Refusal):
        own(text)


def test_a_launch_that_cannot_be_read_is_refused_with_its_place() -> None:
    with pytest.raises(Refusal) as caught:
        own("f();\n\nk<<<1, 2;\n")
    assert (caught.value.file, caught.value.line) == ("a.cu", 3)


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ('"mov.u32 %0, %%laneid;" : "=r"(lane)', "((lane) = emu_lane())"),
        ('"mov.u32 %0, %lanemask_lt;" : "=r"(m)', "((m) = ((1u << emu_lane()) - 1u))"),
        ('"ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 2.f)', "((y) = ::exp2f(x * 2.f))"),
        ('"bar.sync 0;"', "__syncthreads()"),
        ('"" ::: "memory"', "((void)0)"),
        ('"membar.gl;" ::: "memory"', "emu_fence()"),
        ('"cp.async.commit_group;\\n" ::', "emu_copies_commit()"),
        ('"cp.async.wait_group %0;" :: "n"(STAGES - 2)', "emu_copies_wait(STAGES - 2)"),
        ('"cp.async.wait_all;"', "emu_copies_wait_all()"),
        (
            '"cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" :: "r"(to), "l"(p + i)',
            "emu_copy_late(emu_shared_address(to), (const void*)(p + i), 16, (16) - (16), emu::here())",
        ),
        (
            '"cp.async.ca.shared::cta.global [%0], [%1], %2, %3;" :: "r"(to), "l"(p), "n"(8), "r"(n)',
            "emu_copy_late(emu_shared_address(to), (const void*)(p), 8, (8) - (n), emu::here())",
        ),
    ],
)
def test_known_ptx_is_translated(statement: str, wanted: str) -> None:
    assert emulated(statement) == wanted


@pytest.mark.parametrize(
    "kind", ["ld.global.nc.v4.f32", "ld.global.nc.L1::no_allocate.v4.f32", "ld.global.cs.v4.f32"]
)
def test_wide_loads_of_ptx_are_checked_loads(kind: str) -> None:
    made = emulated(f'"{kind} {{%0, %1, %2, %3}}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(p + (i))')
    assert made is not None
    assert "emu_access(emu_p, 4 * sizeof(float), emu::READ" in made
    assert "(const void*)(p + (i))" in made


@pytest.mark.parametrize(
    "statement",
    [
        '"wgmma.fence;"',
        '"cp.async.bulk.wait_group 0;"',
        '"cp.async.ca.shared.global [%0], [%1];" :: "r"(a), "l"(b)',
        '"mma.sync.aligned %0;" : "=r"(x)',
        '"add.u32 %0, %1, %2; sub.u32 %0, %0, 1;"',
    ],
)
def test_unknown_ptx_is_refused(statement: str) -> None:
    assert emulated(statement) is None
    with pytest.raises(Refusal, match="inline PTX"):
        own(f"asm volatile({statement});")


DEVICE, CONSTANT = "__attribute__((device))", "__attribute__((constant))"


@pytest.mark.parametrize(
    ("declared", "wanted"),
    [
        (f"{DEVICE} float x[4];", "zero"),
        (f"static {DEVICE} unsigned int x, y;", "zero"),
        (f"{DEVICE} int x = 3, y;", "data"),
        (f"{DEVICE} Pair x{{1, 2}};", "data"),
        (f"namespace {{ {CONSTANT} float x[4] = {{1}}; }}", "data"),
        (f"{DEVICE} const float* x;", "zero"),
        (f"{DEVICE} __attribute__((aligned(16))) float x[(N + 1)];", "zero"),
        (f"{DEVICE} const float x[4] = {{1}};", ""),
        (f"{DEVICE} float* const x = nullptr;", ""),
        (f"constexpr {CONSTANT} int x = 1;", ""),
        (f"extern {DEVICE} int x;", ""),
        (f"template <class T> {DEVICE} T x;", ""),
        (f"{DEVICE} __attribute__((managed)) int x;", ""),
        (f"{DEVICE} float f(float x) {{ return x; }}", ""),
        (f"auto f = [=] {DEVICE} (int i) {{ return i; }};", ""),
        (f"void f() {{ static {DEVICE} int x; }}", ""),
    ],
)
def test_variables_of_device_memory_are_stored_apart(declared: str, wanted: str) -> None:
    new = own(declared)
    marked = f"__attribute__((stored_{wanted}))"
    assert new == (
        re.sub(r"__attribute__\(\((device|constant)\)\)", marked, declared) if wanted else declared
    )


def test_an_alignment_comes_before_the_storage() -> None:
    assert own(f"{CONSTANT} alignas(16) int x;") == "alignas(16) __attribute__((stored_zero))  int x;"
