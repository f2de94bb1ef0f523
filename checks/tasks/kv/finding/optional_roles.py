"""What a submission may have beside the plain cache: quantized, paged, and a calculator of its memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.kv.finding import paged as paging
from judge_tui.checks.tasks.kv.finding import quantized as compressed
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.paging_roles import ROLES as PAGED
from judge_tui.checks.tasks.kv.words.sequence_roles import ADD

__all__ = ["ROLES", "find"]

_PLAIN = {role.name: role for role in (*roles.ROLES, ADD)}
_QUANTIZED = tuple(
    replace(_PLAIN[part], name=f"quantized_{part}", required=False)
    for part in ("append", "append_many", "read", "attend", "add", "step")
)

#: Roles that no submission has to play.
ROLES = (roles.QUANTIZED, *_QUANTIZED, *PAGED)


def find(
    worker: Worker,
    loaded: Mapping[str, Mapping[str, Any]],
    bound: dict[str, Binding],
    rejected: dict[str, list[str]],
    fatal: dict[str, Fault],
) -> None:
    """Bind what there is of them.

    Args:
        worker: Where the submission is.
        loaded: File → inventory.
        bound: Role → binding; holds what is written, and is added to.
        rejected: Role → what was tried.
        fatal: Callables that ended the process; added to.

    Raises:
        Fault: A trial ended the process.
    """
    compressed.find(worker, loaded, bound, rejected, fatal)
    paging.find(worker, loaded, bound, rejected, fatal)
