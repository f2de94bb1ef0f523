"""Where ``serve`` listens: a host and a port of this machine, taken before anything else is started."""

from __future__ import annotations

import errno
import os
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from judge_tui.checks.errors import UsageError

__all__ = ["Address"]


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a port that are listened on.

    Attributes:
        host: As it was asked for.
        sockets: Bound, one per address that the host has.
        here: Whether only this machine reaches it.
    """

    host: str
    sockets: tuple[socket.socket, ...]
    here: bool

    @classmethod
    def taken(cls, host: str, port: int) -> Address:
        """Take an address.

        Args:
            host: A name or an address.
            port: 0 for any that is free.

        Raises:
            UsageError: The host is not known or not of this machine, or the port cannot be had.
        """
        bound: list[socket.socket] = []
        try:
            for family, place in _places(host):
                # all addresses of a host get the port that the first one got
                where = (place[0], bound[0].getsockname()[1] if bound else port, *place[2:])
                bound.append(_bound(family, where))
        except OSError as error:
            for each in bound:
                each.close()
            raise _refused(error, host, port) from error
        return cls(host, tuple(bound), all(_is_loopback(each.getsockname()[0]) for each in bound))

    @property
    def port(self) -> int:
        """The port, chosen by the system where 0 was asked for."""
        port: int = self.sockets[0].getsockname()[1]
        return port

    @property
    def url(self) -> str:
        """What a browser is told; the machine's name where it listens on all addresses."""
        place = self.sockets[0].getsockname()[0]
        host = socket.gethostname() if ip_address(place.partition("%")[0]).is_unspecified else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"


def _places(host: str) -> list[tuple[socket.AddressFamily, tuple[Any, ...]]]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM) if host else []
    except (socket.gaierror, UnicodeError):
        found = []
    if not found:
        raise UsageError(
            f"there is no host '{host}'.", hint="Without --host, this machine alone can open the page."
        )
    return list(dict.fromkeys((family, place) for family, _, _, _, place in found))


def _bound(family: socket.AddressFamily, place: tuple[Any, ...]) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            # elsewhere the option would let two programs share a port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(place)
        made.listen(128)
    except OSError:
        made.close()
        raise
    return made


def _refused(error: OSError, host: str, port: int) -> UsageError:
    other = "Choose another: --port 0 takes any that is free."
    if error.errno == errno.EADDRINUSE:
        return UsageError(f"port {port} of {host} is in use.", hint=other)
    if error.errno == errno.EACCES:
        return UsageError(f"port {port} is kept for the system.", hint=other)
    if error.errno == errno.EADDRNOTAVAIL:
        return UsageError(f"{host} is no address of this machine.", hint="Name one of its own with --host.")
    return UsageError(f"{host} cannot be listened on: {error.strerror or error}.")


def _is_loopback(place: str) -> bool:
    return ip_address(place.partition("%")[0]).is_loopback
