"""The files beside a submission that say how it is called: ``submission.toml`` and ``adapter.py``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge_tui.checks.errors import NewerSchema, UsageError, WorkspaceError
from judge_tui.checks.schema import SUBMISSION
from judge_tui.checks.submission import ADAPTER, META, Submission, read_meta
from judge_tui.judging.folders import kept_inside
from judge_tui.judging.storage import FileStamp, read_bytes, write_atomically
from judge_tui.judging.workspace import Workspace

__all__ = ["judges_folder", "write_adapter", "write_bindings"]


def judges_folder(workspace: Workspace, submission: Submission) -> Path:
    """The judge's own folder for a submission: what lies in the submission's is the submission's.

    Raises:
        UsageError: The submission has no folder, or is not the workspace's and no tree of bindings is named.
        WorkspaceError: A link leads out of the workspace.
    """
    trees = workspace.binding_trees
    if not trees:
        raise UsageError(
            "a tree given by --submissions is never written to.",
            hint="Say --bindings DIR as well: the files go there.",
        )
    if not submission.path.is_dir():
        raise UsageError(
            f"{submission.model} has no folder for {submission.task} in {workspace.submissions}."
        )
    folder = workspace.place(trees[0], submission.model, submission.task)
    return folder if workspace.bindings is not None else kept_inside(folder, workspace.root)


def write_bindings(folder: Path, tables: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Store binding tables in the ``submission.toml`` of a folder, everything else in it kept as it is.

    One of an older schema is brought to the present one with that.

    Args:
        folder: A submission's, or its overlay's; made when it is not there.
        tables: Role → table; one that stands there already is left alone, since a person wrote it.

    Returns:
        The roles that were written.

    Raises:
        NewerSchema: The file is of a newer schema.
        WorkspaceError: The folder is read-only, the file is no TOML, or it was changed meanwhile.
    """
    import tomlkit

    path = folder / META
    _writable(path)
    old = read_bytes(path)
    present = read_meta(path)
    if present.newer:
        raise NewerSchema(present.newer)
    new = [role for role in tables if role not in present.binding]
    if not new:
        return ()
    text = (old or b"").decode()
    document = tomlkit.parse(text)
    found = SUBMISSION.read(document.unwrap(), text, path)
    if found.migrated:
        for key in [key for key in document if key not in found.raw]:
            del document[key]
        document.update({key: value for key, value in found.raw.items() if document.get(key) != value})
    if "binding" not in document:
        document["binding"] = tomlkit.table(is_super_table=True)
    for role in new:
        document["binding"][role] = _table(tables[role])
    write_atomically(path, tomlkit.dumps(document).encode(), None if old is None else FileStamp.of(old))
    return tuple(new)


def _table(values: Mapping[str, Any]) -> Any:
    """A table whose inner tables stand in one line."""
    import tomlkit

    table = tomlkit.table()
    for key, value in values.items():
        if isinstance(value, Mapping):
            inner = tomlkit.inline_table()
            inner.update(value)
            table[key] = inner
        else:
            table[key] = value
    return table


def write_adapter(folder: Path, text: str) -> Path:
    """Write a new ``adapter.py`` into a folder.

    Returns:
        Its path.

    Raises:
        WorkspaceError: There is one already, or the folder is read-only.
    """
    path = folder / ADAPTER
    if path.exists() or path.is_symlink():
        raise WorkspaceError("exists already and is never overwritten.", file=path)
    _writable(path)
    write_atomically(path, text.encode(), None)
    return path


def _writable(path: Path) -> None:
    """Refuse what must not be written, by the administrator too: a folder that nobody may write, a link."""
    folder = next(folder for folder in path.parents if folder.exists())
    if not folder.stat().st_mode & 0o222:
        raise WorkspaceError("is read-only.", hint="Nothing was written.", file=folder)
    if path.is_symlink():
        raise WorkspaceError("is a link, which is not written through.", file=path)
