"""The parts of eBay's page of results, one module each."""
