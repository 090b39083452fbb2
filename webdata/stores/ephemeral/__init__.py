"""What may be lost: the cache and the limits, in memory or in Redis."""
