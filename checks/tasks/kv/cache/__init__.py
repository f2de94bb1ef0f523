"""A submission's cache behind one face: how it is fed, read and weighed, whatever its calls are like."""
