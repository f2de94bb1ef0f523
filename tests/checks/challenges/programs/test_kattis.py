"""Problem packages of Kattis: what they say, what of it is refused, and how they are judged."""

from __future__ import annotations

import pytest

from judge_tui.checks.challenges.challenge import Limits, Settings, kinds_of
from judge_tui.checks.challenges.programs import toolchains
from judge_tui.checks.challenges.programs.cases import groups_of
from judge_tui.checks.challenges.programs.comparing import comparison
from judge_tui.checks.challenges.programs.kattis import asked_for, package
from judge_tui.checks.errors import ChallengeFault
from judge_tui.checks.verdict import CHALLENGE, Verdict

from .conftest import Judged

FILES = (
    "problem.yaml", "problem_statement/problem.sv.tex", "problem_statement/problem.en.tex",
    "data/sample/1.in", "data/sample/1.ans", "data/secret/small/2.in", "data/secret/small/2.ans",
    "data/secret/large/3.in", "data/secret/large/3.ans", "data/secret/large/4.in", "data/secret/large/4.ans",
    "data/secret/large/testdata.yaml", "data/invalid_input/5.in", "data/invalid_output/6.in",
    "input_validators/check.py", "submissions/accepted/good.py", "submissions/accepted/both/a.cpp",
    "submissions/accepted/both/b.h", "submissions/wrong_answer/bad.py",
    "submissions/time_limit_exceeded/slow.py",
)  # fmt: skip


def test_a_package_is_read_as_it_is() -> None:
    found = package({"name": "Sums"}, FILES)
    assert found.settings == Settings(title="Sums", compare="tokens any-case", limits=Limits(10.0, 2 << 30))
    assert found.statement == "problem_statement/problem.en.tex"
    assert found.right == ("submissions/accepted/both", "submissions/accepted/good.py")
    assert found.wrong == ("submissions/time_limit_exceeded/slow.py", "submissions/wrong_answer/bad.py")
    assert asked_for(FILES) == ("data/secret/large/testdata.yaml",)
    assert [group.name for group in groups_of(FILES)] == ["sample", "secret/large", "secret/small"]
    assert kinds_of(FILES) == ("cases",)


def test_a_later_format_is_read_too() -> None:
    problem = {
        "problem_format_version": "2023-07-draft", "type": ["pass-fail"],
        "name": {"sv": "Summor", "en": "Sums"},
        "limits": {"time_limit": 1.5, "memory": 256},
    }  # fmt: skip
    settings = package(problem, [*FILES, "statement/problem.md"]).settings
    assert (settings.title, settings.limits) == ("Sums", Limits(1.5, 256 << 20))


def test_whether_a_validator_counts_is_said_in_the_older_format_and_seen_in_the_later() -> None:
    files = [*FILES, "output_validators/check.py"]
    assert package({}, files).settings.compare == "tokens any-case"
    assert (
        package({"validation": "custom", "validator_flags": "3 x"}, files).settings.compare == "validator 3 x"
    )
    later = {"problem_format_version": "2023-07-draft"}
    assert package(later, files).settings.compare == "validator"
    assert package(later, FILES).settings.compare == "tokens any-case"


def test_a_time_limit_stands_where_domjudge_and_problemtools_put_it() -> None:
    texts = {"domjudge-problem.ini": "color='red'\ntimelimit = '3'\n"}
    assert package({}, FILES, texts=texts).settings.limits.seconds == 3
    assert package({}, FILES, texts={".timelimit": "4\n"}).settings.limits.seconds == 4


@pytest.mark.parametrize(
    ("flags", "compare"),
    [
        ("", "tokens any-case"),
        ("case_sensitive", "tokens"),
        ("case_sensitive space_change_sensitive", "tokens spaces"),
        ("float_tolerance 1e-6", "float relative 1e-6 absolute 1e-6 any-case"),
        ("float_absolute_tolerance 1e-4 case_sensitive", "float absolute 1e-4"),
        (["float_relative_tolerance", "1e-4"], "float relative 1e-4 any-case"),
    ],
)
def test_flags_of_the_default_validator_are_a_comparison(flags: object, compare: str) -> None:
    assert package({"validator_flags": flags}, FILES).settings.compare == compare
    comparison(compare)


def test_a_group_has_flags_of_its_own() -> None:
    groups = {
        "data/testdata.yaml": {"output_validator_flags": "case_sensitive"},
        "data/secret/large/testdata.yaml": {"output_validator_flags": "float_tolerance 0.1"},
        "data/secret/small/test_group.yaml": {"output_validator_args": ["case_sensitive"]},
    }
    assert package({}, FILES, groups).settings.group_compare == {
        "sample": "tokens", "secret": "tokens", "secret/small": "tokens",
        "secret/large": "float relative 0.1 absolute 0.1 any-case",
    }  # fmt: skip


def test_points_of_groups_are_those_of_scoring_problems() -> None:
    groups = {
        "data/sample/testdata.yaml": {"accept_score": 5, "grader_flags": "min"},
        "data/secret/small/testdata.yaml": {"range": "0 25", "accept_score": 25, "grader_flags": "min"},
        "data/secret/large/testdata.yaml": {"accept_score": 2.5},
    }
    assert package({"type": "scoring"}, FILES, groups).settings.group_points == {
        "sample": 5.0, "secret/small": 25.0, "secret/large": 5.0
    }  # fmt: skip
    assert package({}, FILES, groups).settings.group_points == {}
    later = {"data/secret/small/test_group.yaml": {"scoring": {"score": 40, "aggregation": "min"}}}
    assert package({"type": ["scoring"]}, FILES, later).settings.group_points == {"secret/small": 40.0}


