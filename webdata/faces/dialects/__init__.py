"""The APIs of other services, spoken by this one, so that their clients need a base URL and a key alone."""
