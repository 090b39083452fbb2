"""What decides the next attempt to fetch a page: transport policy, circuit breakers, proxy pool, device profiles."""
