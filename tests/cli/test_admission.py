"""Who may drive an app that is served."""

from __future__ import annotations

import pytest

from judge_tui.cli.web.address import Address
from judge_tui.cli.web.admission import LEAST_TOKEN, Admission, new_token

TOKEN = "k" * LEAST_TOKEN


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8000", "localhost:8000", "localhost", "[::1]:8000", "127.0.1.9", "LOCALHOST.:8000",
     "judges.localhost:8000", "mybox:8000"],
)  # fmt: skip
def test_without_a_token_this_machine_is_let_in_by_its_own_names(host: str) -> None:
    assert Admission(None, "mybox", 8000).refusal(host=host) is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:8000",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "10.0.0.1",
        "",
        "[::1",
        "0.0.0.0",
    ],
)
def test_a_name_that_somebody_made_lead_to_this_machine_lets_nobody_in(host: str) -> None:
    assert Admission(None, "127.0.0.1", 8000).refusal(host=host)


def test_with_a_token_the_cookie_that_stands_for_it_opens_and_nothing_else_does() -> None:
    admission = Admission(TOKEN, "0.0.0.0", 8000)
    assert admission.refusal(host="any.example", pass_=admission.pass_) is None
    for pass_ in (None, "", TOKEN, admission.pass_[:-1], admission.pass_ + "x", "ü"):
        assert admission.refusal(host="127.0.0.1", pass_=pass_)
    assert admission.opens(TOKEN)
    for token in (None, "", TOKEN[:-1], TOKEN + "k", "ü\udc80"):
        assert not admission.opens(token)


def test_where_no_token_is_asked_for_none_opens() -> None:
    admission = Admission(None, "127.0.0.1", 8000)
    assert not any(admission.opens(token) for token in (None, "", "None", admission.pass_))


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("localhost:9000", "http://localhost:9000"),
        ("judge.example", "https://judge.example"),
        ("judge.example:443", "https://judge.example"),
        ("judge.example", "http://judge.example:80"),
        ("[::1]:8000", "http://[::1]:8000"),
        ("Judge.Example:8000", "http://judge.example:8000"),
    ],
)
def test_the_servers_own_page_opens_a_stream(host: str, origin: str) -> None:
    assert Admission(None, "127.0.0.1", 8000).stream_refusal(host=host, origin=origin) is None


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1:8000", None),
        ("127.0.0.1:8000", ""),
        ("127.0.0.1:8000", "null"),
        ("127.0.0.1:8000", "http://127.0.0.1:8001"),
        ("127.0.0.1:8000", "http://127.0.0.1"),
        ("127.0.0.1:8000", "http://evil.example"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000.evil.example"),
        ("127.0.0.1:8000", "file://127.0.0.1:8000"),
        ("127.0.0.1:8000", "http://127.0.0.1:eight"),
        ("[::1", "http://[::1"),
        ("", "http://"),
    ],
)
def test_another_page_opens_none(host: str, origin: str | None) -> None:
    assert Admission(None, "127.0.0.1", 8000).stream_refusal(host=host, origin=origin)


def test_tokens_are_long_and_drawn_anew() -> None:
    drawn = {new_token() for _ in range(50)}
    assert len(drawn) == 50
    assert min(map(len, drawn)) > 40


def test_all_addresses_of_a_host_get_one_port_and_only_this_machines_own_need_no_token() -> None:
    for host, here in (("127.0.0.1", True), ("localhost", True), ("0.0.0.0", False)):
        address = Address.taken(host, 0)
        try:
            assert address.here is here
            assert {each.getsockname()[1] for each in address.sockets} == {address.port}
            assert address.url.endswith(f":{address.port}/")
        finally:
            for each in address.sockets:
                each.close()
