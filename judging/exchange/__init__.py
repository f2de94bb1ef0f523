"""What judges wrote, as data for other programs, and back: ``scores`` and ``import-scores``."""
