"""Running a command: every way in which it can end has one sentence and one exit code.

====  ==================================================
code  meaning
====  ==================================================
0     done; ``check`` found no failure, ``export --check`` nothing stale
1     a verdict ``fail``, or a stale scoreboard
2     usage or workspace error
3     the engine, or judge-tui itself, broke
4     nothing failed, and something that is required was not judged
130   interrupted
====  ==================================================
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from judge_tui.checks.errors import JudgeError
from judge_tui.cli.root import root
from judge_tui.judging.plain import plain

__all__ = ["COMPLETE", "PROGRAM", "run"]

PROGRAM = "judge-tui"
#: The variable through which a shell asks for completions.
COMPLETE = "_JUDGE_TUI_COMPLETE"
_INTERRUPTED = 130


def run(arguments: Sequence[str]) -> int:
    """Run a command.

    Args:
        arguments: What stands behind ``judge-tui`` on the command line.

    Returns:
        The exit code.
    """
    _tolerate_any_text()
    try:
        if COMPLETE in os.environ:
            root.main(list(arguments), PROGRAM, complete_var=COMPLETE)
        with root.make_context(PROGRAM, list(arguments)) as context:
            code = root.invoke(context)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        return _usage(error)
    except JudgeError as error:
        return _told(error)
    except (KeyboardInterrupt, click.Abort):
        return _INTERRUPTED
    except BrokenPipeError:
        return _closed()
    except Exception as error:
        return _broken(error)


def _tolerate_any_text() -> None:
    # a terminal that is not UTF-8 must not end a run at the first dash
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _usage(error: click.ClickException) -> int:
    message = plain(error.format_message())
    _say(message if message.endswith((".", "?", "!")) else f"{message}.")
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None:
        _hint(f"See: {context.command_path} --help")
    return 2


def _told(error: JudgeError) -> int:
    where = ""
    if error.file:
        where = f"{error.file}:{error.line}: " if error.line else f"{error.file}: "
    message = plain(error.message)
    _say(f"{plain(where)}{message if message.endswith(('.', '?', '!')) else message + '.'}")
    if error.hint:
        _hint(plain(error.hint))
    return error.exit_code


def _broken(error: Exception) -> int:
    if os.environ.get("JUDGE_TUI_DEBUG"):
        import traceback

        traceback.print_exc()
    _say(plain(f"broke unexpectedly: {type(error).__name__}: {error}"))
    _hint("This is a fault of judge-tui. JUDGE_TUI_DEBUG=1 shows where.")
    return 3


def _closed() -> int:
    # whoever read the output has enough; Python would complain once more at exit
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _say(sentence: str) -> None:
    with suppress(OSError):
        print(f"{PROGRAM}: {sentence}", file=sys.stderr)


def _hint(hint: str) -> None:
    with suppress(OSError):
        print(f"  {hint}", file=sys.stderr)
