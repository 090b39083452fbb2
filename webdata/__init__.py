"""Public web data as clean JSON: on demand over HTTP, in batches, or from saved pages."""
