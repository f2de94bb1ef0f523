"""What ``judge-tui doctor`` says of clusters: whether one can be asked, which, and who else can."""

from __future__ import annotations

import ipaddress
import os
import socket
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from judge_tui.cli.finding import Finding

__all__ = ["cluster"]

_ADDRESS = "DASK_SCHEDULER_ADDRESS"
_SECONDS = 2.0
_PORT = 8786


def cluster(_: Path | None) -> Finding:
    """Whether checks can run on a Dask cluster, and how open the one is that is named in the environment."""
    if find_spec("distributed") is None:
        told = "check --engine dask takes distributed, not installed"
        return Finding("note", told, "pip install 'judge-tui[cluster]'")
    by = f"by distributed {metadata.version('distributed')}"
    address = os.environ.get(_ADDRESS, "")
    if not address:
        return Finding("ok", f"check --engine dask, {by}; no scheduler named in ${_ADDRESS}")
    where = urlsplit(address if "://" in address else f"tcp://{address}")
    try:
        host, port = where.hostname or "", where.port or _PORT
        socket.create_connection((host, port), _SECONDS).close()
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        return Finding("off", f"{address} cannot be reached: {said}", "Start one: dask scheduler.")
    if where.scheme == "tls":
        return Finding("ok", f"{address} over TLS, {by}: who has a certificate runs code there")
    told = f"{address} without TLS, {by}"
    if _is_loopback(host):
        return Finding("note", f"{told}: whoever is logged in here runs code there")
    return Finding("off", f"{told}: whoever reaches it runs code there", "Use tls:// (docs/clusters.md).")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
