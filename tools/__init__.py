"""What writes the pages and pictures in docs/ anew, from the root of the repo; it is not installed."""
