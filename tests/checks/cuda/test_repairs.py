"""Mechanical repairs: the smallest one, told by line, and none where nothing is wrong."""

from __future__ import annotations

from judge_tui.checks.cuda.repairs import repaired

KERNEL = "__global__ void k(float* x) { x[0] = 1; }\n"
PLAIN = "#include <cuda_runtime.h>\n" + KERNEL


def mended(text: str, name: str = "a.cu") -> tuple[str, list[str]]:
    result = repaired({name: text.encode()})
    made = next(iter(result.files.values()), b"").decode()
    return made, [f"{each.line} {each.kind}" for each in result.repairs]


def test_a_sound_source_stays_as_it_is() -> None:
    text = f'/* a "comment" */ // with ``` in it\n{PLAIN}// ```\nconst char* s = "/* no comment";\n'
    assert mended(text) == (text, [])


def test_code_is_taken_out_of_its_fence_on_its_own_lines() -> None:
    text, told = mended(f"Here is the kernel:\n\n```cuda\n{PLAIN}```\n\nIt is fast.\n")
    assert told == ["3 fence"]
    assert text.split("\n")[3:5] == PLAIN.rstrip("\n").split("\n")
    assert "fast" not in text


def test_a_lone_fence_at_the_end_is_left_out() -> None:
    text, told = mended(f"{PLAIN}```\nThat is all.\n")
    assert told == ["3 fence"]
    assert text.rstrip() == PLAIN.rstrip()


def test_markdown_without_a_source_is_read_as_one() -> None:
    result = repaired({"ANSWER.md": f"# Answer\n```cpp\n{PLAIN}```\n".encode()})
    assert list(result.files) == ["ANSWER.cu"]
    assert [each.kind for each in result.repairs] == ["fence"]


def test_markdown_beside_a_source_is_prose() -> None:
    result = repaired({"k.cu": PLAIN.encode(), "NOTES.md": f"```cuda\n{KERNEL}```\n".encode()})
    assert list(result.files) == ["k.cu"]
    assert result.repairs == ()


def test_a_comment_within_a_comment_is_mended() -> None:
    text, told = mended(f"/* outer /* inner */ still prose */\n{PLAIN}")
    assert told == ["1 comment"]
    assert "still prose" not in text
    assert KERNEL in text


def test_a_comment_without_an_end_ends_before_the_next_code() -> None:
    text, told = mended(f"/* explains\nthe kernel\n{PLAIN}")
    assert told == ["1 comment"]
    assert text.endswith(f"the kernel*/\n{PLAIN}")


def test_a_missing_standard_header_is_named_where_it_is_used_first() -> None:
    text, told = mended(f"#include <cuda_runtime.h>\n// FLT_MAX\n{KERNEL}__device__ float x = -FLT_MAX;\n")
    assert [each.split()[1] for each in told] == ["header"]
    assert text.startswith('#include <cfloat>\n#line 1 "a.cu"\n#include <cuda_runtime.h>\n')


def test_a_header_that_another_file_includes_is_not_missing() -> None:
    files = {"a.cuh": b"#include <float.h>\n", "b.cu": b'#include "a.cuh"\n__device__ float x = FLT_MAX;\n'}
    assert repaired(files).repairs == ()


def test_any_bytes_are_survived() -> None:
    assert repaired({"a.cu": b"\xff\xfe/*\x00 ``` \r\n```\r\n```cuda"}).files
