"""What stands for a model where a search or a verifier is judged: the trusted side computes the same rows."""
