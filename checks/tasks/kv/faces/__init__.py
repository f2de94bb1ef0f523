"""What is bound, behind one face each: a cache, a pool of blocks, a decoder, a prompt in chunks."""
