"""Credits: the ledger, its writer in a process of its own, its audit and history."""
