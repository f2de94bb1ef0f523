"""Challenges of programs: a folder ``cases/`` with what a program reads, and what must come out.

``cases`` finds groups of cases, ``choosing`` the submission's program, ``recipes`` and ``toolchains`` say how
a language is built and run and by what, ``building`` builds it once, ``running`` runs a case in the jail.
``comparing`` holds what came out against the answer, ``validating`` asks the author's own validator,
``judges`` chooses between the two, and ``checks`` makes a check of each group. ``kattis`` reads problem
packages of Kattis as they are.

The submission's jail holds the program, and one input on a pipe: no answer, no other case, no validator.
"""
