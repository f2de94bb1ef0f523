"""A scheduler and its workers on the loopback interface, each a process of its own.

    python processes.py WORKERS [--ca FILE --cert FILE --key FILE] [--version V] [--level L] [--idle]

Prints one JSON object: the scheduler's address, its process id, and those of the workers. All of them end
with standard input. They are forked of one process, which has imported what each of them needs.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec
from distributed import Scheduler, Security, Worker

from judge_tui.checks import sandbox
from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Check, Findings
from judge_tui.checks.cluster import facts, remote
from judge_tui.checks.task import load_task


def security(given: argparse.Namespace) -> Security | None:
    if given.ca is None:
        return None
    sides = {f"tls_{side}_{what}": getattr(given, what) for side in ("scheduler", "worker", "client")
             for what in ("cert", "key")}  # fmt: skip
    return Security(tls_ca_file=given.ca, require_encryption=True, **sides)


def pretend(given: argparse.Namespace, number: int) -> None:
    """Be a worker of another version, or, if not the first, of another level of the sandbox."""
    mine = facts.stamp()
    if given.version and number == 0:
        facts.stamp = lambda: msgspec.structs.replace(mine, tool=given.version)
    if given.level and number > 0:
        measured = sandbox.Measured(sandbox.Level(given.level), ("not all holds",), {})
        sandbox.measure = lambda mode="auto": measured
    if given.idle:
        idle = replace(load_task("backwards"), checks=(Check("nothing", "", "", nothing),))
        remote.task_of = lambda name, challenge: idle


def nothing(bench: Bench, found: Findings) -> str:
    found.claim("that", True)
    return "nothing was done"


def forked(run: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """Process id of one that runs this, and nothing else."""
    if pid := os.fork():
        return pid
    with contextlib.suppress(BaseException):
        asyncio.run(run())
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("workers", type=int)
    for name in ("ca", "cert", "key", "version", "level"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--idle", action="store_true", help="do jobs of one check that does nothing")
    given = parser.parse_args()
    secured = security(given)
    protocol = "tcp" if secured is None else "tls"
    told, tells = os.pipe()

    async def schedule() -> None:
        async with Scheduler(
            host="127.0.0.1", port=0, protocol=protocol, dashboard_address="127.0.0.1:0", security=secured
        ) as scheduler:
            os.write(tells, scheduler.address.encode() + b"\n")
            await scheduler.finished()

    pids = [forked(schedule)]
    with os.fdopen(told) as heard:
        address = heard.readline().strip()

    async def work(number: int) -> None:
        pretend(given, number)
        async with Worker(
            address, nthreads=1, host="127.0.0.1", protocol=protocol, memory_limit=0,
            dashboard_address="127.0.0.1:0", security=secured,
        ) as worker:  # fmt: skip
            await worker.finished()

    assert remote.TOPIC
    pids += [forked(partial(work, number)) for number in range(given.workers)]
    print(json.dumps({"address": address, "scheduler": pids[0], "workers": pids[1:]}), flush=True)
    sys.stdin.read()
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
