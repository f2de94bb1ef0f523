from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from judge_tui.checks.store import Store, cache_folder, last_outcomes
from judge_tui.checks.submission import Submission
from judge_tui.checks.verdict import Evidence, Outcome, Verdict

Submit = Callable[..., Submission]


def outcome(check: str, verdict: Verdict = Verdict.PASS, seed: int = 1) -> Outcome:
    return Outcome("someone", "scale", check, verdict, "summary", 0.1, (Evidence("q", 1.0, 2.0),), seed)


def again(submission: Submission) -> Submission:
    """The submission as it is now: facts of files are read once per value."""
    return Submission(submission.model, submission.task, submission.path, submission.overlay)


def test_what_is_kept_is_found_again_and_new_outcomes_win(submitted: Submit, tmp_path: Path) -> None:
    submission, store = submitted("x = 1\n"), Store(tmp_path / "cache")
    assert store.outcomes(submission) == {}
    store.keep(submission, [outcome("a"), outcome("b")])
    store.keep(submission, [outcome("b", Verdict.FAIL)])
    assert store.outcomes(submission) == {"a": outcome("a"), "b": outcome("b", Verdict.FAIL)}
    assert last_outcomes(submission, folder=tmp_path / "cache") == store.outcomes(submission)


def test_another_file_name_content_binding_adapter_model_or_backend_finds_nothing(
    submitted: Submit, tmp_path: Path
) -> None:
    submission, store = submitted("x = 1\n"), Store(tmp_path / "cache")
    store.keep(submission, [outcome("a")])
    assert store.outcomes(submission, "gpu") == {}
    assert store.outcomes(replace(submission, model="other")) == {}
    for name, content in (("code.py", "x = 2\n"), ("submission.toml", 'comment = "c"\n'), ("adapter.py", "")):
        path = submission.path / name
        before = path.read_bytes() if path.exists() else None
        path.write_text(content)
        assert store.outcomes(again(submission)) == {}
        path.unlink() if before is None else path.write_bytes(before)
        assert "a" in store.outcomes(again(submission))


def test_an_overlay_is_another_binding(submitted: Submit, tmp_path: Path) -> None:
    submission, store = submitted("x = 1\n"), Store(tmp_path / "cache")
    store.keep(submission, [outcome("a")])
    (tmp_path / "overlay").mkdir()
    (tmp_path / "overlay" / "submission.toml").write_text('comment = "laid over"\n')
    assert store.outcomes(replace(submission, overlay=tmp_path / "overlay")) == {}


def test_outcomes_are_kept_under_the_files_that_were_judged(submitted: Submit, tmp_path: Path) -> None:
    submission, store = submitted("x = 1\n"), Store(tmp_path / "cache")
    key = store.key(submission)
    (submission.path / "code.py").write_text("x = 2\n")
    store.keep(again(submission), [outcome("a")], key=key)
    assert store.outcomes(again(submission)) == {}
    (submission.path / "code.py").write_text("x = 1\n")
    assert "a" in store.outcomes(again(submission))


def test_a_fault_of_the_engine_is_never_kept(submitted: Submit, tmp_path: Path) -> None:
    submission, store = submitted("x = 1\n"), Store(tmp_path / "cache")
    store.keep(submission, [outcome("a", Verdict.ERROR)])
    assert store.outcomes(submission) == {}


@pytest.mark.parametrize("content", [b"", b"[", b"[{}]", b'{"a": 1}', b"\xff"])
def test_a_damaged_file_is_as_good_as_none(submitted: Submit, tmp_path: Path, content: bytes) -> None:
    submission, store = submitted("x = 1\n"), Store(tmp_path / "cache")
    store.keep(submission, [outcome("a")])
    (file,) = (tmp_path / "cache" / "outcomes").iterdir()
    file.write_bytes(content)
    assert store.outcomes(submission) == {}
    store.keep(submission, [outcome("b")])
    assert set(store.outcomes(submission)) == {"b"}


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(submitted: Submit, tmp_path: Path) -> None:
    submission = submitted("x = 1\n")
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file")
    store.keep(submission, [outcome("a")])
    assert store.outcomes(submission) == {}
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(stat.S_IRUSR | stat.S_IXUSR)
    Store(locked).keep(submission, [outcome("a")])
    locked.chmod(stat.S_IRWXU)
    if os.geteuid() != 0:
        assert list(locked.iterdir()) == []


def test_nothing_is_left_behind_when_writing_fails(
    submitted: Submit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission, store = submitted("x = 1\n"), Store(tmp_path / "cache")

    def refuse(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    store.keep(submission, [outcome("a")])
    assert list((tmp_path / "cache" / "outcomes").iterdir()) == []


def test_the_folder_is_the_users_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JUDGE_TUI_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("JUDGE_TUI_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "judge-tui"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "judge-tui"


def test_the_word_of_another_engine_is_not_shown(
    submitted: Submit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission, store = submitted("x = 1\n"), Store(tmp_path / "cache")
    store.keep(submission, [outcome("a")])
    monkeypatch.setattr("judge_tui.checks.store.engine_stamp", lambda: "another")
    assert store.outcomes(submission) == {}