@pytest.mark.parametrize(
    ("problem", "more", "told"),
    [
        ({"validation": "custom interactive"}, "", "problem.yaml: it is interactive: "),
        ({"type": ["pass-fail", "interactive"]}, "", "problem.yaml: it is interactive: "),
        ({"type": ["multi-pass"]}, "", "problem.yaml: it is a multi-pass problem: "),
        ({"type": "submit-answer"}, "", "problem.yaml: its submissions are answers, "),
        ({"validation": "custom"}, "", "'validation' is custom, and there are no output_validators"),
        ({"validator_flags": "fuzzy"}, "", "the default validator knows no flag 'fuzzy'"),
        ({"validator_flags": "float_tolerance near"}, "", "a tolerance must be a number, not 'near'"),
        ({"validator_flags": "float_tolerance"}, "", "a tolerance must be a number, not ''"),
        ({"limits": {"time_limit": "soon"}}, "", "'time_limit' must be a number above 0, not 'soon'"),
        ({"limits": {"memory": -1}}, "", "'memory' must be a number above 0, not '-1'"),
        ({"limits": [1]}, "", "'limits' must hold keys and values"),
        ([1], "", "problem.yaml: it must hold keys and values"),
        ({}, "data/secret/1.files/a.txt", "data/secret/1.files/a.txt: its programs read files, "),
        ({}, "include/cpp/main.cpp", "include/cpp/main.cpp: it adds files to every submission"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_sentence(problem: object, more: str, told: str) -> None:
    with pytest.raises(ChallengeFault) as raised:
        package(problem, [*FILES, *([more] if more else [])])
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)


VALIDATOR = """
import sys
given, answer = (open(name).read() for name in sys.argv[1:3])
got = sys.stdin.read()
if "crash" in got:
    sys.exit(1)
if sys.argv[4:] == ["strict"] and got != answer:
    open(sys.argv[3] + "judgemessage.txt", "w").write(f"not {answer}")
    sys.exit(43)
sys.exit(42 if int(got) > int(given) else 43)
"""
CASES = {
    "problem.yaml": "validation: custom",
    **{f"data/sample/1.{end}": "7\n" for end in ("in", "ans")},
    "output_validators/check/validate.py": VALIDATOR,
}  # fmt: skip


@pytest.mark.parametrize(
    ("printed", "flags", "verdict", "told"),
    [
        ("8", "", Verdict.PASS, "the case is right"),
        ("6", "", Verdict.FAIL, "1: it is not accepted"),
        ("8", "strict", Verdict.FAIL, "1: not 7"),
        (
            "crash",
            "",
            Verdict.ERROR,
            "the validator exited with status 1, where 42 and 43 are what it may say",
        ),
    ],
)
def test_a_validator_of_the_package_says_what_is_right(
    judged: Judged, printed: str, flags: str, verdict: Verdict, told: str
) -> None:
    problem = {"validation": "custom", "validator_flags": flags}
    (outcome,) = judged(CASES, {"a.py": f"print('{printed}')"}, package(problem, CASES).settings)
    assert outcome.verdict is verdict, outcome
    assert told in outcome.summary
    assert outcome.fault == (CHALLENGE if verdict is Verdict.ERROR else "")


def test_a_validator_may_be_of_another_language(judged: Judged) -> None:
    if toolchains.tool("g++") is None:
        pytest.skip("needs g++")
    text = '#include "v.h"\nint main(int, char** words) { return judged(words[1]); }\n'
    head = "#include <fstream>\n#include <iostream>\n" + (
        "inline int judged(const char* file) { int a, b; std::ifstream(file) >> a; std::cin >> b; "
        "return a == b ? 42 : 43; }\n"
    )
    cases = {name: text for name, text in CASES.items() if "validators" not in name}
    cases |= {"output_validators/v.cc": text, "output_validators/v.h": head}
    (outcome,) = judged(cases, {"a.py": "print(7)"}, Settings(compare="validator"))
    assert outcome.verdict is Verdict.PASS, outcome


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, "'compare' is \"validator\", and there is no validator.py"),
        ({"output_validators/a.py": "def f(:\n"}, "output_validators/a.py:1: the validator does not compile"),
        (
            {"output_validators/a/build": "", "output_validators/a/b.py": ""},
            "a script of its own builds or runs it",
        ),
        ({f"output_validators/{n}/b.py": "" for n in "ab"}, "there are several validators: a and b"),
        ({f"output_validators/{n}.py": "print()" for n in "ab"}, "which file is the validator? "),
    ],
)
def test_a_validator_that_cannot_be_run_is_the_challenges_fault(
    judged: Judged, files: dict[str, str], told: str
) -> None:
    cases = {name: text for name, text in CASES.items() if "validators" not in name} | files
    (outcome,) = judged(cases, {"a.py": "print(7)"}, Settings(compare="validator"))
    assert (outcome.verdict, outcome.fault) == (Verdict.ERROR, CHALLENGE)
    assert told in outcome.summary
