"""init, add, export, score, compare and the home matrix, in this process."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.store import Store
from judge_tui.checks.submission import read_meta
from judge_tui.checks.verdict import Outcome, Verdict
from judge_tui.judging.export import BEGIN, END
from judge_tui.judging.scorecard import load_scorecard
from judge_tui.judging.workspace import Workspace

from .home_page import column

Cli = Callable[..., Any]


def test_a_new_workspace_takes_a_submission_a_score_and_an_export(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "kv_cache.py").write_text("class Cache:\n    pass\n")
    ws = tmp_path / "ws"
    assert cli("init", ws, "--title", "Round 3").code == 0
    assert Workspace.find(ws).title == "Round 3"
    assert cli("add", tmp_path / "code", "--model", "a-model", "--task", "kv", "--workspace", ws).code == 0
    assert cli("score", "a-model", "--task", "kv", "--set", "correctness=80", "--workspace", ws).code == 0
    assert cli("export", ws / "README.md", "--check", "--workspace", ws).code == 1
    assert cli("export", ws / "README.md", "--workspace", ws).code == 0
    assert cli("--workspace", ws, "export", ws / "README.md", "--check").code == 0
    assert cli("score", "A-Model", "--task", "kv", "--set", "correctness=81", "--workspace", ws).code == 0
    stale = cli("export", ws / "README.md", "--check", "--workspace", ws)
    assert stale.code == 1
    assert "is stale" in stale.err
    assert "a-model" in cli("--workspace", ws).out


def test_init_leaves_what_is_there_alone(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine\n")
    told = cli("init", tmp_path)
    assert (tmp_path / "README.md").read_text() == "mine\n"
    assert BEGIN in told.out
    assert END in told.out
    again = cli("init", tmp_path)
    assert again.code == 2
    assert "is a workspace already" in again.err


def test_add_copies_files_only_and_never_overwrites(cli: Cli, root: Path, tmp_path: Path) -> None:
    source = tmp_path / "code"
    (source / "__pycache__").mkdir(parents=True)
    (source / "src").mkdir()
    (source / "src" / "a.py").write_text("pass\n")
    (source / ".env").write_text("secret\n")
    (source / "link.py").symlink_to("/etc/passwd")
    ended = cli("add", source, "--model", "New Model", "--task", "kv", "--title", "New", "--from", "a friend")
    assert ended.code == 0
    target = root / "submissions" / "New Model" / "kv"
    assert sorted(p.relative_to(target).as_posix() for p in target.rglob("*") if p.is_file()) == [
        "src/a.py",
        "submission.toml",
    ]
    meta = read_meta(target / "submission.toml")
    assert (meta.origin, meta.source, meta.model) == ("submission", "a friend", "New")
    again = cli("add", source, "--model", "new-model", "--task", "kv")
    assert again.code == 2
    assert "already" in again.err


def test_add_takes_a_single_file_and_refuses_nothing_and_nonsense(
    cli: Cli, root: Path, tmp_path: Path
) -> None:
    single = tmp_path / "answer.py"
    single.write_text("pass\n")
    assert cli("add", single, "--model", "solo", "--task", "kv").code == 0
    assert (root / "submissions" / "solo" / "kv" / "answer.py").is_file()
    (tmp_path / "empty").mkdir()
    for arguments in (
        [tmp_path / "absent", "--model", "m", "--task", "kv"],
        [tmp_path / "empty", "--model", "m", "--task", "kv"],
        [single, "--model", "../m", "--task", "kv"],
        [single, "--model", "m", "--task", "chess"],
    ):
        assert cli("add", *arguments).code == 2
    assert sorted(p.name for p in (root / "submissions").iterdir() if any(p.iterdir())) == [
        "glm5",
        "qwen36",
        "solo",
    ]


def test_score_changes_a_card_and_says_what_changed(cli: Cli, root: Path) -> None:
    ended = cli(
        "score", "GLM-5", "--task", "kv", "--set", "Correctness=85", "--set", "m=70",
        "--comment", "correctness=fine\nhere",
        "--note", 'strength/major:kv_cache.py:2-3:"a clear class"', "--note", "question:why no tests?",
        "--note", "weakness:kv_cache.py:all of it", "--summary", "short", "--overall", "60", "--grade", "b+",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    assert "correctness: – → 85" in ended.out
    assert "note added: strength kv_cache.py:2-3 a clear class" in ended.out
    assert "say why" in ended.out
    card = load_scorecard(root / "scores" / "kv" / "glm5" / "anna.toml")
    assert card.scores == {"correctness": 85, "completeness": 70}
    assert card.comment("correctness") == "fine\nhere"
    assert (card.overall, card.grade, card.summary) == (60, "B+", "short")
    assert [(n.kind, n.file, n.lines, n.quote) for n in card.notes] == [
        ("strength", "kv_cache.py", (2, 3), "class Cache:\n    pass"),
        ("question", None, None, ""),
        ("weakness", "kv_cache.py", None, ""),
    ]
    assert card.submission == Workspace.find(root).submission("glm5", "kv").digest
    assert card.rubric.digest.startswith("sha256:")


def test_scoring_the_same_again_changes_no_byte(cli: Cli, root: Path) -> None:
    arguments = [
        "score",
        "glm5",
        "--task",
        "kv",
        "--set",
        "correctness=85",
        "--note",
        "bug:kv_cache.py:1-1:x",
    ]
    cli(*arguments)
    before = (root / "scores" / "kv" / "glm5" / "anna.toml").read_bytes()
    assert "nothing changed" in cli(*arguments).out
    assert (root / "scores" / "kv" / "glm5" / "anna.toml").read_bytes() == before


def test_a_score_can_be_taken_back(cli: Cli, root: Path) -> None:
    cli("score", "glm5", "--task", "kv", "--set", "correctness=0")
    told = cli("score", "glm5", "--task", "kv", "--set", "correctness=none").out
    assert "correctness: 0 → –" in told
    assert "scored 0 of 7" in told


@pytest.mark.parametrize(
    "arguments",
    [
        ["--set", "speed=85"],
        ["--set", "c=85"],
        ["--set", "correctness=101"],
        ["--set", "correctness=8.5"],
        ["--set", "correctness"],
        ["--overall", "much"],
        ["--grade", "Z"],
        ["--note", "praise:good"],
        ["--note", "bug:kv_cache.py:1-99:x"],
        ["--note", "bug:other.py:1-2:x"],
        ["--note", "bug:"],
        ["--judge", "../anna"],
    ],
)
def test_a_change_that_is_off_changes_nothing_at_all(cli: Cli, root: Path, arguments: list[str]) -> None:
    if arguments == ["--set", "c=85"]:  # a key of the rubric is a name as well
        assert cli("score", "glm5", "--task", "kv", *arguments).code == 0
        return
    ended = cli("score", "glm5", "--task", "kv", "--summary", "half", *arguments)
    assert ended.code == 2
    assert not list(root.rglob("scores/**/*.toml"))


def test_a_card_that_was_written_elsewhere_stays_so(cli: Cli, root: Path) -> None:
    cli("score", "glm5", "--task", "kv", "--set", "correctness=85", "--elsewhere")
    cli("score", "glm5", "--task", "kv", "--set", "completeness=85")
    card = load_scorecard(root / "scores" / "kv" / "glm5" / "anna.toml")
    assert card.scored_elsewhere
    assert len(card.scores) == 2


def test_words_leave_a_card_with_the_files_that_were_scored_and_a_score_does_not(
    cli: Cli, root: Path
) -> None:
    path = root / "scores" / "kv" / "glm5" / "anna.toml"
    cli("score", "glm5", "--task", "kv", "--set", "correctness=85")
    scored = load_scorecard(path).submission
    (root / "submissions" / "glm5" / "kv" / "more.py").write_text("x = 1\n")
    told = cli("score", "glm5", "--task", "kv", "--note", "bug:no", "--summary", "half")
    assert "the files have changed since" in told.out
    assert load_scorecard(path).submission == scored
    cli("score", "glm5", "--task", "kv", "--grade", "B")
    assert load_scorecard(path).submission not in (scored, None)


def test_a_card_is_said_to_be_of_files_elsewhere_with_words_alone(cli: Cli, root: Path) -> None:
    cli("score", "glm5", "--task", "kv", "--set", "correctness=85")
    cli("score", "glm5", "--task", "kv", "--summary", "half", "--elsewhere")
    assert load_scorecard(root / "scores" / "kv" / "glm5" / "anna.toml").scored_elsewhere


def test_export_tells_which_file_lacks_its_markers(cli: Cli, root: Path) -> None:
    (root / "README.md").write_text("nothing\n")
    ended = cli("export")
    assert ended.code == 2
    assert "README.md: the marker" in ended.err
    assert cli("export", "absent.md").code == 2


def test_the_home_matrix_shows_scores_and_what_is_open(cli: Cli, root: Path) -> None:
    cli("score", "glm5", "--task", "kv", "--set", "correctness=85")
    told = cli().out
    assert column(told, "kv") == {"glm5": "1/7", "qwen36": "○"}
    # without a terminal there is no screen to open
    assert cli("home").out == told


def test_the_home_matrix_counts_every_verdict_its_sign_first_and_the_worst_first(
    cli: Cli, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_TUI_CACHE", str(tmp_path / "cache"))
    submission = Workspace.find(root).submission("glm5", "kv")
    verdicts = [*(Verdict.PASS,) * 11, Verdict.WARN, Verdict.FAIL, Verdict.SKIP, Verdict.SKIP]
    store = Store()
    store.keep(
        [Outcome("glm5", "kv", f"check_{n}", verdict, "said", 0.1) for n, verdict in enumerate(verdicts)],
        store.key(submission, "cpu", "NumPy"),
    )
    store.chose("kv", "auto", "cpu", ["NumPy"])
    told = cli().out
    assert "○ ✗1 !1 –2 ✓11" in told
    assert "✗ fail · ! warn · " in told
    (root / "judge-tui.toml").write_text("[blind]\nalways = true\n")
    told = cli().out
    assert "○" in told
    assert "✓11" not in told, "where blind is the rule, verdicts beside a name would tell who is who"


def test_the_matrix_has_a_row_for_each_model_and_fits_a_page(
    cli: Cli, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = ["backwards", "beam_search", "flash_attention", "flash_attention_bwd", "fuse", "kv"]
    for model in ("glm5", "qwen36"):
        for task in tasks:
            folder = root / "submissions" / model / task
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "answer.py").write_text("x = 1\n")
            cli("score", model, "--task", task, "--overall", "85", "--reason", "so")
    for width, names in ((200, tasks), (80, ["backwards", "beam_search", "flash_a…ention"])):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = cli("home").out.splitlines()
        at = next(n for n, line in enumerate(lines) if line.startswith("model "))
        assert lines[at].split()[1 : len(names) + 1] == names, lines[at]
        assert [line.split()[0] for line in lines[at + 1 : at + 3]] == ["glm5", "qwen36"]
        # one block
        assert lines[at + 3] == ""
        assert all(len(line) <= width for line in lines[at : at + 3])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["glm5"], "two or three models"),
        (["glm5", "glm-5"], "different models"),
        (["glm5", "gwen"], "Did you mean qwen36?"),
        (["glm5", "qwen36", "--task", "backwards"], "qwen36 has no submission for backwards"),
        (["glm5", "qwen36", "--task", "chess"], "no task 'chess'"),
        (["glm5", "qwen36"], "needs a terminal"),
    ],
)
def test_compare_says_what_is_off_before_it_opens_a_screen(
    cli: Cli, root: Path, arguments: list[str], words: str
) -> None:
    ended = cli("compare", *arguments)
    assert ended.code == 2
    assert words in ended.err


def test_doctor_has_a_line_for_everything(cli: Cli, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from judge_tui.cli import diagnosis

    def broken(_: object) -> diagnosis.Finding:
        raise RuntimeError("odd")

    monkeypatch.setitem(diagnosis.EXAMINATIONS, "GPU", broken)
    ended = cli("doctor")
    assert ended.code == 0
    told = ended.out.splitlines()
    assert len(told) == len(diagnosis.EXAMINATIONS)
    assert any("cannot be examined" in line for line in told)
    assert any("bubblewrap" in line for line in told)


def sealed(root: Path) -> Path:
    path = root / "scores" / "kv" / "glm5" / "anna.toml"
    path.parent.mkdir(parents=True)
    path.write_text(
        'schema = 1\ntask = "kv"\nmodel = "glm5"\njudge = "anna"\noverall = 87\n\n'
        "[blind]\nbegan = 2026-01-02T03:04:05+00:00\n"
    )
    return path


def test_export_leaves_sealed_cards_out_and_says_so_without_a_name(cli: Cli, root: Path) -> None:
    readme = root / "README.md"
    readme.write_text(f"{BEGIN}\n{END}\n")
    path = sealed(root)
    ended = cli("export", readme)
    assert ended.code == 0
    assert "1 scorecard of blind comparisons left out: the names are not revealed yet." in ended.err
    assert "glm" not in readme.read_text() + ended.err + ended.out.replace(str(readme), "")
    assert cli("export", "--check", readme).code == 0
    path.write_text(path.read_text() + "revealed = 2026-01-02T04:04:05+00:00\n")
    assert cli("export", "--check", readme).code == 1
    ended = cli("export", readme)
    assert "left out" not in ended.err
    assert "| glm5 | 87" in readme.read_text()


def test_home_shows_the_others_where_one_folder_cannot_be_read(
    cli: Cli, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Workspace.submitted

    def submitted(workspace: Workspace, model: str) -> tuple[str, ...]:
        if model == "qwen36":
            raise WorkspaceError("cannot be read: Permission denied.", file=workspace.submissions / model)
        return real(workspace, model)

    monkeypatch.setattr(Workspace, "submitted", submitted)
    ran = cli("home")
    assert ran.code == 0
    assert "! /" in ran.out
    assert "qwen36: cannot be read: Permission denied." in ran.out
    assert "○" in ran.out


def test_home_shows_the_other_tasks_where_a_scorecard_of_one_cannot_be_read(cli: Cli, root: Path) -> None:
    cli("score", "glm5", "--task", "kv", "--set", "correctness=85")
    broken = root / "scores" / "backwards" / "glm5" / "anna.toml"
    broken.parent.mkdir(parents=True)
    broken.write_text("schema = ")
    ran = cli("home")
    assert ran.code == 0
    assert column(ran.out, "kv")["glm5"] == "1/7"
    assert column(ran.out, "backwards")["glm5"] == "!"
    assert f"! {broken}" in ran.out


def test_home_tells_nothing_of_a_sealed_card(cli: Cli, root: Path) -> None:
    sealed(root)
    ended = cli()
    assert column(ended.out, "kv") == {"glm5": "blind", "qwen36": "○"}


def test_score_shows_and_changes_no_sealed_card(cli: Cli, root: Path) -> None:
    path = sealed(root)
    before = path.read_text()
    for arguments in ((), ("--overall", "90")):
        ended = cli("score", "glm5", "--task", "kv", *arguments)
        assert ended.code == 2
        assert "87" not in ended.out + ended.err
        assert "your scorecard on this submission is blind" in ended.err
    assert path.read_text() == before


def test_a_model_whose_folder_name_cannot_be_saved_is_not_scored(cli: Cli, tmp_path: Path) -> None:
    name = os.fsdecode(b"ga\xffmma")
    (tmp_path / "submissions" / name / "kv").mkdir(parents=True)
    (tmp_path / "scores").mkdir()
    done = cli("score", name, "--task", "kv", "--set", "correctness=80", "--workspace", str(tmp_path))
    assert done.code == 2
    assert "is not UTF-8" in done.err
    assert list((tmp_path / "scores").iterdir()) == []


def test_check_all_goes_on_without_a_model_whose_folder_name_is_not_utf8(cli: Cli, tmp_path: Path) -> None:
    for name in (os.fsdecode(b"ga\xffmma"), "delta"):
        folder = tmp_path / "submissions" / name / "kv"
        folder.mkdir(parents=True)
        (folder / "a.py").write_text("x = 1\n")
    (tmp_path / "scores").mkdir()
    done = cli("check", "--all", "--check", "size", "--trust", "--workspace", str(tmp_path))
    assert done.code == 0
    assert "delta" in done.out
    assert r"ga\xffmma/kv is left out" in done.err


def test_who_judges_is_said_without_a_command_and_behind_one(
    cli: Cli, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr("judge_tui.cli.home.on_screen", lambda: True)
    monkeypatch.setattr("judge_tui.tui.app.run_home", lambda judge, **_: shown.append(judge) or 0)
    assert cli("--judge", "ben").code == 0
    assert shown == ["ben"]
    told = cli("--judge", "ben", "tasks")
    assert told.code == 2
    assert "--judge stands behind a command. judge-tui tasks" in " ".join(told.err.split())
