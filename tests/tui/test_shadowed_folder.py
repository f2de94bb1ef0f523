"""A workspace that somebody cloned: of the modules and hooks that lie in it, no command runs one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from judge_tui.cli.root import COMMANDS

from .conftest import make_workspace
from .served import PATIENCE_S
from .test_terminal import Terminal

pytestmark = pytest.mark.xdist_group("serving")

#: The program as it is installed.
JUDGE_TUI = Path(sys.executable).with_name("judge-tui")
#: Written down by whatever is run.
SPY = """
import os, sys
with open({log!r}, "a") as log:
    print({name!r}, sys.orig_argv, file=log)
"""
#: Modules that the program, Python or pytest look for by name, without anything of ours that imports them.
HOOKS = ("sitecustomize", "usercustomize", "conftest", "setup", "__main__", "cupy", "judge_tui")
NAMES = frozenset({*HOOKS, *packages_distributions()})
#: They are never looked for.
BUILT_IN = frozenset(sys.builtin_module_names)
#: Where plug-ins are offered to programs that run here.
GROUPS = ("judge_tui.tasks", "pytest11", "pygments.lexers", "pygments.styles")
#: One part of one, in which nothing was judged.
PART = """\
{"schema": 1, "tool": "judge-tui", "shard": "1/1", "selection": "", "answers": {}, "seed": 1, \
"engine": {"sources": "", "numpy": "", "python": ""}}
{"shard": "1/1", "outcomes": 0}
"""
#: What each command is told, apart from those that open a screen.
ARGUMENTS = {
    "check": ("alpha", "--task", "kv"),
    "gather": ("part.jsonl",),
    "bind": ("alpha", "--task", "kv"),
    "tasks": (),
    "score": ("alpha", "--task", "kv", "--set", "correctness=80"),
    "notes": ("--format", "json"),
    "report": ("standings",),
    "scores": (),
    "import-scores": ("scores.jsonl", "--dry-run"),
    "packet": ("alpha", "beta", "--task", "kv"),
    "export": ("README.md",),
    "challenge": ("new", "mine"),
    "rubric": ("new", "kv"),
    "init": ("beside",),
    "add": ("submissions/alpha/kv", "--model", "gamma", "--task", "kv"),
    "demo": ("demonstrated",),
    "doctor": (),
    "completion": ("bash",),
}


def shadowed(place: Path, names: Iterable[str]) -> Path:
    """A workspace full of what Python, pip and pytest take for their own where they look into it."""
    root = make_workspace(place / "ws").root
    (root / "rubrics" / "kv.toml").unlink()
    (root / "scores.jsonl").write_text('{"task": "kv", "model": "alpha", "judge": "zoe"}\n')
    (root / "part.jsonl").write_text(PART)
    (root / "README.md").write_text("<!-- judge-tui:scoreboard -->\n<!-- /judge-tui:scoreboard -->\n")

    def spy(name: str) -> None:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(SPY.format(log=str(place / "log"), name=name))

    for name in names:
        spy(f"{name}.py")
    for name in ("judge_tui", "judge_tui/checks", "judge_tui/cli", "numpy", "msgspec", "textual"):
        spy(f"{name}/__init__.py")
    for name in ("engine", "runner", "request"):
        spy(f"judge_tui/checks/{name}.py")
    (root / "evil.pth").write_text("import conftest\n")
    (root / "pytest.ini").write_text("[pytest]\naddopts = -p conftest\n")
    for kind in ("dist-info", "egg-info"):
        offered = root / f"evil-1.0.{kind}"
        offered.mkdir()
        (offered / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
        groups = (f"[{group}]\nevil = conftest:x\nkv = conftest:x\n" for group in GROUPS)
        (offered / "entry_points.txt").write_text("".join(groups))
    return root


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shadowed(tmp_path_factory.mktemp("cloned"), {*NAMES, *sys.stdlib_module_names} - BUILT_IN)


@pytest.fixture
def run_files(folder: Path) -> Callable[[], str]:
    """What was run of the folder since the test began."""
    log = folder.parent / "log"
    log.unlink(missing_ok=True)
    return lambda: log.read_text() if log.exists() else ""


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    own = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("STATE", "CONFIG")}
    own |= {"JUDGE_TUI_CACHE": str(tmp_path / "cache"), "JUDGE_TUI_JUDGE": "anna"}
    return os.environ | own | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}


def test_the_folder_is_a_trap_for_who_starts_python_in_it(folder: Path, run_files: Callable[[], str]) -> None:
    subprocess.run([sys.executable, "-m", "judge_tui.cli"], cwd=folder, check=False, capture_output=True)
    assert run_files()


def test_every_command_is_tried() -> None:
    assert {*ARGUMENTS, "home", "compare", "serve"} == set(COMMANDS)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_command_without_a_screen_runs_nothing_of_it(
    name: str, folder: Path, run_files: Callable[[], str], surroundings: dict[str, str]
) -> None:
    done = subprocess.run(
        [JUDGE_TUI, name, *ARGUMENTS[name]], cwd=folder, env=surroundings, capture_output=True,
        text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1, 4), done.stderr
    assert run_files() == ""


@pytest.mark.parametrize("arguments", [("home",), ("compare", "alpha", "beta", "--task", "kv")])
def test_a_screen_and_its_engine_run_nothing_of_it(
    arguments: tuple[str, ...],
    folder: Path,
    run_files: Callable[[], str],
    surroundings: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    terminal = Terminal([str(JUDGE_TUI), *arguments], surroundings)
    try:
        if arguments == ("home",):
            # the queue is there, and the cell that enter opens
            terminal.see("Alpha · Beta".encode())
            terminal.send(b"\r")
        # of the engine's own words: it stands, and has looked at both
        terminal.see(b"no callable found")
        terminal.send(b"q")
    finally:
        terminal.close()
    assert run_files() == ""


async def test_a_page_of_serve_runs_nothing_of_it(
    folder: Path, run_files: Callable[[], str], surroundings: dict[str, str]
) -> None:
    pytest.importorskip("aiohttp", reason="the extra 'serve' is not installed")
    pytest.importorskip("textual_serve", reason="the extra 'serve' is not installed")
    from .test_serving import opened_at

    server = subprocess.Popen(
        [JUDGE_TUI, "serve", "--port", "0", "--no-token", "compare", "alpha", "beta", "--task", "kv"],
        cwd=folder, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        url = server.stdout.readline().split()[-1].rstrip("/")
        async with opened_at(url) as page:
            await page.see("unbound")
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE_S)
    assert run_files() == ""
