"""Batches, their chunks, rows and results, and schedules."""
