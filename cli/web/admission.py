"""Who may drive an app that is served: the holder of the token, from the page of this very server.

Without a token only this machine reaches the server. Even then another page in the judge's browser could
(every page may open a websocket to any address, and a name of its own may lead to this machine), so what
a request says of where it comes from is held against the address that it was sent to.
"""

from __future__ import annotations

import hmac
import secrets
from ipaddress import ip_address
from urllib.parse import urlsplit

__all__ = ["LEAST_TOKEN", "Admission", "new_token"]

#: Characters that a token takes at least.
LEAST_TOKEN = 16
_PORTS = {"http": 80, "https": 443}


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(32)


class Admission:
    """Decides on requests.

    Args:
        token: What a browser has to bring once; ``None`` lets this machine in without.
        host: The name under which the server was asked to listen.
        port: Its port.

    Attributes:
        cookie: Name of the cookie that stands for the token after the first request; ports share cookies.
        pass_: Its value, which holds for this run of the server alone.
    """

    def __init__(self, token: str | None, host: str, port: int) -> None:
        self._token, self._host = token, host
        self.cookie = f"judge-tui-{port}"
        self.pass_ = secrets.token_urlsafe(32)

    def opens(self, token: str | None) -> bool:
        """Whether this is the token; takes as long for a near miss as for a far one."""
        return self._token is not None and token is not None and _same(token, self._token)

    def refusal(self, *, host: str, pass_: str | None = None) -> str | None:
        """Why a request is not answered; ``None`` when it is.

        Args:
            host: Its header ``Host``: the address that the browser believes to speak to.
            pass_: The cookie that it brought.
        """
        if self._token is None:
            # a page whose own name leads to this machine says that name
            return None if self._is_here(host) else f"This server does not go by the name {host or '-'}."
        if pass_ is not None and _same(pass_, self.pass_):
            return None
        return "A token is needed: open the whole address that judge-tui serve has printed."

    def stream_refusal(self, *, host: str, origin: str | None) -> str | None:
        """Why a websocket is not opened: another page asks for it. ``None`` when it is.

        Args:
            host: Its header ``Host``.
            origin: Its header ``Origin``, which no page can forge.
        """
        try:
            page = urlsplit(origin or "")
            here = urlsplit(f"//{host}")
            default = _PORTS.get(page.scheme)
            fits = (page.hostname, page.port or default) == (here.hostname, here.port or default)
        except ValueError:
            fits = False
        return None if fits and default and page.hostname else "Only this server's own page is served."

    def _is_here(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        except ValueError:
            return False
        if name in ("localhost", self._host.lower()) or name.endswith(".localhost"):
            return True
        try:
            return ip_address(name).is_loopback
        except ValueError:
            return False


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))
