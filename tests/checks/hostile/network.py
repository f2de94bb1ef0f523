"""Escape: reach a listener on this machine, a socket in the workspace, the world outside."""

import json
import os
import socket
from pathlib import Path

told = json.loads((Path(__file__).parent / "told.json").read_text())


def attempt(what, act):
    try:
        act()
    except BaseException:
        return
    os.write(1, f"SPOIL {what}\n".encode())


def connect(family, kind, address):
    with socket.socket(family, kind) as attempted:
        attempted.settimeout(0.5)
        attempted.connect(address)
        attempted.send(b"x")


def by_pair(kind, address):
    for end in socket.socketpair(socket.AF_UNIX, kind):
        end.connect(address)


for address in (("127.0.0.1", told["port"]), ("192.0.2.1", 53), ("8.8.8.8", 53)):
    attempt(f"tcp {address}", lambda: connect(socket.AF_INET, socket.SOCK_STREAM, address))
    attempt(f"udp {address}", lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, address))
for path in (told["unix"], "/run/docker.sock", "/var/run/docker.sock", "\0judge-tui-test"):
    attempt(f"unix {path!r}", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, path))
    attempt(f"unix datagram {path!r}", lambda: connect(socket.AF_UNIX, socket.SOCK_DGRAM, path))
    attempt(f"pair {path!r}", lambda: by_pair(socket.SOCK_STREAM, path))
    attempt(f"datagram pair {path!r}", lambda: by_pair(socket.SOCK_DGRAM, path))
attempt("listen", lambda: socket.create_server(("127.0.0.1", 0)))
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
attempt("resolve", lambda: socket.getaddrinfo("example.org", 80))
os.write(1, b"done\n")
