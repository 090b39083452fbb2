"""Processes: children, workers, memory, periodic work, shares by key."""
