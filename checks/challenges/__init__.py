"""Challenges of the user's own: what they write in ``challenges/<task>/`` becomes a task like any other.

``challenge`` says what a challenge is, ``author`` runs its code in a jail of its own, ``description`` asks
that code what it offers, ``task`` makes checks of it. Three kinds have a room each: ``numbers``
(``challenge.py``), ``behaviour`` (``tests/``) and ``programs`` (``cases/``); one task may have all three.

Neither side is trusted, and the two never meet: the submission runs in its jail, the author's code in
another, and the engine carries values between them and decides.
"""
