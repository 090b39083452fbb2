"""The rounds of canaries, and the drifts of engines."""
