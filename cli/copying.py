"""How ``judge-tui add`` brings a folder into the workspace: all of it, or nothing."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from judge_tui.checks.errors import UsageError, WorkspaceError
from judge_tui.checks.submission import META, Submission, read_meta
from judge_tui.checks.unlisted import Unlisted
from judge_tui.judging.document import render_toml

__all__ = ["copy_in", "left_behind"]

_MAX_BYTES = 64 << 20
_LEFT_OUT = ("__pycache__", "node_modules", "*.pyc", "*.pyo", ".*")


def copy_in(source: Path, target: Path, meta: dict[str, str]) -> Submission:
    """Copy a folder, or a single file, to where a submission is kept; what fails leaves nothing behind.

    Args:
        source: The folder or file.
        target: ``submissions/<model>/<task>``, which is not there yet.
        meta: What its ``submission.toml`` says, where the folder brings none.

    Raises:
        JudgeError: There is nothing to copy, or it cannot be read or written.
    """
    _refuse_what_is_no_file(source)
    if target.resolve().is_relative_to(source.resolve()):
        raise UsageError(f"{source} holds the workspace itself.", hint="Name the folder of one submission.")
    _refuse_giants(source)
    if source.is_dir():
        # told of the folder that was named, and not of its copy
        read_meta(source / META)
    partial = target.with_name(f".{target.name}.partial")
    with _folders_for(target):
        try:
            _copy(source, partial, meta)
            if not Submission.at(partial).files:
                raise UsageError(
                    f"there is no file to add in {source}.",
                    hint="Hidden files, caches and links are left out, and submission.toml alone is nothing.",
                )
            partial.rename(target)
        except (OSError, shutil.Error) as error:
            raise WorkspaceError(f"cannot be copied: {_reason(error)}.", file=source) from error
        except WorkspaceError as error:
            error.file = str(source) if error.file == str(partial) else error.file
            raise
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return Submission.at(target)


def left_behind(source: Path) -> tuple[Unlisted, ...]:
    """What lies in a folder that is brought in, and is no part of the submission: links and odd names."""
    return Submission.at(source).unlisted if source.is_dir() else ()


@contextmanager
def _folders_for(target: Path) -> Iterator[None]:
    """Take the folders above away again that were made for what failed."""
    missing = [folder for folder in target.parents if not folder.exists()]
    try:
        yield
    except BaseException:
        for folder in missing:
            # one that something else stands in stays
            with suppress(OSError):
                folder.rmdir()
        raise


def _copy(source: Path, partial: Path, meta: dict[str, str]) -> None:
    shutil.rmtree(partial, ignore_errors=True)
    if source.is_dir():
        shutil.copytree(source, partial, ignore=_ignored)
    else:
        partial.mkdir(parents=True)
        shutil.copy(source, partial)
    if not (partial / META).exists():
        kept = {key: value for key, value in meta.items() if value}
        (partial / META).write_text(render_toml(kept), encoding="utf-8")


def _ignored(folder: str, names: list[str]) -> set[str]:
    odd = {name for name in names if not _is_plain(Path(folder, name))}
    return set(shutil.ignore_patterns(*_LEFT_OUT)(folder, names)) | odd


def _is_plain(path: Path) -> bool:
    # a link leads out of the submission; a pipe or a device has no end
    mode = path.lstat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _reason(error: OSError) -> str:
    """The first thing that went wrong, with its place."""
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        place, _, told = error.args[0][0]
        return f"{place}: {str(told).partition('] ')[2].partition(': ')[0] or told}"
    if error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return error.strerror or str(error)


def _refuse_what_is_no_file(source: Path) -> None:
    try:
        mode = source.stat().st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        if source.is_symlink():
            raise UsageError(f"{source} is a link that leads nowhere.") from error
        raise UsageError(f"there is no {source}.") from error
    except OSError as error:
        raise UsageError(f"{source} cannot be read: {error.strerror}.") from error
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise UsageError(f"{source} is neither a file nor a folder.")


def _refuse_giants(source: Path) -> None:
    total = 0
    for size in _sizes(source):
        total += size
        if total > _MAX_BYTES:
            raise UsageError(
                f"{source} holds more than {_MAX_BYTES >> 20} MiB.",
                hint="Leave build products and data sets out.",
            )


def _sizes(source: Path) -> Iterator[int]:
    """Bytes of what would be copied, file by file."""
    if source.is_file():
        yield source.stat().st_size
        return
    for folder, names, files in os.walk(source):
        left_out = _ignored(folder, [*names, *files])
        names[:] = [name for name in names if name not in left_out]
        yield from (Path(folder, name).lstat().st_size for name in files if name not in left_out)
