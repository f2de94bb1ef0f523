"""Which file of a submission is its program."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.challenges.challenge import Challenge, Language, Settings
from judge_tui.checks.challenges.programs.building import first_error
from judge_tui.checks.challenges.programs.choosing import Program, Undecided, chosen
from judge_tui.checks.challenges.programs.recipes import recipes_of
from judge_tui.checks.faults import Skipped
from judge_tui.checks.submission import Submission

from .conftest import written

C_MAIN, C_NONE = "int main(void) { return 0; }", "int f(void) { return 0; }"
GUARD = 'def f(): pass\n\nif __name__ == "__main__":\n    f()\n'
MODULE = "LIMIT = 3\n\ndef f():\n    return LIMIT\n"


def of(folder: Path, files: dict[str, str], entry: str = "", **languages: Language) -> Program:
    settings = Settings(entry=entry, languages=languages)
    submission = Submission("somebody", "task", written(folder, files))
    return chosen(submission, recipes_of(Challenge("task", str(folder), settings)), entry)


@pytest.mark.parametrize(
    ("files", "main"),
    [
        ({"any.py": MODULE, "readme.md": "…"}, "any.py"),
        ({"any.py": GUARD, "lib.py": MODULE}, "any.py"),
        ({"any.py": "import lib\nprint(lib.f(input()))", "lib.py": MODULE}, "any.py"),
        ({"any.py": "n = int(input())\nif n: print(n)", "lib.py": MODULE}, "any.py"),
        ({"any.py": "from lib import f\nf()", "lib.py": "import sys\nsys.setrecursionlimit(9999)"}, "any.py"),
        ({"a.c": C_MAIN, "b.c": C_NONE}, "a.c"),
        ({"a.c": C_MAIN, "b.c": f"// {C_MAIN}\n/* {C_MAIN} */"}, "a.c"),
        (
            {"a.cpp": "auto main() -> int {}", "b.h": C_NONE, "lib/c.cc": "int domain(int x) { return x; }"},
            "a.cpp",
        ),
        ({"src/main.rs": "fn main() {}", "src/lib.rs": "pub fn f() {}"}, "src/main.rs"),
        ({"a.go": "package main\nfunc main() {}", "b.go": "package main\nfunc f() {}"}, "a.go"),
        ({"A.java": "class A {}", "B.java": "class B { public static void main(String[] a) {} }"}, "B.java"),
        (
            {"a.js": "const f = require('./b')\nprocess.stdin.on('data', f)", "b.js": "module.exports = 1"},
            "a.js",
        ),
        ({"a.py": GUARD, "main.cpp": C_MAIN}, "main.cpp"),
        ({"a.py": MODULE, "main.py": MODULE}, "main.py"),
        ({"a.cpp": C_MAIN, "tests/b.py": GUARD, "test_a.py": GUARD, "bench/c.cpp": C_MAIN}, "a.cpp"),
        ({"test.py": GUARD}, "test.py"),
    ],
)
def test_the_program_is_the_only_file_or_the_only_one_with_a_main(
    tmp_path: Path, files: dict[str, str], main: str
) -> None:
    assert of(tmp_path, files).main == main


def test_a_file_that_is_named_comes_first(tmp_path: Path) -> None:
    files = {"a.py": GUARD, "deep/b.py": GUARD, "c.py": GUARD}
    assert of(tmp_path, files, "a.py").main == "a.py"
    assert of(tmp_path, files, "deep/b.py:solve").main == "deep/b.py"
    assert of(tmp_path, files, "b.py").main == "deep/b.py"
    (tmp_path / "submission.toml").write_text('[binding.program]\ntarget = "c.py"\n')
    assert of(tmp_path, files, "a.py").main == "c.py"
    (tmp_path / "submission.toml").write_text('[binding.program]\ntarget = "gone.py"\n')
    with pytest.raises(Undecided, match=r"\[binding.program\] names gone.py, which is no source file here"):
        of(tmp_path, files, "a.py")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (
            {"a.py": GUARD, "b.cpp": C_MAIN},
            "a.py and b.cpp could each be the program → name it in submission.toml: ",
        ),
        ({"a.py": MODULE, "b.py": MODULE}, "none of a.py and b.py has a main → name it in submission.toml: "),
    ],
)
def test_what_cannot_be_told_is_said_in_one_sentence(
    tmp_path: Path, files: dict[str, str], told: str
) -> None:
    with pytest.raises(Undecided) as raised:
        of(tmp_path, files)
    assert raised.value.message == told + '[binding.program] target = "a.py"'
    assert raised.value.candidates == tuple(files)


def test_nothing_in_a_known_language_is_no_submission(tmp_path: Path) -> None:
    with pytest.raises(Skipped, match=r"no submission: a.hs and b.ml are|no submission: a.hs, b.ml are"):
        of(tmp_path, {"a.hs": "main = pure ()", "b.ml": ""})


def test_what_has_no_main_of_its_own_is_compiled_along(tmp_path: Path) -> None:
    files = {
        "a.c": C_MAIN,
        "b.c": C_NONE,
        "deep/c.c": C_NONE,
        "d.c": C_MAIN,
        "e.cpp": C_NONE,
        "test_f.c": C_NONE,
    }
    assert of(tmp_path, files, "a.c").sources == ("a.c", "b.c", "deep/c.c")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("class Other {} public class Any { public static void main(String[] a) {} }", "Any"),
        ("class Other {} class Any { static void main(String[] a) {} } class Third {}", "Any"),
        ("class Sum { static class Any {} public static void main(String[] a) {} }", "Sum"),
        (
            "package one.two;\npublic final class Any { public static void main(String[] a) {} }",
            "one.two.Any",
        ),
        ("record Any(int x) { public static void main(String[] a) {} }", "Any"),
    ],
)
def test_the_class_that_java_runs_is_the_one_with_the_main(tmp_path: Path, text: str, name: str) -> None:
    assert of(tmp_path, {"Sum.java": text}).main_class == name


def test_a_language_that_is_taught_comes_before_those_that_are_known(tmp_path: Path) -> None:
    pypy = Language(files=("*.py",), run="pypy3 {main}", factor=2.0)
    recipe = of(tmp_path, {"a.py": GUARD}, pypy=pypy).recipe
    assert (recipe.name, recipe.factor, recipe.taught) == ("pypy", 2.0, True)


def test_of_a_known_language_only_what_is_said_changes(tmp_path: Path) -> None:
    recipe = of(tmp_path, {"a.c": C_MAIN}, C=Language(factor=3.0)).recipe
    assert (recipe.name, recipe.factor, recipe.taught, recipe.bounded) == ("c", 3.0, False, True)
    recipe = of(tmp_path, {"a.c": C_MAIN}, c=Language(build="tcc -o {out} {main}")).recipe
    assert (recipe.build, recipe.run, recipe.taught) == ("tcc -o {out} {main}", "{out}", True)


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("/tmp/./Sum.java:2: error: ';' expected\n  int x\n", ("Sum.java", 2, "';' expected")),
        (
            "./a.cpp:3:9: warning: unused\na.cpp:5:2: fatal error: no.h: No such file",
            ("a.cpp", 5, "no.h: No such file"),
        ),
        ("In file included from b.h:1:\nb.h:7:1: error: odd", ("b.h", 7, "odd")),
        ("main.pas(3,5) Error: Identifier not found", ("main.pas", 3, "Identifier not found")),
        ("error: something\n  --> src/lib.rs:4:9\n", ("src/lib.rs", 4, "")),
        ('  File "x.py", line 9\n', ("x.py", 9, "")),
        ("/usr/include/stdio.h:3:1: error: theirs", ("", 0, "")),
        ("linker: undefined reference to `main'", ("", 0, "")),
    ],
)
def test_the_first_error_of_a_compiler_is_found_in_the_submissions_own_files(
    output: str, told: tuple[str, int, str]
) -> None:
    files = ["Sum.java", "a.cpp", "b.h", "main.pas", "src/lib.rs", "x.py"]
    assert first_error(output, files) == told
