"""What a judge writes: cards, matchups, their history and their way to disk."""
