from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from judge_tui.checks import store as stored_outcomes
from judge_tui.checks.store import Store, cache_folder, last_outcomes, side_by_side
from judge_tui.checks.submission import Submission
from judge_tui.checks.verdict import Evidence, Outcome, Verdict

Submit = Callable[..., Submission]


def outcome(check: str, verdict: Verdict = Verdict.PASS, seed: int = 1) -> Outcome:
    return Outcome("someone", "scale", check, verdict, "summary", 0.1, (Evidence("q", 1.0, 2.0),), seed)


def keep(store: Store, submission: Submission, outcomes: list[Outcome], *where: str) -> None:
    store.keep(outcomes, store.key(submission, *(where or ("cpu", "a processor"))))


def stored(
    store: Store, submission: Submission, backend: str = "cpu", device: str = "a processor"
) -> dict[str, Outcome]:
    return store.outcomes(submission, backend, device)


def again(submission: Submission) -> Submission:
    """The submission as it is now: facts of files are read once per value."""
    return Submission(submission.model, submission.task, submission.path, submission.overlays)


def test_what_is_kept_is_found_again_and_new_outcomes_win(submitted: Submit, tmp_path: Path) -> None:
    submission, store = submitted("x = 1\n"), Store(tmp_path / "cache")
    assert stored(store, submission) == {}
    keep(store, submission, [outcome("a"), outcome("b")])
    keep(store, submission, [outcome("b", Verdict.FAIL)])
    assert stored(store, submission) == {"a": outcome("a"), "b": outcome("b", Verdict.FAIL)}


