"""Who runs the checks of a ``check``: this machine, or a Dask cluster; the options that say so."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from judge_tui.checks.errors import UsageError
from judge_tui.checks.jobs.job import Executor
from judge_tui.judging.plain import plain

__all__ = ["Engine", "engine", "executor_of"]

_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@dataclass(frozen=True, slots=True)
class Engine:
    """Who runs the checks.

    Attributes:
        name: ``local`` or ``dask``.
        scheduler: Address of a scheduler; empty for workers on this machine.
        authority: Certificate of who has signed all others, for TLS.
        certificate: This side's certificate.
        key: Its key.
    """

    name: str
    scheduler: str = ""
    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


def engine(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a command that say who runs the checks; it gets them as ``engine``."""

    @functools.wraps(command)
    def told(
        *arguments: Any,
        engine: str | None,
        scheduler: str | None,
        tls_ca: Path | None,
        tls_cert: Path | None,
        tls_key: Path | None,
        **others: Any,
    ) -> Any:
        if engine == "local" and (scheduler or tls_ca or tls_cert or tls_key):
            raise UsageError("the engine 'local' has no scheduler.", hint="Say --engine dask.")
        name = engine or ("dask" if scheduler else "local")
        chosen = Engine(name, scheduler or "", tls_ca, tls_cert, tls_key)
        return command(*arguments, engine=chosen, **others)

    for option in reversed(_OPTIONS):
        told = option(told)
    return told


_OPTIONS = (
    click.option(
        "--engine", type=click.Choice(["local", "dask"]),
        help="Who runs the checks: this machine, or a Dask cluster (docs/clusters.md). Default: local.",
    ),
    click.option(
        "--scheduler", metavar="ADDRESS",
        help="The cluster's scheduler, as tcp://HOST:8786; without one, --jobs workers on this machine.",
    ),
    click.option("--tls-ca", type=_FILE, metavar="FILE", help="For a scheduler at tls://…: who signs."),
    click.option("--tls-cert", type=_FILE, metavar="FILE", help="This side's certificate."),
    click.option("--tls-key", type=_FILE, metavar="FILE", help="Its key."),
)  # fmt: skip


@contextlib.contextmanager
def executor_of(chosen: Engine, *, jobs: int, trust: bool) -> Iterator[Executor | None]:
    """Who runs the checks, as long as they run; ``None`` for this machine.

    Args:
        chosen: What was asked for.
        jobs: Workers, where they are started here.
        trust: Whether workers without a full sandbox may judge.

    Raises:
        UsageError: The scheduler cannot be reached, or Dask is not installed.
        EngineError: No worker may judge.
    """
    if chosen.name == "local":
        yield None
        return
    if importlib.util.find_spec("distributed") is None:
        raise UsageError(
            "--engine dask takes 'distributed', which is not installed.",
            hint="pip install 'judge-tui[cluster]'",
        )
    from judge_tui.checks.cluster.connection import Address
    from judge_tui.checks.cluster.executor import Cluster

    where = Address(chosen.scheduler, chosen.authority, chosen.certificate, chosen.key, jobs)
    with Cluster(where, trust=trust, warn=_warn) as cluster:
        yield cluster


def _warn(sentence: str) -> None:
    click.echo(f"judge-tui: {plain(sentence)}", err=True)
