"""Where compilers are found, and that of a home folder nothing else is shown."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from judge_tui.checks.challenges.programs.toolchains import Tool, tool


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of its own, and nothing on the search path."""
    for name in ("RUSTUP_HOME", "PATH"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_what_is_nowhere_is_not_installed(home: Path) -> None:
    assert tool("rustc") is None
    (home / ".nvm/versions/node/v20.1.0/bin").mkdir(parents=True)
    (home / ".nvm/versions/node/v20.1.0/bin/node").write_text("not to be executed")
    assert tool("node") is None


def test_python_is_the_one_that_runs_this() -> None:
    found = tool("python3")
    assert found is not None
    assert found.path == Path(os.path.realpath(sys.executable))


def test_rustup_itself_is_never_run_but_the_toolchain_that_it_takes(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxies = home / ".cargo/bin"
    program(proxies / "rustup")
    (proxies / "rustc").symlink_to("rustup")
    monkeypatch.setenv("PATH", str(proxies))
    assert tool("rustc") is None
    for name in ("1.70.0", "stable", "1.80.1"):
        program(home / f".rustup/toolchains/{name}/bin/rustc")
    newest = home / ".rustup/toolchains/1.80.1"
    assert tool("rustc") == Tool(newest / "bin/rustc", (newest,))
    (home / ".rustup/settings.toml").write_text('version = "12"\ndefault_toolchain = "stable"\n')
    stable = home / ".rustup/toolchains/stable"
    assert tool("rustc") == Tool(stable / "bin/rustc", (stable,))


def test_the_newest_of_several_versions_counts(home: Path) -> None:
    for version in ("v9.8.0", "v20.1.0", "v18.2.0"):
        program(home / f".nvm/versions/node/{version}/bin/node")
    root = home / ".nvm/versions/node/v20.1.0"
    assert tool("node") == Tool(root / "bin/node", (root,))


def test_sdkmans_current_java_is_found_where_its_link_leads(home: Path) -> None:
    java = program(home / ".sdkman/candidates/java/21-tem/bin/javac")
    (home / ".sdkman/candidates/java/current").symlink_to("21-tem")
    found = tool("javac")
    assert found is not None
    assert (found.path, found.shown[0]) == (java, java.parent.parent)


@pytest.mark.parametrize("place", ["bin/zig", ".local/bin/zig", ".cargo/bin/zig", "zig"])
def test_of_a_folder_with_other_things_the_program_alone_is_shown(
    home: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    zig = program(home / place)
    monkeypatch.setenv("PATH", str(zig.parent))
    assert tool("zig") == Tool(zig, (zig,))


def test_of_a_folder_that_a_tool_was_installed_into_all_is_shown(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zig = program(home / "tools/zig-0.13/zig")
    (home / "bin").mkdir()
    (home / "bin/zig").symlink_to(zig)
    monkeypatch.setenv("PATH", str(home / "bin"))
    assert tool("zig") == Tool(zig, (zig.parent,))


def test_gos_own_folder_in_the_home_is_shown_only_where_it_is_the_toolchain(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = program(home / "go/bin/go")
    monkeypatch.setenv("PATH", str(go.parent))
    assert tool("go") == Tool(go, (go,))
    (home / "go/src/runtime").mkdir(parents=True)
    assert tool("go") == Tool(go, (home / "go",))


def test_a_wrapper_keeps_the_name_that_it_is_called_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    wrapper = program(elsewhere / "ccache")
    (elsewhere / "gcc").symlink_to(wrapper)
    monkeypatch.setenv("PATH", str(elsewhere))
    found = tool("gcc")
    assert found is not None
    assert found.path == elsewhere / "gcc"
