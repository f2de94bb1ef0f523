"""What is built is what is in the tree, and it runs from a fresh folder; rooms import only what they may."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ROOMS: dict[str, str] = PROJECT["tool"]["setuptools"]["package-dir"]
SUFFIXES = (".py", ".tcss", ".j2", ".toml", ".md", ".h", ".cuh", ".cu", ".cpp", ".ld", ".html", ".css", ".js")
#: Packages without code of ours: what is shipped in them is data, and that of the demo of any kind.
DATA = {"judge_tui.demo", "judge_tui.rubrics"}
SITE = sysconfig.get_path("purelib")

pytestmark = pytest.mark.xdist_group("packaging")


def python(code: str, *paths: Path | str, cwd: Path | None = None, text: str = "") -> str:
    """Run code in a fresh interpreter that sees these folders and the dependencies, but not this tree."""
    plain = f"import sys; sys.path[:0] = {[str(path) for path in paths]!r}; sys.path.append({SITE!r})\n"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", plain + code],
        capture_output=True, text=True, input=text, cwd=cwd or ROOT, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def modules(room: str) -> list[str]:
    """Dotted names of a room's modules, as the tree has them."""
    found = []
    for path in sorted((ROOT / ROOMS[room]).rglob("*.py")):
        parts = path.relative_to(ROOT / ROOMS[room]).with_suffix("").parts
        found.append(".".join((room, *parts)).removesuffix(".__init__"))
    return [name for name in found if not name.endswith(".__main__")]


def test_the_list_of_packages_is_the_tree() -> None:
    tree = {
        ".".join((room, *init.parent.relative_to(ROOT / folder).parts))
        for room, folder in ROOMS.items()
        for init in (ROOT / folder).rglob("__init__.py")
    }
    listed = PROJECT["tool"]["setuptools"]["packages"]
    assert sorted(tree | DATA) == sorted(listed)
    assert len(set(listed)) == len(listed)
    assert not [path for room in ROOMS.keys() - DATA for path in (ROOT / ROOMS[room]).rglob("*.py")
                if not (path.parent / "__init__.py").is_file()]  # fmt: skip


def test_every_dependency_of_development_is_constrained() -> None:
    def plain(name: str) -> str:
        return name.lower().replace("_", "-")

    pinned = {plain(line.partition("==")[0]) for line in (ROOT / "constraints.txt").read_text().splitlines()}
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = [*PROJECT["project"]["dependencies"], *extras["dev"], *extras["serve"]]
    names = {plain(entry.partition(">")[0].partition("=")[0].strip()) for entry in wanted}
    assert names - pinned == set()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is built from, so that no build product lands in the tree."""
    pytest.importorskip("setuptools", reason="setuptools is not installed: nothing can be built offline")
    folder = tmp_path_factory.mktemp("source") / "judge-tui"
    unwanted = shutil.ignore_patterns("__pycache__", "*.pyc")
    for room in ROOMS.values():
        shutil.copytree(ROOT / room, folder / room, ignore=unwanted)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = ["wheel", "--no-build-isolation", "--no-deps", "--no-index", "-q", "-w", str(out), str(source)]
    subprocess.run([sys.executable, "-m", "pip", *command], check=True, timeout=120)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    command = ["install", "--no-deps", "--no-index", "-q", "--target", str(target), str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *command], check=True, timeout=120)
    return target


def test_the_wheel_holds_every_module_and_the_data(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("judge_tui/")}
    wanted = {
        "/".join((room.replace(".", "/"), path.relative_to(ROOT / folder).as_posix()))
        for room, folder in ROOMS.items()
        for path in (ROOT / folder).rglob("*")
        if (path.suffix in SUFFIXES or path.name == "py.typed" or {"include", "demo"} & set(path.parts))
        and path.is_file()
        and "__pycache__" not in path.parts
    }
    assert names == wanted
    assert any(name.startswith("judge_tui/rubrics/") for name in names)
    assert "judge_tui/demo/challenges/meetings/cases/none/1.in" in names


def test_the_source_distribution_builds_the_same_wheel(source: Path, wheel: Path, tmp_path: Path) -> None:
    build = "from setuptools import build_meta; build_meta.build_{kind}({out!r})"
    python(build.format(kind="sdist", out=str(tmp_path)), cwd=source)
    (archive,) = tmp_path.glob("*.tar.gz")
    shutil.unpack_archive(archive, tmp_path, filter="data")
    unpacked = next(path for path in tmp_path.iterdir() if path.is_dir())
    python(build.format(kind="wheel", out=str(tmp_path)), cwd=unpacked)
    (again,) = tmp_path.glob("*.whl")
    assert sorted(zipfile.ZipFile(again).namelist()) == sorted(zipfile.ZipFile(wheel).namelist())


def test_an_installed_wheel_offers_its_tasks_rubrics_and_command(installed: Path) -> None:
    code = """
