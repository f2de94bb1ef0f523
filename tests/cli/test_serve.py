"""``judge-tui serve``: what it asks for, and one sentence for everything that is off."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from judge_tui.cli.serve import PROGRAM
from judge_tui.cli.web.address import Address
from judge_tui.cli.web.admission import Admission
from judge_tui.judging.read_only import ASKED

pytest.importorskip("textual_serve", reason="the extra 'serve' is not installed")


@pytest.fixture
def banners() -> list[str]:
    """What the pages would say above the app."""
    return []


@pytest.fixture
def served(
    banners: list[str], monkeypatch: pytest.MonkeyPatch
) -> list[tuple[Sequence[str], dict[str, str], Address, Admission]]:
    """What would be served, in place of serving it."""
    found = []

    def serve(
        command: Any, environment: Any, address: Address, admission: Any, *, banner: str, ready: Any, **_: Any
    ) -> None:
        found.append((command, environment, address, admission))
        banners.append(banner)
        ready()
        for each in address.sockets:
            each.close()

    monkeypatch.setattr("judge_tui.cli.web.serving.serve", serve)
    return found


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ([], ["home"]),
        (["--judge", "bert"], ["home", "--judge", "bert"]),
        (["compare", "glm", "qwen36", "--task", "kv"], ["compare", "glm", "qwen36", "--task", "kv"]),
        (["compare", "glm5", "--blind", "qwen"], ["compare", "glm5", "--blind", "qwen"]),
    ],
)
def test_what_stands_behind_goes_to_the_app_and_what_is_the_servers_may_stand_anywhere(
    cli: Callable[..., Any], root: Path, served: list[Any], arguments: list[str], shown: list[str]
) -> None:
    assert cli("serve", *arguments, "--port", "0").code == 0
    assert cli("serve", "--port", "0", *arguments).code == 0
    assert [list(command)[len(PROGRAM) :] for command, *_ in served] == [shown, shown]


def test_the_workspace_that_is_named_is_the_apps(
    cli: Callable[..., Any], root: Path, served: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli("--workspace", root, "serve", "--port", "0").code == 0
    assert cli("serve", "home", "--port", "0", "--workspace", root).code == 0
    assert [list(command)[len(PROGRAM) :] for command, *_ in served] == [
        ["home", "--workspace", str(root)]
    ] * 2


def test_a_token_is_drawn_for_every_address_and_only_this_machine_may_do_without(
    cli: Callable[..., Any], root: Path, served: list[Any]
) -> None:
    here, everywhere = cli("serve", "--port", "0"), cli("serve", "--port", "0", "--host", "0.0.0.0")
    assert "http://127.0.0.1:" in here.out
    tokens = [ended.out.partition("?token=")[2].split()[0] for ended in (here, everywhere)]
    assert min(map(len, tokens)) > 40
    assert tokens[0] != tokens[1]
    assert "not encrypted" in everywhere.out
    for (*_, admission), token in zip(served, tokens, strict=True):
        assert admission.opens(token)
        assert admission.refusal(host="127.0.0.1")
    bare = cli("serve", "--port", "0", "--no-token")
    assert "token" not in bare.out
    assert served[-1][-1].refusal(host="127.0.0.1") is None
    assert cli("serve", "--port", "0", "--host", "0.0.0.0", "--no-token").code == 2


def test_who_only_looks_is_told_to_the_app_and_the_page_and_who_judges_by_name(
    cli: Callable[..., Any], root: Path, served: list[Any], banners: list[str]
) -> None:
    assert cli("serve", "--port", "0", "--read-only", "--judge", "<b>").code == 2
    assert cli("serve", "--port", "0", "--read-only").code == 0
    assert cli("serve", "--port", "0", "--judge", "bert").code == 0
    assert [environment.get(ASKED) for _, environment, *_ in served] == ["1", None]
    assert banners == [
        "Read only: nothing that you do here is kept.",
        "You judge as bert: what you do here is saved under that name.",
    ]


def test_a_token_of_ones_own_holds_here_too_and_no_app_learns_it(
    cli: Callable[..., Any], root: Path, served: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_TUI_TOKEN", "a/b&c?d=e f#ghijk")
    ended = cli("serve", "--port", "0")
    assert "?token=a%2Fb%26c%3Fd%3De%20f%23ghijk" in ended.out
    ((_, environment, _, admission),) = served
    assert admission.opens("a/b&c?d=e f#ghijk")
    assert admission.refusal(host="127.0.0.1")
    assert "JUDGE_TUI_TOKEN" not in environment


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "glm5"], "a browser shows home or compare, not check."),
        (["compare", "glm5"], "compare takes two or three models, not 1."),
        (["compare", "glm5", "nobody", "--task", "kv"], "there is no model 'nobody'."),
        (["compare", "glm5", "qwen36", "--task", "nothing"], "nothing"),
        (["compare", "--nonsense"], "No such option '--nonsense'."),
        (["home", "extra"], "extra"),
        (["--token", "short"], "a token takes 16 characters or more."),
        (["--token", ""], "a token takes 16 characters or more."),
        (["--host", "no-such-host.invalid"], "there is no host 'no-such-host.invalid'."),
        (["--host", ""], "there is no host ''."),
        (["--host", "192.0.2.1"], "192.0.2.1 is no address of this machine."),
        (["--port", "70000"], "70000"),
    ],
)
def test_what_is_off_is_one_sentence_before_anything_is_served(
    cli: Callable[..., Any], root: Path, served: list[Any], arguments: list[str], said: str
) -> None:
    ended = cli("serve", *arguments)
    assert ended.code == 2
    first, *_ = ended.err.splitlines()
    assert said in first
    assert "Traceback" not in ended.err
    assert not served


def test_a_port_in_use_and_a_folder_that_is_no_workspace_are_one_sentence(
    cli: Callable[..., Any], root: Path, served: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = cli("serve", "--port", port)
    assert (ended.code, f"port {port} of 127.0.0.1 is in use." in ended.err) == (2, True)
    monkeypatch.chdir(tmp_path)
    ended = cli("serve", "--port", "0")
    assert (ended.code, "is not a workspace" in ended.err) == (2, True)
    assert not served


def test_without_textual_serve_it_is_told_how_to_get_it_and_nothing_else_misses_it(root: Path) -> None:
    code = (
        "import sys; sys.modules['textual_serve'] = sys.modules['aiohttp'] = None\n"
        "from judge_tui.cli.run import run\n"
        "assert run(['home']) == 0; sys.exit(run(['serve', '--port', '0']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "is not installed" in done.stderr
    assert "pip install 'judge-tui[serve]'" in done.stderr
    assert "Traceback" not in done.stderr
