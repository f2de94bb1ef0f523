"""Submissions that are hardly a program get a verdict that says so, never a traceback or an error."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Outcome

RIGHT = """
def scale_forward(x, factor):
    return x * factor, (x, factor)


def scale_backward(dy, cache):
    return dy * cache[1], (dy * cache[0]).sum(axis=0)
"""
FENCED = f"Here is the solution:\n\n```python{RIGHT}```\n"
Submit = Callable[..., Submission]


def told(outcomes: dict[str, Outcome]) -> dict[str, tuple[str, str]]:
    assert all(outcome.verdict != "error" for outcome in outcomes.values())
    return {check: (str(outcome.verdict), outcome.summary) for check, outcome in outcomes.items()}


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "the folder is missing or empty"),
        ({"prompt.md": "# Scale\nWrite forward and backward.\n"}, "prompt.md and no code"),
        ({"TASK": "Write it.", "notes.txt": ""}, "TASK and no code"),
        ({"code.py": ""}, "code.py is empty"),
        ({"a.py": "", "b.py": "  \n\n"}, "a.py, b.py are empty"),
    ],
)
def test_a_folder_without_code_is_skipped_by_every_check(
    scale: Task, submitted: Submit, files: dict[str, str], reason: str
) -> None:
    outcomes = told(judge(scale, submitted(files), seed=1))
    assert {outcome for outcome, _summary in outcomes.values()} == {"skip"}
    assert all(summary.startswith("no submission: ") for _outcome, summary in outcomes.values())
    assert all(reason in summary for _outcome, summary in outcomes.values())


def test_a_folder_that_is_not_there_is_skipped(scale: Task, tmp_path: Path) -> None:
    outcomes = told(judge(scale, Submission.at(tmp_path / "nobody" / "scale"), seed=1))
    assert {outcome for outcome, _summary in outcomes.values()} == {"skip"}


def test_code_in_a_markdown_file_is_told_with_its_line(scale: Task, submitted: Submit) -> None:
    outcomes = told(judge(scale, submitted({"answer.md": FENCED}), seed=1))
    assert outcomes["loads"] == (
        "skip", "no Python file among answer.md: its code stands in a Markdown fence (answer.md:3)"
    )  # fmt: skip
    assert outcomes["right"][0] == outcomes["purity"][0] == "unbound"
    assert "its code stands in a Markdown fence (answer.md:3), not in a Python file" in outcomes["right"][1]
    assert outcomes["own_tests"][0] == "skip"
    assert outcomes["size"][0] == "pass"


def test_the_prose_of_an_answer_is_not_measured_as_code(scale: Task, submitted: Submit) -> None:
    code = "def scale(x, factor):\n    return x * factor\n"
    files = {
        "scale.py": code,
        "answer.md": FENCED,
        "notes/README.rst": "Words.\n",
        "requirements.txt": "numpy\n",
    }
    size = judge(scale, submitted(files), seed=1, checks=["size"])["size"]
    assert size.summary == (
        "2 files, 3 lines, 1 function, 0 tests; prose left out: answer.md, notes/README.rst"
    )  # fmt: skip
    (counted,) = [item.table for item in size.evidence if item.table]
    assert [row[0] for row in counted[1:]] == ["requirements.txt", "scale.py"]


def test_markdown_in_a_python_file_is_told_as_such(scale: Task, submitted: Submit) -> None:
    outcomes = told(judge(scale, submitted(FENCED), seed=1))
    assert outcomes["loads"][0] == "fail"
    assert "Markdown with a code fence, not Python" in outcomes["loads"][1]
    assert "(code.py:3)" in outcomes["loads"][1]
    assert outcomes["right"][0] == "unbound"
    assert "code.py is Markdown with a code fence (line 3), not Python" in outcomes["right"][1]


@pytest.mark.parametrize(
    "source",
    [
        b"\xff\xfe\x00 = 1\n",
        "naïve = 'é'\n".encode("latin-1"),
        b"# coding: no-such-encoding\nx = 1\n",
        b"# coding: rot13\nk = 1\n",
        b"# coding: undefined\nx = 1\n",
        b"x = 1\x00\n",
        b"x = " + b"(" * 300 + b")" * 300,
        b"x = " + b"[" * 90_000,
        b"x = " + b"-" * 50_000 + b"1",
        b"x" + b".a" * 50_000,
        b"x = " + b" + ".join([b"1"] * 20_000),
        b"if x:\n" + b"".join(b" " * n + b"if x:\n" for n in range(1, 150)) + b" " * 150 + b"pass\n",
        b"#" * (5 << 20),
    ],
    ids=["not-utf8", "latin-1", "unknown-encoding", "rot13", "undefined", "nul", "parentheses", "brackets",
         "signs", "attributes", "sum", "blocks", "5-MiB"],
)  # fmt: skip
def test_a_source_that_does_not_parse_or_compile_fails_loads_and_binds_nothing(
    scale: Task, submitted: Submit, source: bytes
) -> None:
    outcomes = told(judge(scale, submitted({"code.py": source}), seed=1))
    assert outcomes["loads"][0] == "fail"
    assert "code.py" in outcomes["loads"][1]
    assert outcomes["right"][0] in ("fail", "unbound")
    assert outcomes["size"][0] == "pass"


@pytest.mark.parametrize(
    "source",
    [
        RIGHT.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + RIGHT.encode(),
        b"# -*- coding: latin-1 -*-\n# na\xefve\n" + RIGHT.encode(),
        RIGHT.encode() + b"\x0c\n# form feed\n",
    ],
    ids=["crlf", "bom", "latin-1-cookie", "form-feed"],
)
def test_unusual_encodings_of_right_code_pass(scale: Task, submitted: Submit, source: bytes) -> None:
    outcomes = told(judge(scale, submitted({"code.py": source}), seed=1, checks=["loads", "right", "size"]))
    assert {verdict for verdict, _summary in outcomes.values()} == {"pass"}


def test_a_gigabyte_of_output_is_cut_and_harms_nothing(scale: Task, submitted: Submit) -> None:
    flood = "for _ in range(1000):\n    print('x' * 1_000_000)\n" + RIGHT
    outcomes = judge(scale, submitted(flood), seed=1, checks=["loads", "right"])
    assert outcomes["right"].verdict == "pass"
    assert outcomes["loads"].verdict == "warn"
    assert "prints little on import: 1000.0 MB" in outcomes["loads"].summary
    assert sum(len(item.output) for outcome in outcomes.values() for item in outcome.evidence) < 10_000


def test_a_file_that_ends_the_process_does_not_take_the_other_files_along(
    scale: Task, submitted: Submit
) -> None:
    files = {
        "a_plot.py": "import os\nos._exit(1)\n",
        "b_train.py": "while True:\n    pass\n",
        "code.py": RIGHT,
    }
    checks = tuple(replace(each, budget=6.0) if each.id == "loads" else each for each in scale.checks)
    hurried = replace(scale, checks=checks)
    outcomes = told(judge(hurried, submitted(files), seed=1, checks=["loads", "right", "purity"]))
    assert outcomes["loads"][0] == "fail"
    assert outcomes["right"][0] == outcomes["purity"][0] == "pass"


def test_a_helper_that_never_ends_does_not_take_the_role_along(
    scale: Task, submitted: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge_tui.checks.binding.settling._PROBE_BUDGET", 2.0)
    helper = "\ndef scale(x, factor):\n    while True:\n        pass\n"
    outcomes = told(judge(scale, submitted(helper + RIGHT), seed=1, checks=["right"]))
    assert outcomes["right"][0] == "pass"


def test_a_malformed_submission_toml_is_unbound_and_named(scale: Task, submitted: Submit) -> None:
    for text, reason in (
        ("[binding", "is not valid TOML"),
        ("model = " + "9" * 5000, "is not valid TOML"),
        ("comment = 3", "'comment' must be a text"),
        ("[binding.forward]\ntarget = 'code.py'", "'target' must be 'file.py:name'"),
        ("[binding.forward]\ntarget = '../x.py:f'", "not in the submission"),
    ):
        outcomes = told(judge(scale, submitted({"code.py": RIGHT, "submission.toml": text}), seed=1))
        assert outcomes["right"][0] == "unbound"
        assert reason in outcomes["right"][1]
        assert "submission.toml" in outcomes["right"][1]
        assert outcomes["loads"][0] == "pass"


def test_files_that_no_report_could_name_and_links_are_left_out(
    scale: Task, submitted: Submit, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("SECRET = 1\n")
    submission = submitted(RIGHT)
    (submission.path / "link.py").symlink_to(secret)
    (submission.path / "adapter.py").symlink_to(secret)
    (submission.path / "submission.toml").symlink_to(secret)
    (submission.path / b"\xff.py".decode(errors="surrogateescape")).write_text("x = 1\n")
    again = Submission.at(submission.path)
    assert again.files == ("code.py",)
    assert again.adapter is None
    assert again.meta.comment == ""
    assert told(judge(scale, again, seed=1))["right"][0] == "pass"
    # and not without a word
    assert list(map(str, again.unlisted)) == [
        r"\xff.py (its name is not UTF-8)", "adapter.py (a link)",
        "link.py (a link)", "submission.toml (a link)",
    ]  # fmt: skip
    loads = judge(scale, again, seed=1)["loads"]
    [noted] = [item for item in loads.evidence if item.quantity == "files that are no part of it"]
    assert noted.measured == 4
    assert r"\xff.py" in (noted.output or "")


def test_the_digest_of_a_submission_does_not_hang_on_what_is_left_out(
    submitted: Submit, tmp_path: Path
) -> None:
    submission = submitted(RIGHT)
    digest = Submission.at(submission.path).digest
    (submission.path / "data").symlink_to(tmp_path)
    os.mkfifo(submission.path / "pipe")
    again = Submission.at(submission.path)
    assert again.digest == digest
    assert list(map(str, again.unlisted)) == ["data (a link)", "pipe (no file)"]
    (submission.path / "data").unlink()
    again.refresh()
    assert list(map(str, again.unlisted)) == ["pipe (no file)"]
