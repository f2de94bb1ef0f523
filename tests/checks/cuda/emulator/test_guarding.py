"""What would take the hooks out is taken out of preprocessed text; all else stays as it is, on its line."""

from __future__ import annotations

import re

import pytest

from judge_tui.checks.cuda.emulator.guarding import guarded
from judge_tui.checks.cuda.emulator.linking import closed, refused
from judge_tui.checks.cuda.emulator.tokens import Refusal

HEAD = '# 1 "a.cu"\n'


def own(text: str) -> str:
    return guarded(HEAD + text)[0].removeprefix(HEAD)


def plain(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('__attribute__((no_sanitize("thread"))) void f();', "voidf();"),
        ("__attribute__((aligned(16), naked, packed)) int x;", "__attribute__((aligned(16),packed))intx;"),
        ("__attribute ((__no_sanitize_thread__)) int x;", "intx;"),
        ("[[gnu::optimize(3), nodiscard]] int f();", "[[nodiscard]]intf();"),
        ("[[using gnu: noinline, ifunc(\"g\")]] int f();", "[[usinggnu:noinline]]intf();"),
        ("[ [ gnu::alias(\"g\") ] ] int f();", "intf();"),
        ('int f() __attribute__((section(".text\\n.globl x\\nx:")));', "intf();"),
        ("int f(int) __attribute__((cleanup(({ asm(\"hlt\"); g; }))));", "intf(int);"),
        ("auto c = u'\"'; __attribute__((naked)) int f(); int d = '\"';", "autoc=u'\"';intf();intd='\"';"),
        ("int n = 1'000; __attribute__((naked)) int f(); int m = 2'000;", "intn=1'000;intf();intm=2'000;"),
        ("int é1'2'; __attribute__((naked)) int f();", "inté1'2';intf();"),
        ('auto s = R"x(")x"; __attribute__((naked)) int f();', 'autos=R"x(")x";intf();'),
        ('auto s = fooR"("; __attribute__((naked)) int f(); //")', 'autos=fooR"(";intf();//")'),
        ('auto s = $R"("; __attribute__((naked)) int f(); //")', 'autos=$R"(";intf();//")'),
        ('asm volatile("hlt" ::: "memory");', "__builtin_trap();"),
        ('int f() __asm__("syscall");', "intf()__builtin_trap();"),
        ("#pragma GCC optimize(\"O3\")\nint x;", "intx;"),
        ("#pragma weak f = g\nint x;", "intx;"),
        ("#ident \"x\\\"\\n\"\nint x;", "intx;"),
    ],
)  # fmt: skip
def test_what_is_not_listed_is_left_out(text: str, left: str) -> None:
    assert plain(own(text)) == left


@pytest.mark.parametrize(
    "text",
    [
        "int a[2][3]; int b = a[0][1]; a[f([&] { return 1; })] = 2;",
        'const char* s = "__attribute__((naked)) asm(\\"hlt\\")";',
        'const char* s = R"(#pragma weak f\n[[gnu::naked]])";',
        "int basm = 1, asm_ = 2, attribute = 3;",
        '__asm__("" : : : "memory");',
        '__asm__ __volatile__ ("cpuid\\n\\t" : "=a" (*a) : "0" (b));',
        'extern int f(const char*) __asm__("__isoc99_sscanf");',
        "#pragma pack(push, 1)\n",
        "struct alignas(16) S { float x[4]; };",
    ],
)
def test_all_else_stays(text: str) -> None:
    assert plain(own(text)) == plain(text)


@pytest.mark.parametrize(
    "text",
    ["<:<:gnu::naked:>:> int f();", '_Pragma("weak f") int x;', "int \\u0061sm;", "[[gnu::naked int f();"],
)
def test_what_hides_what_it_says_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(Refusal) as refusal:
        own(f"\n\n{text}")
    assert (refusal.value.file, refusal.value.line) == ("a.cu", 3)


def test_lines_keep_their_numbers_and_what_is_left_out_is_told() -> None:
    marker = '# 4 "a.cu" 3 4\naligned\n# 4 "a.cu"\n'
    attribute = f"__attribute__((\n{marker}(8), naked)) int x;"
    text = f"#pragma GCC optimize(3)\n[[gnu::naked,\n]] int f();\n{attribute}\nint last;"
    new, told = guarded(HEAD + text)
    assert [(each.file, each.line, each.text) for each in told] == [
        ("a.cu", 1, "#pragma GCC optimize(3) is left out"),
        ("a.cu", 2, "attribute naked is left out"),
        ("a.cu", 4, "attribute naked is left out"),
    ]
    after = new[new.rindex("# 4") :]
    assert plain(new.split('# 4 "a.cu"\n')[0]).endswith("__attribute__((aligned(8)))")
    assert after.split("\n")[2] == "int last;"


def test_a_submissions_symbols_are_its_own() -> None:
    text = (
        "\t.globl\twrite\n\t.type\twrite, @function\nwrite:\n\tret\n\t.weak\t_Zinline\n"
        '\t.section\t.text._Zinline,"axG",@progbits,_Zinline,comdat\n_Zinline:\n\tret\n'
        "\t.type\t_Zunique, @gnu_unique_object\n\t.weak\t_Zunique\n_Zunique:\n\t.zero\t4\n"
        "\t.comm\tshared_by_all,4,4\n\t.globl\tjudge_launch\njudge_launch:\n\tcall\tmprotect\n\t.weak\telsewhere\n"
    )
    new = closed(text)
    assert "\t.globl\tjudge_launch\n" in new
    assert "\t.weak\telsewhere\n" in new
    assert not re.search(r"\.(?:globl|weak)\t(?:write|_Z)", new)
    assert "comdat" not in new
    assert "gnu_unique" not in new
    assert "\t.local\tshared_by_all\n" in new
    assert "\t.set\tmprotect, emu_denied_mprotect\n" in new


def test_what_a_submission_defines_stands_for_nothing_else() -> None:
    assert "mprotect" in refused()
    assert "emu_denied_mprotect" not in closed("\t.globl\tmprotect\nmprotect:\n\tret\n")
