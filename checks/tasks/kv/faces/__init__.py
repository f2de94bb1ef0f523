"""What was found, behind one face each: a cache, a pool of blocks, a decoder, a prompt in chunks."""
