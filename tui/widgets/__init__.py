"""Parts of screens that draw their own lines: code, rubric, checks, matchup, matrix, lists, hints."""
