"""Reaching a scheduler: by its address, over TLS where there are certificates."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dask
from distributed import Client, LocalCluster, Security

from judge_tui.checks.errors import UsageError

__all__ = ["Address", "connected"]

#: Seconds until a scheduler that does not answer is given up.
PATIENCE_S = 10.0
_ADDRESS = "DASK_SCHEDULER_ADDRESS"
#: Protocol, where it is said, host and port; what browsers open is no scheduler.
_PLACE = re.compile(r"(?:(?!https?:)[a-z]+://)?(?:\[[^\]]+\]|[^\s:/\[\]]+):\d+/?")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a scheduler is.

    Attributes:
        scheduler: ``tcp://…`` or ``tls://…``; empty for Dask's own settings, or workers on this machine.
        authority: Certificate of who has signed all others.
        certificate: This side's certificate.
        key: Its key.
        workers: Workers on this machine, where there is no scheduler; 0 for one per processor.
    """

    scheduler: str = ""
    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    workers: int = 0

    @property
    def known(self) -> str:
        """The scheduler's address, Dask's own settings included; empty for workers on this machine."""
        return self.scheduler or os.environ.get(_ADDRESS) or dask.config.get("scheduler-address", "") or ""


def connected(address: Address) -> tuple[Client, LocalCluster | None]:
    """A connection, and the cluster that was started for it.

    Args:
        address: Where the scheduler is.

    Raises:
        UsageError: It cannot be reached, or will not have this side.
    """
    _hush()
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"})
    where, cluster = address.known, None
    if where and not _PLACE.fullmatch(where):
        raise UsageError(
            f"{where!r} is no address of a scheduler.",
            hint="Such are tcp://HOST:8786 and tls://HOST:8786; 'dask scheduler' prints its own.",
        )
    try:
        security = _security(address)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not where:
                with _uninterrupted():
                    cluster = _started(address.workers)
            client = Client(
                cluster if cluster is not None else where,
                security=None if cluster is not None else security,
                timeout=PATIENCE_S,
                set_as_default=False,
            )
    except (OSError, RuntimeError, TypeError, ValueError, asyncio.CancelledError) as error:
        if cluster is not None:
            cluster.close()
        raise _unreachable(where, error) from error
    return client, cluster


def _hush() -> None:
    """What a library logs is no sentence for a user: each of its parts has a level of its own."""
    for name in [*logging.root.manager.loggerDict, "asyncio"]:
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """What is started within is not told of Ctrl-C: it ends with the run, and not in tracebacks beside it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        # None was set by other than Python, and cannot be set back by it
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)


def _started(workers: int) -> LocalCluster:
    return LocalCluster(
        n_workers=workers or os.cpu_count() or 1,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        host="127.0.0.1",
        # submissions are bounded by their jails; the engine beside them is not what memory is spent on
        memory_limit=0,
        silence_logs=logging.CRITICAL,
    )


def _security(address: Address) -> Security | None:
    """Certificates that were named; Dask's own settings where none were."""
    files = (address.authority, address.certificate, address.key)
    if not any(files):
        if address.known.startswith("tls://") and not Security().get_connection_args("client")["ssl_context"]:
            raise _unreachable(address.known, UsageError("it speaks TLS, and no certificate was named"))
        return None
    if not all(files):
        raise UsageError(
            "of a TLS connection three files are needed.",
            hint="Say --tls-ca, --tls-cert and --tls-key: who signs, this side's certificate, and its key.",
        )
    ca, cert, key = map(str, files)
    return Security(tls_ca_file=ca, tls_client_cert=cert, tls_client_key=key, require_encryption=True)


def _unreachable(where: str, error: BaseException) -> UsageError:
    secure = where.startswith("tls://")
    hint = (
        "Is 'dask scheduler' running there, with TLS perhaps (tls://), and does a firewall let you through?"
    )
    if secure:
        hint = "Name certificates that it trusts: --tls-ca, --tls-cert and --tls-key."
    return UsageError(
        f"the scheduler at {where or 'this machine'} cannot be reached: {_said(error)}.", hint=hint
    )


def _said(error: BaseException) -> str:
    """The cause at the bottom, in its own words."""
    each: BaseException | None = error
    causes: list[BaseException] = []
    while each is not None and each not in causes:
        causes.append(each)
        each = each.__cause__ or each.__context__
    plain = next((one for one in reversed(causes) if isinstance(one, OSError) and one.strerror), error)
    told = plain.strerror if isinstance(plain, OSError) and plain.strerror else str(plain)
    return " ".join(told.split())[:200].rstrip(".") or type(error).__name__
