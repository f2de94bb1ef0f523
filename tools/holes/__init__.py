"""A machine that finds what the checks miss: right submissions, edited in one place."""
