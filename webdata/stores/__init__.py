"""Stores of state: the SQL of one subject each, and what may be lost, in memory or Redis."""
