"""What stands behind ``serve``: an address, who is let in, and an app per page."""
