from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.generic.found_tests import found_tests
from judge_tui.checks.generic.size import measure_python
from judge_tui.checks.sources import (
    absence,
    fence_line,
    is_side_program,
    is_test_file,
    parsed,
    python_files,
    returned_names,
    source_text,
    statements,
)
from judge_tui.checks.submission import Submission

Submit = Callable[..., Submission]


@pytest.mark.parametrize(
    "file",
    ["test_kv.py", "kv_test.py", "tests/kv.py", "demo.py", "kv-benchmark.py", "examples/a/b.py", "setup.py"],
)
def test_tests_demos_and_benchmarks_hold_no_roles(file: str) -> None:
    assert is_side_program(file)


@pytest.mark.parametrize(
    "file", ["kv_cache.py", "latest.py", "attestation/kv.py", "benchmarking.py", "model.py"]
)
def test_words_that_only_contain_test_are_no_tests(file: str) -> None:
    assert not is_side_program(file)
    assert not is_test_file(file)


def test_files_come_sorted_without_side_files_hidden_files_and_byte_code(submitted: Submit) -> None:
    files = dict.fromkeys(("b.py", "a/z.py", "a.py", ".hidden.py", "submission.toml", "adapter.py"), "x = 1")
    submission = submitted(
        {**files, "submission.toml": "", "__pycache__/a.pyc": "", ".git/c.py": "", "n.md": ""}
    )
    assert submission.files == ("a.py", "adapter.py", "b.py", "n.md", "a/z.py")
    assert python_files(submission) == ("a.py", "adapter.py", "b.py", "a/z.py")


def test_the_digest_tells_names_and_contents_apart_and_ignores_side_files(submitted: Submit) -> None:
    first = submitted({"a.py": "x", "b.py": "y"}, "one").digest
    assert first.startswith("sha256:")
    assert submitted({"a.py": "x", "b.py": "y", "submission.toml": ""}, "two").digest == first
    for number, files in enumerate(({"a.py": "xy", "b.py": ""}, {"a.py": "x", "c.py": "y"}, {"a.py": "x"})):
        assert submitted(files, f"other{number}").digest != first


def test_source_is_decoded_as_the_language_does() -> None:
    assert source_text(b"\xef\xbb\xbfx = 1\r\ny = 2\r") == "x = 1\ny = 2\n"
    assert source_text(b"# coding: latin-1\nx = '\xe9'\n").endswith("'é'\n")
    with pytest.raises(SyntaxError, match="byte 0xe9 is not utf-8") as told:
        source_text(b"x = 1\ny = '\xe9'\n")
    assert told.value.lineno == 2


def test_parsing_warns_of_nothing_in_other_peoples_code() -> None:
    assert parsed(b"x = '\\d' is 3\n")


def test_returned_names_are_those_of_the_last_tuple_in_the_source() -> None:
    tree = ast.parse(
        "class A:\n"
        "    def f(self):\n"
        "        if self.x:\n"
        "            return None, 1\n"
        "        return self.dx, grads['g'], out.copy(), 3\n"
    )
    assert returned_names(tree, "A.f") == ("dx", "grads", "out", "")
    assert returned_names(tree, "A.g") == returned_names(tree, "f") == ()


def test_a_fence_counts_only_when_it_opens_on_code() -> None:
    assert fence_line("text\n\n```python\nx = 1\n```\n") == 3
    assert fence_line("```\nplain\n```\n") == fence_line("x = '```python'\n") == 0


def test_a_folder_with_code_is_not_absent(submitted: Submit) -> None:
    assert absence(submitted({"code.py": "x = 1", "README.md": "words"}, "a")) == ""
    assert absence(submitted({"kernel.cu": "__global__"}, "b")) == ""
    assert absence(submitted({"answer.md": "```cuda\n__global__\n```\n"}, "c")) == ""


