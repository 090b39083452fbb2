"""The parts of Amazon's page of results, one module each."""
