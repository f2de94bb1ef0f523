"""What a submission may have beside the plain cache: quantized, paged, and a calculator of its memory."""

from __future__ import annotations

from dataclasses import replace

from judge_tui.checks.binding.solver import Search
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


def find(search: Search) -> None:
    """Bind what there is of them.

    Raises:
        Fault: A trial ended the process.
    """
    compressed.find(search)
    paging.find(search)
