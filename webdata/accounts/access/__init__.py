"""Who may call, how much and at what price: API keys, rate limits, the cache, credits."""
