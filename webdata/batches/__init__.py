"""Batches across machines: submissions, tickets, feeder, worker, results, schedules."""
