"""What the challenge speaks of: roles and parameters by all their names, sizes, the truth, usual mistakes."""
