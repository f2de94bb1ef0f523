"""What doctor says of clusters: who is there, and who else can have code run there."""

from __future__ import annotations

import socket

import pytest

from judge_tui.cli import cluster_diagnosis
from judge_tui.cli.cluster_diagnosis import cluster


def test_without_the_library_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_diagnosis, "find_spec", lambda name: None)
    found = cluster(None)
    assert (found.state, found.remedy) == ("note", "pip install 'judge-tui[cluster]'")


def test_without_a_scheduler_it_says_that_it_could(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DASK_SCHEDULER_ADDRESS", raising=False)
    found = cluster(None)
    assert found.state == "ok"
    assert "by distributed " in found.told


@pytest.mark.parametrize(
    ("host", "scheme", "state", "said"),
    [
        ("127.0.0.1", "tcp", "note", "without TLS, by distributed"),
        ("localhost", "tcp", "note", "whoever is logged in here runs code there"),
        ("judge.example", "tcp", "off", "whoever reaches it runs code there"),
        ("judge.example", "tls", "ok", "over TLS"),
    ],
)
def test_it_says_who_can_have_code_run_there(
    monkeypatch: pytest.MonkeyPatch, host: str, scheme: str, state: str, said: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = server.getsockname()
        connect = socket.create_connection
        monkeypatch.setattr(cluster_diagnosis.socket, "create_connection", lambda _, seconds: connect(there))
        monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", f"{scheme}://{host}:{there[1]}")
        found = cluster(None)
    assert (found.state, said in found.told) == (state, True)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "tcp://127.0.0.1:port", "127.0.0.1:1"])
def test_one_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", address)
    found = cluster(None)
    assert (found.state, found.remedy) == ("off", "Start one: dask scheduler.")
    assert "cannot be reached" in found.told
