"""A workspace that somebody else wrote: whatever its challenge runs, it runs in a jail and leaves nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from .conftest import Cli

#: Tries all that a program can do outside of a jail, and says nothing of what failed.
SPY = """
import contextlib, os, socket, subprocess, sys
for act in (
    lambda: open({mark!r}, "a").write(sys.argv[0]),
    lambda: os.mkdir({mark!r} + ".folder"),
    lambda: open(os.path.join(os.path.expanduser("~"), "evil"), "w").write("x"),
    lambda: os.symlink("/etc/passwd", {mark!r} + ".link"),
    lambda: subprocess.Popen(["sh", "-c", "sleep 30; touch {mark}"]),
    lambda: socket.create_connection(("127.0.0.1", {port}), 1).sendall(b"out"),
    lambda: os.kill(os.getppid(), 9),
    lambda: print(open({secret!r}).read()),
):
    with contextlib.suppress(BaseException):
        act()
"""
NUMBERS = """
def reference(x):
    return 2 * x
def inputs(rng, n):
    return {"x": rng.standard_normal(n)}
CASES = [dict(n=3)]
def check(result, x):
    exec(open(__file__).read().split("#AGAIN")[0])
"""
TEST = """
from submission import solve
def test_a():
    assert solve(1) == 2
"""
VALIDATOR = """
def validate(input, expected, got):
    return None
"""


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace in which everything that can hold code holds the spy."""
    root, home = tmp_path / "ws", tmp_path / "home"
    home.mkdir()
    (home / "secret").write_text("SECRET-OF-HOME")
    monkeypatch.setenv("HOME", str(home))
    spy = SPY.format(mark=str(tmp_path / "mark"), port=1, secret=str(home / "secret"))
    files = {
        "judge-tui.toml": 'title = "cloned"\n',
        "scores/.keep": "",
        "challenges/evil/challenge.py": spy + "#AGAIN" + NUMBERS,
        "challenges/evil/conftest.py": spy,
        "challenges/evil/tests/conftest.py": spy,
        "challenges/evil/tests/test_evil.py": spy + TEST,
        "challenges/evil/cases/one/1.in": "1\n",
        "challenges/evil/cases/one/validator.py": spy + VALIDATOR,
        "challenges/evil/cases/one/1.ans": "2\n",
        "challenges/evil/right/fine/answer.py": f"{spy}\ndef solve(x):\n    return 2 * x\n",
        "submissions/mallory/evil/answer.py": f"{spy}\ndef solve(x):\n    return 2 * x\n",
        "templates/two-way.md.j2": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    }  # fmt: skip
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize(
    "arguments",
    [
        ("tasks",),
        ("home",),
        ("check", "mallory", "--task", "evil"),
        pytest.param(("challenge", "check", "evil"), marks=pytest.mark.campaign),
        ("bind", "mallory", "--task", "evil"),
        ("rubric", "show", "evil"),
    ],
    ids=["tasks", "home", "check", "challenge", "bind", "rubric"],
)
def test_no_command_runs_a_challenge_outside_a_jail(
    evil: Path, cli: Cli, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    before = {path for path in tmp_path.rglob("*") if "cache" not in path.parts}
    ended = cli(*arguments)
    after = {path for path in tmp_path.rglob("*") if "cache" not in path.parts}
    assert after == before
    assert "SECRET-OF-HOME" not in ended.out + ended.err
    assert ended.code in (0, 1, 2, 4), ended.err


def test_nothing_that_it_started_lives_on(evil: Path, cli: Cli, tmp_path: Path) -> None:
    cli("check", "mallory", "--task", "evil")
    living = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(tmp_path / "mark") not in living


def test_a_challenge_that_is_a_link_out_of_the_workspace_is_none(
    tmp_path: Path, root: Path, cli: Cli
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "challenge.py").write_text("1 / 0\n")
    (root / "challenges").mkdir()
    os.symlink(outside, root / "challenges" / "linked")
    told = cli("tasks").out
    assert "linked" not in told
