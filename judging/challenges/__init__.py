"""Challenges of a workspace: which there are, what ``challenge.toml`` says, and a rubric for each."""