import json
from importlib import metadata
import judge_tui.checks
from judge_tui.checks.task import load_task, task_names
from judge_tui.cli.demo import demo_files
from judge_tui.judging.rubric import default_rubric
command = [p for p in metadata.distribution("judge-tui").entry_points if p.group == "console_scripts"]
print(json.dumps({
    "from": judge_tui.checks.__file__,
    "tasks": {name: len(load_task(name).checks) for name in task_names()},
    "rubric": default_rubric("kv").task,
    "demo": len(demo_files()),
    "command": [p.load().__module__ for p in command],
}))
"""
    told = json.loads(python(code, installed))
    assert Path(told["from"]).is_relative_to(installed)
    assert set(told["tasks"]) == set(PROJECT["project"]["entry-points"]["judge_tui.tasks"])
    assert min(told["tasks"].values()) > 4
    assert told["rubric"] == "kv"
    assert told["demo"] == sum(path.is_file() for path in (ROOT / "demo").rglob("*"))
    assert told["command"]


def test_an_installed_wheel_judges_a_submission(installed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "m" / "backwards"
    folder.mkdir(parents=True)
    (folder / "code.py").write_text("print('hello')\n")
    request = {
        "task": "backwards", "submissions": [{"model": "m", "path": str(folder)}],
        "checks": ["loads", "size"], "trust": True,
    }  # fmt: skip
    code = f"""
import os, runpy
os.environ["JUDGE_TUI_CACHE"] = {str(tmp_path / "cache")!r}
runpy.run_module("judge_tui.checks.engine", run_name="__main__")
"""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {[str(installed), SITE]!r}\n{code}"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        events = [json.loads(line) for line in process.stdout]
    finished = [event["outcome"] for event in events if event["type"] == "finished"]
    assert [(outcome["check"], outcome["verdict"]) for outcome in finished] == [
        ("size", "pass"),
        ("loads", "pass"),
    ]


def test_an_editable_install_finds_the_tree(source: Path, tmp_path: Path) -> None:
    build = f"from setuptools import build_meta; build_meta.build_editable({str(tmp_path)!r})"
    python(build, cwd=source)
    (built,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(built).extractall(tmp_path / "site")
    site = tmp_path / "site"
    code = f"import site; site.addsitedir({str(site)!r}); from judge_tui.checks import verdict"
    assert Path(python(f"{code}; print(verdict.__file__)", site).strip()) == source / "checks" / "verdict.py"


LOADED = "print(*sorted({name.partition('.')[0] for name in sys.modules}))"


def loaded(*names: str) -> set[str]:
    """Top-level modules after importing some of this tree."""
    imports = "; ".join(f"import {name}" for name in names)
    return set(
        python(
            f"import site; site.addsitedir({SITE!r})\nbefore = set(sys.modules)\n{imports}\n{LOADED}"
        ).split()
    )


def test_checks_draw_nothing_and_need_numpy_and_msgspec_alone() -> None:
    # who asks for a cluster needs more, and nobody else
    alone = [name for name in modules("judge_tui.checks") if not name.startswith("judge_tui.checks.cluster")]
    foreign = loaded(*alone) - set(sys.stdlib_module_names)
    # typing_extensions: msgspec takes it where it is installed.
    own = {"judge_tui", "numpy", "msgspec", "typing_extensions"}
    assert {name for name in foreign if not name.startswith("_")} <= own


@pytest.mark.parametrize(
    "name", ["store", "verdict", "events", "submission", "request", "errors", "faults", "binding"]
)
def test_what_a_screen_needs_of_the_checks_imports_no_numpy(name: str) -> None:
    assert "numpy" not in loaded(f"judge_tui.checks.{name}")


def test_judging_draws_nothing_and_computes_without_numpy() -> None:
    # statistics are loaded by the commands that tell them alone
    others = [name for name in modules("judge_tui.judging") if ".statistics" not in name]
    assert not loaded(*others) & {"numpy", "textual", "rich", "click", "pygments"}


@pytest.mark.parametrize("room", [room for room in ROOMS if room not in DATA])
def test_every_public_module_says_what_it_offers(room: str) -> None:
    public = [name for name in modules(room) if not any(part.startswith("_") for part in name.split("."))]
    code = f"""
import importlib, site
site.addsitedir({SITE!r})
for name in {public!r}:
    module = importlib.import_module(name)
    names = getattr(module, "__all__", None)
    if names is None:
        if not hasattr(module, "__path__"):
            print(name, "has no __all__")
        continue
    for missing in (n for n in names if not hasattr(module, n)):
        print(name, "lacks", missing)
    if len(set(names)) != len(names):
        print(name, "lists a name twice")
"""
    assert python(code) == ""


def test_the_tree_is_left_as_it_was(source: Path) -> None:
    assert not (ROOT / "judge_tui").exists()
    assert os.access(source, os.W_OK)
