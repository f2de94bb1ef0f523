"""``python -m judge_tui.cli`` is ``judge-tui``."""

from judge_tui.cli import main

main()
