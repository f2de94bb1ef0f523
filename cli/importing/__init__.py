"""Other people's problems made into challenges: text and syntax trees in, files of a challenge out.

Nothing of a problem runs here; what has to be tried of it is tried in its author's jail (``trial``).
"""
