"""Values that cross between two jails by way of the engine: what is copied, and how it is written down."""
