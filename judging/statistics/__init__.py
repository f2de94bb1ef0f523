"""What figures can bear: ratings, intervals, agreement, effects; loaded when a command asks for them."""
