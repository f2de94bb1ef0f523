"""What a challenge of programs says of programs that are right, wrong, slow, loud, broken, or none."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

import pytest

from judge_tui.checks.challenges.challenge import Language, Limits, Settings
from judge_tui.checks.challenges.programs import building, toolchains
from judge_tui.checks.verdict import CHALLENGE, Outcome, Verdict

from .conftest import Judged

SUM = {"cases/sample/1.in": "3 4\n", "cases/sample/1.ans": "7\n"}
RIGHT = "a, b = map(int, input().split())\nprint(a + b)\n"
HASTY, SMALL = Settings(limits=Limits(seconds=0.3)), Settings(limits=Limits(memory=128 << 20))
NEEDED = {"c": "gcc", "cpp": "g++", "rs": "rustc", "go": "go", "java": "javac", "js": "node", "py": "python3"}
RIGHT_IN = {
    "a.py": RIGHT,
    "a.c": '#include <stdio.h>\nint main(void) { int a, b; scanf("%d%d", &a, &b); printf("%d\\n", a + b); }',
    "a.cpp": "#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b << '\\n'; }",
    "a.rs": """
        use std::io::*;
        fn main() {
            let mut text = String::new();
            stdin().read_to_string(&mut text).unwrap();
            println!("{}", text.split_whitespace().map(|x| x.parse::<i64>().unwrap()).sum::<i64>());
        }
    """,
    "a.go": 'package main\nimport "fmt"\nfunc main() { var a, b int; fmt.Scan(&a, &b); fmt.Println(a + b) }',
    "Sum.java": """
        import java.util.*;
        public class Sum {
            public static void main(String[] arguments) {
                Scanner in = new Scanner(System.in);
                System.out.println(in.nextInt() + in.nextInt());
            }
        }
    """,
    "a.js": """
        const text = require("fs").readFileSync("/dev/stdin", "utf8")
        console.log(text.trim().split(/\\s+/).map(Number).reduce((a, b) => a + b))
    """,
}
BROKEN_IN = {
    "a.py": ("x = 1\ndef f(:\n", 2),
    "a.c": ("int main(void) {\n  retrn 3;\n}\n", 2),
    "a.rs": ('fn main() {\n  let x: i32 = "a";\n}\n', 2),
    "a.go": ("package main\nfunc main() {\n  x := 1\n}\n", 3),
}


def needs(file: str) -> None:
    name = NEEDED[file.rpartition(".")[2]]
    if toolchains.tool(name) is None:
        pytest.skip(f"needs {name}")


def one(outcomes: list[Outcome]) -> Outcome:
    (outcome,) = outcomes
    return outcome


@pytest.mark.parametrize("file", RIGHT_IN)
def test_a_right_program_passes_in_every_language(judged: Judged, file: str) -> None:
    needs(file)
    outcome = one(judged(SUM, {file: RIGHT_IN[file]}))
    assert outcome.verdict is Verdict.PASS, outcome
    assert outcome.summary.startswith("the case is right, in at most 0.")
    assert outcome.evidence[0].table[1][:2] == ("1", "right")


@pytest.mark.parametrize("file", BROKEN_IN)
def test_what_does_not_compile_fails_with_file_and_line(judged: Judged, file: str) -> None:
    needs(file)
    text, line = BROKEN_IN[file]
    outcome = one(judged(SUM, {file: text}))
    assert outcome.verdict is Verdict.FAIL
    assert outcome.location == (file, line)
    assert outcome.summary.startswith("does not compile: ")
    assert f"({file}:{line})" in outcome.summary
    assert outcome.evidence[0].output


def test_a_wrong_answer_is_shown_with_its_input_and_the_first_difference(judged: Judged) -> None:
    cases = SUM | {"cases/sample/2.in": "1 1\n", "cases/sample/2.ans": "2\n"}
    outcome = one(judged(cases, {"a.py": "print(7)\n"}))
    assert (outcome.verdict, outcome.summary) == (
        Verdict.FAIL, "1 of 2 cases are right; 2: line 1, token 1: '7' instead of '2'"
    )  # fmt: skip
    wrong = next(item for item in outcome.evidence if item.ok is False)
    assert wrong.table[1:] == (
        ("input", "1 1\n"), ("expected", "2\n"), ("got", "7\n"),
        ("first difference", "line 1, token 1: '7' instead of '2'"),
    )  # fmt: skip
    assert outcome.location is None
    assert wrong.file == "a.py"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("while True: pass", "took more than 0.3 s"),
        ("import sys\nprint(7)\nsys.exit(3)", "exited with status 3"),
        ("import os\nprint(7, flush=True)\nos.abort()", "was killed by signal 6 (SIGABRT)"),
        (
            "x = []\nwhile True: x.append(bytes(1 << 20))",
            "ran out of its 128 MiB of memory and exited with status 1",
        ),
        ("while True: print('x' * 999_999)", "printed more than 64 MiB"),
        ("import os\nwhile True: os.fork()", "exited with status 1"),
        ("pass", "line 1, at the end: nothing instead of '7'"),
    ],
)
def test_a_program_that_breaks_is_told_how(judged: Judged, text: str, told: str) -> None:
    outcome = one(judged(SUM, {"a.py": text}, HASTY if "took" in told else SMALL))
    assert (outcome.verdict, outcome.summary) == (Verdict.FAIL, f"0 of 1 cases are right; 1: {told}")


def test_the_line_where_a_program_raises_is_told(judged: Judged) -> None:
    outcome = one(judged(SUM, {"a.py": "import b\n\n\nb.f()\n", "b.py": "def f():\n    raise KeyError\n"}))
    assert outcome.location == ("b.py", 2)
    assert "KeyError" in outcome.evidence[0].output


def test_a_python_program_finds_numpy_and_nothing_that_is_only_installed(judged: Judged) -> None:
    text = "import numpy, os, sys\nprint(int(numpy.fromstring(sys.stdin.read(), sep=' ').sum()))"
    # without a card, Triton's kernels run in its interpreter
    text += "\nassert os.environ['TRITON_INTERPRET'] == '1'"
    outcome = one(judged(SUM, {"a.py": text}))
    assert outcome.verdict is Verdict.PASS, outcome
    outcome = one(judged(SUM, {"a.py": "import textual"}))
    assert "ModuleNotFoundError" in outcome.evidence[0].output


def test_a_program_that_reads_nothing_may_be_right(judged: Judged) -> None:
    cases = {"cases/1.in": "3 4\n" * 500_000, "cases/1.ans": "7\n"}
    outcome = one(judged(cases, {"a.py": "print(7)"}))
    assert (outcome.check, outcome.verdict) == ("cases", Verdict.PASS)


def test_three_time_outs_end_a_group_and_the_rest_is_said_not_to_have_run(judged: Judged) -> None:
    cases = {f"cases/secret/{n}.{end}": "1\n" for n in range(6) for end in ("in", "ans")}
    slow = "if input() == '1':\n    while True: pass\n"
    settings = Settings(group_limits={"secret": Limits(seconds=0.1)})
    outcome = one(judged(cases, {"a.py": slow}, settings))
    assert outcome.summary.endswith("ended after three that took more than 0.1 s")
    told = next(item for item in outcome.evidence if item.quantity == "right answers, tokens")
    assert len(told.table) == 4
    assert told.note == "3 were not run: three took too long."


def test_each_folder_is_a_check_and_a_name_that_is_taken_is_told_apart(judged: Judged) -> None:
    groups = ("sample", "secret/deep", "size")
    cases = {f"cases/{group}/1.{end}": "7" for group in groups for end in ("in", "ans")}
    cases |= {f"cases/cases/1.{end}": "7" for end in ("in", "ans")}
    outcomes = judged(cases | {"cases/2.in": "", "cases/2.ans": "7"}, {"a.py": "print(7)"})
    assert {each.check for each in outcomes} == {
        "cases",
        "cases/cases",
        "sample",
        "secret/deep",
        "cases/size",
    }
    assert all(each.verdict is Verdict.PASS for each in outcomes)


def test_limits_and_factors_are_a_groups_own(judged: Judged) -> None:
    cases = {f"cases/{group}/1.{end}": "" for group in ("fast", "slow/deep") for end in ("in", "ans")}
    settings = Settings(
        limits=Limits(seconds=0.1),
        group_limits={"slow": Limits(seconds=2.0)},
        languages={"py": Language(factor=2.0)},
    )
    fast, slow = judged(cases, {"a.py": "import time; time.sleep(0.3)"}, settings)
    assert "took more than 0.2 s" in fast.summary
    assert slow.summary.endswith("of 4 s")


def test_a_program_is_built_once_for_all_groups(judged: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    needs("a.c")
    built: list[str] = []
    compiled = building._compiled
    monkeypatch.setattr(building, "_compiled", lambda *given: built.append("once") or compiled(*given))  # type: ignore[func-returns-value]
    cases = {f"cases/{group}/1.{end}": "7" for group in "abc" for end in ("in", "ans")}
    text = '#include <stdio.h>\nint main(void) { puts("7"); } /* built once */'
    assert [each.verdict for each in judged(cases, {"a.c": text})] == [Verdict.PASS] * 3
    assert built == ["once"]


LOOK = """
import os
found = []
for folder, folders, names in os.walk("/"):
    folders[:] = [name for name in folders if name not in ("usr", "proc", "lib", "lib64", "bin", "opt")]
    found += [name for name in names if name.startswith(("unseen", "validator"))]
