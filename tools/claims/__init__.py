"""The claims of the published analyses, and what measures each of them anew on the reconstructions."""
