"""Which submission is A: drawn once per judge and comparison, and kept where nobody reads it by chance.

The file holds a random seed and a digest. The order follows from the seed and the names; it stands
nowhere, so that opening the file tells nothing. The digest tells a file that was changed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.read_only import holds
from judge_tui.judging.storage import flush, read_bytes

__all__ = ["order_under", "sealed_order"]

_SEED_BYTES = 32


def sealed_order(file: Path, models: Sequence[str], about: Sequence[str]) -> tuple[str, ...]:
    """The models in their drawn order; drawn now when there is no file yet.

    Args:
        file: Where the draw is kept.
        models: Folder names, in any order.
        about: What else the draw belongs to: task and judge.

    Raises:
        WorkspaceError: The file cannot be written or read, or was changed since the draw.
    """
    data = read_bytes(file) if file.is_file() else None
    if data is None and holds():
        # who only looks has nothing to judge: an order for this look is enough
        return order_under(secrets.token_bytes(_SEED_BYTES), models)
    if data is None:
        _draw(file, models, about)
        data = read_bytes(file) or b""
    seed, digest = _read(data)
    if not seed or not hmac.compare_digest(digest, _digest(seed, models, about)):
        raise WorkspaceError(
            "the sealed order of this blind comparison is not the one that was drawn.",
            hint="Delete the file, and the sides are drawn anew.",
            file=file,
        )
    return order_under(seed, models)


def order_under(seed: bytes, models: Sequence[str]) -> tuple[str, ...]:
    """The order that a seed gives; every order is as likely as any other."""
    return tuple(sorted(models, key=lambda model: (_keyed(seed, "seat", model), model)))


def _draw(file: Path, models: Sequence[str], about: Sequence[str]) -> None:
    seed = secrets.token_bytes(_SEED_BYTES)
    sealed = {"schema": 1, "seed": seed.hex(), "digest": _digest(seed, models, about)}
    temporary = file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as stream:
            stream.write(json.dumps(sealed) + "\n")
            stream.flush()
            flush(descriptor)
        # a link and no rename: of two windows that draw at once the first one's draw stays
        try:
            os.link(temporary, file)
        except FileExistsError:
            pass
        except OSError:
            # a disk without links: two windows would have to draw at the very same moment
            if not file.exists():
                os.replace(temporary, file)
    except OSError as error:
        raise WorkspaceError(
            f"the drawn order of a blind comparison cannot be kept: {error.strerror}.",
            hint="Make the folder writable, or set XDG_STATE_HOME.",
            file=file,
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _read(data: bytes) -> tuple[bytes, str]:
    """Seed and digest; empty ones where the file is none that was drawn."""
    with suppress(ValueError, KeyError, TypeError, RecursionError):
        raw = json.loads(data)
        return bytes.fromhex(raw["seed"]), str(raw["digest"])
    return b"", ""


def _digest(seed: bytes, models: Sequence[str], about: Sequence[str]) -> str:
    return _keyed(seed, "order", *about, "", *order_under(seed, models))


def _keyed(seed: bytes, *parts: str) -> str:
    return hmac.new(seed, json.dumps(parts).encode(), hashlib.sha256).hexdigest()
