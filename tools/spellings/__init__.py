"""Right submissions, spelt otherwise: what no check may fail."""