def test_what_cannot_be_read_is_not_judged_by_the_rest(
    submitted: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = submitted({"code.py": "x = 1", "more.py": "y = 2"}, "a")
    with monkeypatch.context() as patch:
        patch.setattr(Submission, "trouble", lambda self, name: "cannot be read: no" * (name == "more.py"))
        assert absence(whole).startswith("more.py cannot be read: no; without it")
    (whole.path / "more.py").unlink()
    assert "more.py cannot be read: No such file" in absence(whole)
    monkeypatch.setattr(Submission, "files", property(_refused))
    assert absence(whole) == f"{whole.path}: cannot be read: Permission denied"


def _refused(submission: Submission) -> tuple[str, ...]:
    raise WorkspaceError("cannot be read: Permission denied.", file=submission.path)


def test_lines_are_counted_once_code_before_docstring_before_comment() -> None:
    source = (
        '"""Doc.\n\nMore."""\n# comment\nX = 1  # beside code\n\n\n'
        "def f(a: int, b: int) -> int:\n    '''One.'''\n    return a + b\n\n\ndef test_f(a):\n    pass\n"
    )
    size = measure_python(source.encode())
    assert (size.lines, size.code, size.comment, size.docstring) == (14, 5, 1, 4)
    assert (size.functions, size.annotated, size.tests) == (2, 1, 1)
    assert size.longest == ("f", 8, 3)


def test_what_does_not_parse_is_counted_as_text() -> None:
    assert measure_python(b"def f(:\n\n    pass\n").code == 2
    assert measure_python(b"").lines == 0


def test_tests_are_found_in_every_spelling(submitted: Submit) -> None:
    source = """
import unittest, pytest
def test_plain(): pass
def test_with_default(n=3): pass
def test_fixture(tmp_path): pass
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("a, b", [(1, "x"), (2, "y")])
def test_many(n, a, b): pass
@pytest.mark.parametrize("n", range(3))
def test_computed(n): pass
class TestA:
    def setup_method(self): pass
    def test_one(self): pass
    def helper(self): pass
class TestWithInit:
    def __init__(self): pass
    def test_never(self): pass
class Case(unittest.TestCase):
    def test_two(self): pass
class Sub(Case):
    def test_three(self): pass
class Loop(Loop): pass
def helper(): pass
"""
    tests, scripts = found_tests(submitted(source))
    assert scripts == []
    assert [(test.name, test.needs, test.unittest) for test in tests if not test.arguments] == [
        ("test_plain", (), False), ("test_with_default", (), False), ("test_fixture", ("tmp_path",), False),
        ("test_computed", ("n",), False), ("TestA.test_one", (), False), ("Case.test_two", (), True),
        ("Sub.test_three", (), True), ("Sub.test_two", (), True),
    ]  # fmt: skip
    many = [dict(test.arguments) for test in tests if test.arguments]
    assert len(many) == 4
    assert {"n": 2, "a": 1, "b": "x"} in many
    assert next(test for test in tests if test.name == "TestA.test_one").before == ("setup_method",)


def test_scripts_of_tests_and_demos_stand_for_the_tests_where_there_are_any(submitted: Submit) -> None:
    main = "if __name__ == '__main__':\n    pass\n"
    files = {"model.py": main, "demo.py": main, "plain.py": "x = 1\n"}
    tests, scripts = found_tests(submitted(files, "a"))
    assert (tests, [script.file for script in scripts]) == ([], ["demo.py"])
    assert [script.file for script in found_tests(submitted({"model.py": main}, "b"))[1]] == ["model.py"]
    assert found_tests(submitted({"plain.py": "x = 1\n"}, "c")) == ([], [])


def test_statements_are_those_of_a_full_walk_in_its_order() -> None:
    text = """
@wrapped(lambda x: x)
class A(B if C else D):
    "doc"
    async def f(self):
        try:
            async with a as b, c: return 1
        except* E: raise
        else: x = [i for i in y if (lambda: i)()]
        finally: pass
    match z:
        case [1, *_] if g: del z
        case _:
            for i in j:
                while k: continue
            else: import l
if m: pass
elif n: o = p if q else r
else:
    def inner(): ...
"""
    tree = parsed(text.encode())
    assert list(statements(tree)) == [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
