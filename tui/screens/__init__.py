"""What fills the screen or lies over it: Home, a comparison, a matchup, lists, editors, questions."""
