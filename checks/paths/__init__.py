"""Which lines of a submission run in wrong answers alone."""
