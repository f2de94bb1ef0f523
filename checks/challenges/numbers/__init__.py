"""Challenges of numbers: a reference, inputs and cases in ``challenge.py``, and checks by them."""
