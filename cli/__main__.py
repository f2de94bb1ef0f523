"""``python -P -m judge_tui.cli`` is ``judge-tui``.

Without ``-P`` Python itself takes modules from the present folder, before a line of ours runs.
"""

from judge_tui.cli import main

main()