print(*found)
"""


def test_answers_validators_and_other_cases_are_not_there_for_a_program(judged: Judged) -> None:
    cases = {"cases/unseen.in": "", "cases/unseen.ans": "", "cases/unseen2.in": "", "cases/unseen2.ans": ""}
    cases["validator.py"] = "def validate(given, expected, got):\n    return got == '\\n'"
    outcome = one(judged(cases, {"a.py": LOOK}))
    assert outcome.verdict is Verdict.PASS, outcome


def test_a_missing_toolchain_is_a_skip_that_says_how_to_get_it(
    judged: Judged, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("RUSTUP_HOME", raising=False)
    outcome = one(judged(SUM, {"a.rs": "fn main() { /* none */ }"}))
    assert (outcome.verdict, outcome.summary) == (
        Verdict.SKIP, "needs rustc, which is not installed → https://rustup.rs"
    )  # fmt: skip


def test_a_compiler_that_compiles_nothing_is_no_fault_of_the_submissions(
    judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("a.c")
    building.recipe_works.cache_clear()
    settings = Settings()
    monkeypatch.setattr(building, "BUILD_SECONDS", 20.0)
    monkeypatch.setattr(
        building, "recipe_works", lambda recipe, mode: False
    )  # as where the C library's headers are missing
    outcome = one(judged(SUM, {"a.c": "#include <no.h>\nint main(void) {}"}, settings))
    assert outcome.verdict is Verdict.SKIP
    assert outcome.summary.startswith("the C compiler does not work here: ")


@pytest.mark.parametrize(
    ("language", "files"),
    [
        (Language(files=("*.awk",), run="awk -f {main}"), {"sum.awk": "{ print $1 + $2 }"}),
        (
            Language(files=("*.sh",), build="cp {main} {out}", run="sh {out}"),
            {"sum.sh": "read a b; echo $((a + b)) | cat"},
        ),
    ],
)
def test_a_challenge_teaches_a_language(judged: Judged, language: Language, files: dict[str, str]) -> None:
    if shutil.which("awk") is None:
        pytest.skip("needs awk")
    outcome = one(judged(SUM, files, Settings(languages={"taught": language})))
    assert outcome.verdict is Verdict.PASS, outcome


@pytest.mark.parametrize(
    ("language", "told"),
    [
        (Language(files=("*.x",)), "has no 'run', and taught is none that is known."),
        (Language(run="sh {main}"), "has no 'files', and taught is none that is known."),
        (Language(files=("*.x",), run="'{main}"), "run is no command line: no closing quotation."),
        (
            Language(files=("*.x",), build="sh {main}", run="{out}"),
            "build makes no {out}: it has to write the program there.",
        ),
    ],
)  # fmt: skip
def test_a_language_that_is_taught_badly_is_the_challenges_fault(
    judged: Judged, language: Language, told: str
) -> None:
    outcome = one(judged(SUM, {"sum.x": "true"}, Settings(languages={"taught": language})))
    assert (outcome.verdict, outcome.fault) == (Verdict.ERROR, CHALLENGE)
    assert outcome.summary.startswith("the challenge itself: challenge.toml: [language.taught] ")
    assert outcome.summary.endswith(told)


@pytest.mark.parametrize(
    ("cases", "told"),
    [
        ({"cases/1.in": ""}, "cases/1.in: there is no cases/1.ans beside it"),
        ({"cases/1.ans": ""}, "cases/1.ans: there is no cases/1.in beside it"),
    ],
)
def test_a_case_that_is_not_whole_is_the_challenges_fault(
    judged: Judged, cases: dict[str, str], told: str
) -> None:
    outcome = one(judged(cases, {"a.py": "pass"}))
    assert (outcome.verdict, outcome.fault) == (Verdict.ERROR, CHALLENGE)
    assert told in outcome.summary


def test_a_comparison_that_is_none_is_the_challenges_fault(judged: Judged) -> None:
    outcome = one(judged(SUM, {"a.py": RIGHT}, Settings(compare="fuzzy")))
    assert (outcome.verdict, outcome.fault) == (Verdict.ERROR, CHALLENGE)
    assert "'fuzzy' is no comparison: tokens, exact, lines, float 1e-6 are" in outcome.summary


def test_a_submission_in_no_known_language_is_none(judged: Judged) -> None:
    outcome = one(judged(SUM, {"a.hs": "main = pure ()"}))
    assert outcome.verdict is Verdict.SKIP
    assert outcome.summary.startswith(
        "no submission: a.hs is in no language that this challenge knows (Python, C, "
    )


def test_output_that_is_not_text_is_compared_as_bytes(judged: Judged) -> None:
    text = "import sys\nsys.stdout.buffer.write(b'\\xff\\xfe')"
    assert (
        one(judged({"cases/1.in": "", "cases/1.ans": b"\xff\xfe\n"}, {"a.py": text})).verdict is Verdict.PASS
    )
    outcome = one(judged({"cases/1.in": "", "cases/1.ans": b"\xff\xfd\n"}, {"a.py": text}))
    assert outcome.summary.endswith("line 1, token 1: '\\xff\\xfe' instead of '\\xff\\xfd'")


def test_points_of_a_group_are_evidence(judged: Judged) -> None:
    settings = Settings(group_points={"sample": 25.0})
    for text, points in ((RIGHT, 25.0), ("print(1)", 0.0)):
        outcome = one(judged(SUM, {"a.py": text}, settings))
        told = next(item for item in outcome.evidence if item.quantity == "points")
        assert (told.measured, told.limit) == (points, 25.0)


def test_a_recursion_may_be_as_deep_as_memory_goes_and_one_without_end_is_told(judged: Judged) -> None:
    needs("a.c")
    text = """
        #include <stdio.h>
        int deep(int left, int* above) {
            int own = left + *above % 2;
            return left ? deep(left - 1, &own) + (own & 1) : 0;
        }
        int main(void) {
            int a, b;
            scanf("%d%d", &a, &b);
            printf("%d\\n", a + b + (deep(a * 100000, &a) < 0));
        }
    """
    assert one(judged(SUM, {"a.c": text}, SMALL)).verdict is Verdict.PASS
    outcome = one(judged(SUM, {"a.c": text.replace("a * 100000", "-1")}, SMALL))
    assert outcome.summary.endswith("ran out of its 128 MiB of memory and was killed by signal 11 (SIGSEGV)")


@pytest.mark.skipif(find_spec("triton") is not None, reason="triton is here")
def test_a_program_whose_framework_is_not_here_is_nobody_s_failure(judged: Judged) -> None:
    (needs,) = judged(SUM, {"a.py": "import triton\n" + RIGHT})
    assert (needs.verdict, needs.summary) == (
        Verdict.SKIP, "needs triton, which is not installed here → pip install triton"
    )  # fmt: skip
    (forged,) = judged(SUM, {"a.py": "raise ModuleNotFoundError(\"No module named 'triton'\")"})
    assert forged.verdict is Verdict.FAIL