def test_a_seed_of_its_own_has_outcomes_of_its_own_and_the_last_few_are_kept(
    submitted: Submit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission, store = submitted("x = 1\n"), Store(tmp_path / "cache")
    clock = itertools.count(100.0)
    monkeypatch.setattr(stored_outcomes.time, "time", lambda: next(clock))
    for seed in (1, 2, 3, 4, 5, 3):
        keep(store, submission, [outcome("a", seed=seed)])
    keep(store, submission, [outcome("b", Verdict.FAIL, seed=4)])
    runs = store.runs(submission, "cpu", "a processor")
    assert [(run.seed, run.at, {each.check for each in run.outcomes}) for run in runs] == [
        (2, 101.0, {"a"}), (5, 104.0, {"a"}), (3, 105.0, {"a"}), (4, 106.0, {"a", "b"}),
    ]  # fmt: skip
    assert {each.seed for run in runs for each in run.outcomes if run.seed != each.seed} == set()


def test_outcomes_are_set_side_by_side_under_the_seed_of_the_newest_alone(
    submitted: Submit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, clock = Store(tmp_path / "cache"), itertools.count(100.0)
    monkeypatch.setattr(stored_outcomes.time, "time", lambda: next(clock))
    one, two = (submitted(f"x = {n}\n", f"model{n}") for n in (1, 2))
    store.chose("scale", "cpu", "cpu", ["a processor"])
    keep(store, one, [outcome("a", seed=1), outcome("b", seed=1)])
    keep(store, two, [outcome("a", seed=1)])
    keep(store, two, [outcome("b", seed=2)])

    def shown(seed: int | None = None) -> list[dict[str, int]]:
        found = side_by_side([one, two], "cpu", seed=seed, folder=tmp_path / "cache")
        return [{check: each.seed for check, each in kept.items()} for kept in found]

    assert shown() == [{}, {"b": 2}]
    assert shown(1) == [{"a": 1, "b": 1}, {"a": 1}]
    assert set(last_outcomes(two, "cpu", folder=tmp_path / "cache")) == {"a", "b"}
    keep(store, one, [outcome("a", seed=1)])
    assert shown() == [{"a": 1, "b": 1}, {"a": 1}]


def test_the_last_outcomes_are_those_of_the_backend_that_was_asked_for_or_ran_last(
    submitted: Submit, tmp_path: Path
) -> None:
    submission, store = submitted("x = 1\n"), Store(tmp_path / "cache")
    keep(store, submission, [outcome("a")], "gpu", "card 0")
    keep(store, submission, [outcome("b")], "gpu", "card 1")
    keep(store, submission, [outcome("c")])

    def last(asked: str) -> set[str]:
        return set(last_outcomes(submission, asked, folder=tmp_path / "cache"))

    assert last("auto") == set()
    store.chose("scale", "gpu", "gpu", ["card 1", "card 0", "card 0"])
    assert (last("gpu"), last("auto"), last("cpu")) == ({"a", "b"}, {"a", "b"}, set())
    store.chose("scale", "cpu", "cpu", ["a processor"])
    assert (last("gpu"), last("auto"), last("cpu")) == ({"a", "b"}, {"c"}, {"c"})
    store.chose("scale", "auto", "gpu", ["card 1"])
    assert (last("gpu"), last("auto"), last("cpu")) == ({"a", "b"}, {"b"}, {"c"})


def test_another_file_name_content_binding_adapter_model_backend_or_device_finds_nothing(
    submitted: Submit, tmp_path: Path
) -> None:
    submission, store = submitted("x = 1\n"), Store(tmp_path / "cache")
    keep(store, submission, [outcome("a")])
    assert stored(store, submission, "gpu") == {}
    assert stored(store, submission, "cpu", "another processor") == {}
    assert stored(store, replace(submission, model="other")) == {}
    for name, content in (("code.py", "x = 2\n"), ("submission.toml", 'comment = "c"\n'), ("adapter.py", "")):
        path = submission.path / name
        before = path.read_bytes() if path.exists() else None
        path.write_text(content)
        assert stored(store, again(submission)) == {}
        path.unlink() if before is None else path.write_bytes(before)
        assert "a" in stored(store, again(submission))


def test_an_overlay_is_another_binding(submitted: Submit, tmp_path: Path) -> None:
    submission, store = submitted("x = 1\n"), Store(tmp_path / "cache")
    keep(store, submission, [outcome("a")])
    (tmp_path / "overlay").mkdir()
    (tmp_path / "overlay" / "submission.toml").write_text('comment = "laid over"\n')
    assert stored(store, replace(submission, overlays=(tmp_path / "overlay",))) == {}


def test_outcomes_are_kept_under_the_files_that_were_judged(submitted: Submit, tmp_path: Path) -> None:
    submission, store = submitted("x = 1\n"), Store(tmp_path / "cache")
    key = store.key(submission, "cpu", "a processor")
    (submission.path / "code.py").write_text("x = 2\n")
    store.keep([outcome("a")], key)
    assert stored(store, again(submission)) == {}
    (submission.path / "code.py").write_text("x = 1\n")
    assert "a" in stored(store, again(submission))


def test_a_fault_of_the_engine_is_never_kept(submitted: Submit, tmp_path: Path) -> None:
    submission, store = submitted("x = 1\n"), Store(tmp_path / "cache")
    keep(store, submission, [outcome("a", Verdict.ERROR)])
    assert stored(store, submission) == {}


@pytest.mark.parametrize("content", [b"", b"[", b"[{}]", b'{"a": 1}', b"\xff"])
def test_a_damaged_file_is_as_good_as_none(submitted: Submit, tmp_path: Path, content: bytes) -> None:
    submission, store = submitted("x = 1\n"), Store(tmp_path / "cache")
    keep(store, submission, [outcome("a")])
    (file,) = (tmp_path / "cache" / "outcomes").iterdir()
    file.write_bytes(content)
    assert stored(store, submission) == {}
    keep(store, submission, [outcome("b")])
    assert set(stored(store, submission)) == {"b"}


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(submitted: Submit, tmp_path: Path) -> None:
    submission = submitted("x = 1\n")
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file")
    keep(store, submission, [outcome("a")])
    assert stored(store, submission) == {}
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(stat.S_IRUSR | stat.S_IXUSR)
    keep(Store(locked), submission, [outcome("a")])
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
    keep(store, submission, [outcome("a")])
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
    keep(store, submission, [outcome("a")])
    monkeypatch.setattr("judge_tui.checks.store.engine_stamp", lambda: "another")
    assert stored(store, submission) == {}


def test_the_engine_is_known_by_what_its_files_hold_and_never_by_their_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "engine" / "store.py"
    source.parent.mkdir()
    source.write_text("x = 1\n")
    monkeypatch.setattr(stored_outcomes, "__file__", str(source))
    monkeypatch.setenv("JUDGE_TUI_CACHE", str(tmp_path / "cache"))

    def stamp() -> str:
        stored_outcomes.engine_stamp.cache_clear()
        return stored_outcomes.engine_stamp()

    try:
        first = stamp()
        os.utime(source, (1, 1))
        assert stamp() == first == stamp()
        source.write_text("x = 2\n")
        os.utime(source, (2, 2))
        assert stamp() != first
        (noted,) = (f for f in (tmp_path / "cache/engine").iterdir() if f.read_text() == stamp())
        noted.write_text("half")
        assert stamp() != "half"
    finally:
        stored_outcomes.engine_stamp.cache_clear()
