"""Which file is imported as ``submission``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from judge_tui.checks.challenges.behaviour.entry import entry_of
from judge_tui.checks.challenges.challenge import Settings
from judge_tui.checks.faults import Unbound
from judge_tui.checks.submission import Submission
from judge_tui.checks.verdict import Verdict

from .conftest import Judged, told, written


@pytest.mark.parametrize(
    ("files", "entry", "found"),
    [
        ({"any.py": ""}, "", "any.py"),
        ({"any.py": "", "test_any.py": "class Cache: pass"}, "", "any.py"),
        ({"a.py": "", "b.py": "if True:\n    class Cache: pass"}, "", "b.py"),
        ({"a.py": "def f():\n    class Cache: pass", "b.py": "Cache = dict"}, "", "b.py"),
        ({"p/__init__.py": "from .core import Cache", "p/core.py": "class Cache: pass"}, "", "p/__init__.py"),
        ({"a.py": "class Cache: pass", "p/__init__.py": ""}, "p", "p/__init__.py"),
        ({"a.py": "class Cache: pass", "b.py": ""}, "b.py:Cache", "b.py"),
        ({"a.py": "def f(:", "b.py": "class Cache: pass"}, "", "b.py"),
    ],
)
def test_the_entry_the_only_file_or_the_one_that_has_the_names(
    tmp_path: Path, files: Mapping[str, str], entry: str, found: str
) -> None:
    submission = Submission("m", "it", written(tmp_path, files, ""))
    assert entry_of(submission, Settings(entry=entry), ["Cache"]) == found


@pytest.mark.parametrize(
    ("files", "entry", "said"),
    [
        ({"a.py": "", "b.py": ""}, "", "none of its files has Cache, which the tests import"),
        ({"a.md": ""}, "", "it has no Python file"),
        ({"a.py": ""}, "b.py", "b.py is not there, which the challenge's entry names"),
    ],
)
def test_where_there_is_none_that_is_said(
    tmp_path: Path, files: Mapping[str, str], entry: str, said: str
) -> None:
    submission = Submission("m", "it", written(tmp_path, files, ""))
    with pytest.raises(Unbound) as fault:
        entry_of(submission, Settings(entry=entry), ["Cache"])
    assert fault.value.message.startswith(said)


def test_modules_of_a_package_are_there_by_their_names(judged: Judged) -> None:
    tests = """
    import submission.core as core
    import submission.parts.one
    from submission import Cache, core as again
    def test_it():
        assert core.Cache is Cache and again.twice(2) == 4 and submission.parts.one.N == 1
        assert isinstance(core.Cache(), Cache)
    """
    answer = {
        "p/__init__.py": "from .core import Cache",
        "p/core.py": "class Cache: pass\ndef twice(n): return 2 * n",
        "p/parts/one.py": "N = 1",
    }
    outcomes = judged(tests, answer)
    assert outcomes["test_it"].verdict is Verdict.PASS, told(outcomes)


def test_both_jails_do_without_mounts_of_their_own(judged: Judged) -> None:
    tests = {
        "tests/test_it.py": """
            import helper
            from submission import Cache
            def test_it(): helper.same(Cache().get(2), 4)
            def test_fails(): helper.same(Cache().get(2), 5)
            """,
        "tests/helper.py": "def same(one, other): assert one == other\n",
    }
    outcomes = judged(
        tests, "class Cache:\n    def get(self, n): return 2 * n\n", mode="plain", process="file"
    )
    assert [str(each.verdict) for each in outcomes.values()] == ["pass", "fail"], told(outcomes)
    assert outcomes["test_fails"].summary == "assert 4 == 5 at tests/helper.py:1"
