"""What stands in a file, and how it is found, folded, aligned and coloured."""
