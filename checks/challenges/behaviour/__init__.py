"""Challenges of behaviour: the judge's own pytest files, run beside no submission.

The tests run in the author's jail, where ``submission`` is a stand-in; what they ask of it goes through the
engine into the submission's jail (``worker/border``). So a submission can neither patch pytest nor read a
test, and what it ends is its own process.
"""

from judge_tui.checks.challenges.behaviour.checks import checks_of
from judge_tui.checks.challenges.behaviour.outline import Behaviour, TestFile, TestFunction, collected

__all__ = ["Behaviour", "TestFile", "TestFunction", "checks_of", "collected"]
