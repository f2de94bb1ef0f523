"""The sandbox: start a submission's process confined, and measure what holds.

``bubblewrap``, ``start`` and ``mounts`` build the jail, ``confinement`` states its terms, ``jail`` watches
and kills it, ``level`` measures what a hostile program can still do inside.
"""

from judge_tui.checks.sandbox.confinement import Limits
from judge_tui.checks.sandbox.jail import Jail
from judge_tui.checks.sandbox.level import Level, Measured, Mode, launch, level_of, measure

__all__ = ["Jail", "Level", "Limits", "Measured", "Mode", "launch", "level_of", "measure"]
