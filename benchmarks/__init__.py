"""Benchmarks of webdata, compared with a peer and with the floor: `make bench`."""
