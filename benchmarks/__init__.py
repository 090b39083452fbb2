"""What webdata costs, beside a peer and beside the floor, in one run: `make bench`."""
