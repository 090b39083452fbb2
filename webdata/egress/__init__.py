"""Which targets may be fetched: one rule, one guard, and every way out that applies them."""
